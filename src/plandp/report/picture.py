"""A release as a picture: the estimates, where the budget went, and noise against spread."""

import io
from typing import TYPE_CHECKING

import numpy as np

from plandp.errors import ArgumentError, MissingExtra
from plandp.terms.columns import FloatArray
from plandp.terms.receipt import INSECURE_NOTICE, Receipt
from plandp.terms.release import MeanRelease
from plandp.terms.text_table import show_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart with any colour vision, and by lightness in grey print.
_BLUE, _SKY, _VERMILLION = "#0072B2", "#56B4E9", "#D55E00"
_MOST_DOTS = 40
_MOST_RANKS = 1000
_MOST_LETTERS = 100  # of column names side by side
_SHORT_AXIS = 2.0  # decades
_TOO_LARGE = 1e150
_LABEL_SIZE, _TITLE_SIZE = 9, 11


def draw_release(release: MeanRelease, *, truth: FloatArray | None = None) -> "Figure":
    """Return a figure of released numbers only; `truth` adds a mean that may be shown, as in a demo."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing a release") from None
    if truth is not None and np.shape(truth) != release.estimate.shape:
        raise ArgumentError("truth", "must hold one number per column")
    figure = Figure(figsize=(9, 6.4), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.12))
    grid = figure.add_gridspec(2, 2, height_ratios=[1.25, 1])
    _draw_estimates(figure.add_subplot(grid[0, :]), release, truth)
    if release.spread is None:
        _draw_budget(figure.add_subplot(grid[1, :]), release.receipt)
    else:
        _draw_budget(figure.add_subplot(grid[1, 0]), release.receipt)
        _draw_noise(figure.add_subplot(grid[1, 1]), release, release.spread)
    for ax in figure.axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=_LABEL_SIZE)
    if release.receipt.insecure:
        figure.suptitle(INSECURE_NOTICE, color=_VERMILLION, fontsize=_TITLE_SIZE)
    # The layout creeps a little with every drawing: settle it now, so that every saved copy is the same.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def svg_text(figure: "Figure") -> str:
    """Return the figure as SVG, the same bytes for the same figure on every run."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "plandp"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _draw_estimates(ax: "Axes", release: MeanRelease, truth: FloatArray | None) -> None:
    interval = release.interval(0.95)
    estimate, low, high = (_drawable(values) for values in (release.estimate, interval.low, interval.high))
    d = release.receipt.d
    noise = "95% interval of the noise"
    if d <= _MOST_DOTS:
        order = np.arange(d, dtype=np.intp)
        place = np.arange(1.0, d + 1)
        ax.vlines(place, low, high, color=_BLUE, linewidth=3, alpha=0.45, label=noise)
        ax.plot(place, estimate, "o", color=_BLUE, markersize=5, label="estimate")
        _name_columns(ax, place, [show_label(label, longest=18) for label in release.labels])
        ax.margins(x=0.03)
    else:
        ranks = np.unique(np.linspace(0, d - 1, min(d, _MOST_RANKS)).astype(np.intp))
        order = np.argsort(release.estimate, kind="stable")[ranks]
        place = ranks.astype(np.float64) + 1
        ax.fill_between(place, low[order], high[order], color=_SKY, alpha=0.5, linewidth=0, label=noise)
        ax.plot(place, estimate[order], color=_BLUE, linewidth=2, label="estimate")
        ax.set_xlabel("columns in the order of their estimates", fontsize=_LABEL_SIZE)
        ax.margins(x=0.01)
    if truth is not None:
        # Few crosses lie above the dots, many lie below the line.
        size, layer = (7, 3) if d <= _MOST_DOTS else (3, 1.5)
        crosses = _drawable(truth)[order]
        ax.plot(place, crosses, "x", color=_VERMILLION, markersize=size, zorder=layer, label="truth")
    ax.set_ylabel("mean", fontsize=_LABEL_SIZE)
    ax.set_title(f"Estimates, n = {release.receipt.n:,}, d = {d:,}", fontsize=_TITLE_SIZE, loc="left")
    ax.legend(fontsize=_LABEL_SIZE, frameon=False, loc="best")


def _name_columns(ax: "Axes", place: FloatArray, names: list[str]) -> None:
    # Names are plain text: a dollar sign in one is not mathematics.
    if len(names) * max(map(len, names), default=0) <= _MOST_LETTERS:
        ax.set_xticks(place, names, parse_math=False)
    else:
        ax.set_xticks(place, names, parse_math=False, rotation=45, ha="right", rotation_mode="anchor")


def _draw_budget(ax: "Axes", receipt: Receipt) -> None:
    steps = receipt.steps()
    shares = [100 * receipt.share(step) for step in steps]
    bars = ax.barh([step.step for step in steps], shares, color=_BLUE, height=0.6)
    ax.bar_label(bars, [f"{share:.1f}%" for share in shares], padding=4, fontsize=_LABEL_SIZE)
    ax.invert_yaxis()
    ax.set_xlim(0, 115)
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.set_xlabel("share of ρ, in percent", fontsize=_LABEL_SIZE)
    ax.set_title(f"Where the budget went, ρ = {float(receipt.rho):g}", fontsize=_TITLE_SIZE, loc="left")


def _draw_noise(ax: "Axes", release: MeanRelease, spread: FloatArray) -> None:
    with np.errstate(all="ignore"):
        x, y = spread / release.error_scale, release.noise_std / release.error_scale
    drawable = (np.minimum(x, y) > 1 / _TOO_LARGE) & (np.maximum(x, y) < _TOO_LARGE)
    x, y = x[drawable], y[drawable]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.plot(x, y, "o", color=_BLUE, markersize=4, alpha=0.5, markeredgewidth=0, label="one column")
    if len(x):
        # The total error is least when noise grows like spread^(2/(p+2)); the line is laid in the middle.
        slope = 2 / (release.error_norm + 2)
        middle = float(np.exp(np.median(np.log(y) - slope * np.log(x))))
        ends = np.array([x.min(), x.max()])
        name = f"least ℓ{release.error_norm:g} error: slope {slope:.2g}"
        ax.plot(ends, middle * ends**slope, "--", color=_VERMILLION, linewidth=1.5, label=name)
        _number_log_axis(ax.xaxis, x)
        _number_log_axis(ax.yaxis, y)
    units = "" if np.all(release.error_scale == 1) else ", in units of error_scale"
    ax.set_xlabel(f"released spread{units}", fontsize=_LABEL_SIZE)
    ax.set_ylabel(f"noise std{units}", fontsize=_LABEL_SIZE)
    ax.set_title("Noise against spread", fontsize=_TITLE_SIZE, loc="left")
    ax.legend(fontsize=_LABEL_SIZE, frameon=False, loc="best")


def _number_log_axis(axis: "Axis", values: FloatArray) -> None:
    """Put plain numbers at 1, 2, 5 where an axis is short, and at powers of ten where it is long."""
    from matplotlib.ticker import LogLocator, NullFormatter

    decades = float(np.log10(values.max() / values.min()))
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < _SHORT_AXIS else (1.0,), numticks=8))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _drawable(values: FloatArray) -> FloatArray:
    """Return the values with nan, which is simply not drawn, for what overflows while drawing."""
    return np.where(np.abs(values) < _TOO_LARGE, values, np.nan)
