"""How large the noise is: against the released spreads, or beside the bounds where no spread was released."""

from typing import TYPE_CHECKING

import numpy as np

from plandp.report.colours import BLUE, VERMILLION
from plandp.report.lettering import TEXT_SIZE, TITLE_SIZE, drawable_on_log, number_log_axis
from plandp.terms.columns import FloatArray
from plandp.terms.release import MeanRelease
from plandp.terms.shown import is_moved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 40
_ALIKE = 1.1  # sizes nearer to each other would make an axis of their last digits
_MOST_VECTOR_DOTS = 2000


def draw_noise(ax: "Axes", release: MeanRelease) -> None:
    """Draw the noise of each column against its spread, or the range of the noise beside that of the bounds."""
    if release.spread is None:
        _beside_bounds(ax, release)
    else:
        _against_spread(ax, release, release.spread)


def _against_spread(ax: "Axes", release: MeanRelease, spread: FloatArray) -> None:
    with np.errstate(all="ignore"):
        x, y = spread / release.error_scale, release.noise_std / release.error_scale
    seen = drawable_on_log(x) & drawable_on_log(y)
    x, y = x[seen], y[seen]
    ax.set_xscale("log")
    ax.set_yscale("log")
    for values, set_limits in ((x, ax.set_xlim), (y, ax.set_ylim)):
        if len(values) and values.max() < _ALIKE * values.min():
            set_limits(values.min() / 2, values.max() * 2)
    ax.plot(
        x,
        y,
        "o",
        color=BLUE,
        markersize=6 if len(x) <= _FEW else 4,
        alpha=0.6,
        markeredgewidth=0,
        label="one column",
        rasterized=len(x) > _MOST_VECTOR_DOTS,  # or an SVG of many columns would be megabytes of circles
    )
    if len(x) and release.kind == "real":  # the noise of items is that of two looks, only one of them shaped
        # The total error is least when noise grows like spread^(2/(p+2)); the line is laid in the middle.
        slope = 2 / (release.error_norm + 2)
        middle = float(np.exp(np.median(np.log(y) - slope * np.log(x))))
        ends = np.array([x.min(), x.max()])
        name = f"least ℓ{release.error_norm:g} error: slope {slope:.2g}"
        ax.plot(ends, middle * ends**slope, "--", color=VERMILLION, linewidth=1.2, label=name)
    if len(x):
        number_log_axis(ax.xaxis, x)
        number_log_axis(ax.yaxis, y)
    ax.set_xlabel(f"released spread{_units(release)}", fontsize=TEXT_SIZE)
    ax.set_ylabel("noise std", fontsize=TEXT_SIZE)
    title = "Noise before refining, against spread" if is_moved(release) else "Noise against spread"
    ax.set_title(title, fontsize=TITLE_SIZE, loc="left")
    ax.legend(fontsize=TEXT_SIZE, frameon=False, loc="best")


def _beside_bounds(ax: "Axes", release: MeanRelease) -> None:
    interval = release.interval(0.95)
    low, high = np.array(release.receipt.bounds).T
    with np.errstate(all="ignore"):
        sizes = {
            "width of bounds": (high - low) / release.error_scale,
            "width of 95% interval": (interval.high - interval.low) / release.error_scale,
            "noise std": release.noise_std / release.error_scale,
        }
    ax.set_xscale("log")
    shown = []
    for line, values in enumerate(sizes.values()):
        seen = values[drawable_on_log(values)]
        if not len(seen):
            continue
        least, most = float(seen.min()), float(seen.max())
        ax.plot([least, most], [line, line], "-o", color=BLUE, markersize=6, linewidth=2)
        text = _size(least) if most <= 1.001 * least else f"{_size(least)} to {_size(most)}"
        ax.annotate(text, (most, line), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=TEXT_SIZE)
        shown += [least, most]
    if shown:
        number_log_axis(ax.xaxis, np.array(shown))
    ax.set_yticks(range(len(sizes)), list(sizes))
    ax.set_ylim(len(sizes) - 0.5, -0.7)
    ax.margins(x=0.2)
    over = "" if release.receipt.d == 1 else "; least and largest column"
    ax.set_xlabel(f"no spread was released{over}{_units(release)}", fontsize=TEXT_SIZE)
    ax.set_title("Noise beside the bounds", fontsize=TITLE_SIZE, loc="left")


def _size(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e7 else f"{value:.3g}"


def _units(release: MeanRelease) -> str:
    return "" if np.all(release.error_scale == 1) else ", in units of error_scale"
