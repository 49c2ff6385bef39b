"""A release as a picture: the estimates, where the budget went, and how large the noise is."""

import io
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from plandp.errors import ArgumentError, MissingExtra
from plandp.report.colours import BLUE, VERMILLION
from plandp.report.estimate_panel import LARGEST, MOST_NAMED, draw_many, draw_named
from plandp.report.lettering import TEXT_SIZE, TITLE_SIZE, Lettering, lettering_for
from plandp.report.noise_panel import draw_noise
from plandp.report.popularity_panel import draw_by_rank
from plandp.terms.columns import FloatArray
from plandp.terms.receipt import INSECURE_NOTICE, Receipt
from plandp.terms.release import MeanRelease
from plandp.terms.shown import shown_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# inches
_WIDTH, _BOTTOM, _MANY, _CURVE, _LINE, _WARNING_LINE = 9.0, 2.5, 4.2, 2.8, 0.2, 0.15
_LETTERS_A_LINE = 130
_LEAST_BARS = 3


def draw_release(release: MeanRelease, *, truth: FloatArray | None = None) -> "Figure":
    """Return a figure of released numbers only; `truth` adds a mean that may be shown, as in a demo."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing a release") from None
    if truth is not None and np.shape(truth) != release.estimate.shape:
        raise ArgumentError("truth", "must hold one number per column")
    d = release.receipt.d
    named = d if d <= MOST_NAMED else 0 if release.kind == "real" else LARGEST
    written = (*shown_columns(release, named), *np.argsort(release.estimate, kind="stable")[[0, -1]])
    lettering = lettering_for([*(str(release.labels[column]) for column in written), *release.warnings])
    top = (1.0 + _LINE * max(named, 5) if named else _MANY) + (_CURVE if 0 < named < d else 0.0)
    warnings = _warning_lines(release, lettering)
    height = top + _BOTTOM + _WARNING_LINE * len(warnings)
    figure = Figure(figsize=(_WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    # Grids of their own: long names above must not squeeze what is below.
    grid = figure.add_gridspec(2, 1, height_ratios=[top, _BOTTOM])
    if named == d:
        draw_named(figure.add_subplot(grid[0]), release, named, lettering, truth)
    elif named:
        parts = grid[0].subgridspec(2, 1, height_ratios=[top - _CURVE, _CURVE])
        draw_named(figure.add_subplot(parts[0]), release, named, lettering, truth)
        draw_by_rank(figure.add_subplot(parts[1]), release, truth)
    else:
        bands = grid[0].subgridspec(2, 1, height_ratios=[2, 1])
        ax = figure.add_subplot(bands[0])
        draw_many(ax, figure.add_subplot(bands[1], sharex=ax), release, lettering, truth)
    pair = grid[1].subgridspec(1, 2)
    _draw_budget(figure.add_subplot(pair[0]), release.receipt)
    draw_noise(figure.add_subplot(pair[1]), release)
    for ax in figure.axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=TEXT_SIZE)
    if release.receipt.insecure:
        figure.suptitle(INSECURE_NOTICE, color=VERMILLION, fontsize=TITLE_SIZE)
    if warnings:
        # Whoever gets only the picture must not miss them.
        figure.supxlabel(
            "\n".join(warnings),
            x=0.01,
            ha="left",
            fontsize=TEXT_SIZE - 1,
            color=VERMILLION,
            parse_math=False,
            fontfamily=lettering.families,
        )
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


def _draw_budget(ax: "Axes", receipt: Receipt) -> None:
    steps = receipt.steps()
    shares = [100 * receipt.share(step) for step in steps]
    bars = ax.barh([step.step for step in steps], shares, color=BLUE, height=0.6)
    ax.bar_label(bars, [_percent(share) for share in shares], padding=4, fontsize=TEXT_SIZE)
    # One bar must not fill the panel.
    room = max(0, _LEAST_BARS - len(steps)) / 2
    ax.set_ylim(len(steps) - 0.4 + room, -0.6 - room)
    ax.set_xlim(0, 118)
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.set_xlabel("share of ρ, in percent", fontsize=TEXT_SIZE)
    ax.set_title(f"Where the budget went, ρ = {float(receipt.rho):.4g}", fontsize=TITLE_SIZE, loc="left")


def _percent(share: float) -> str:
    return "< 0.1%" if 0 < share < 0.05 else f"{share:.1f}%"


def _warning_lines(release: MeanRelease, lettering: Lettering) -> list[str]:
    return [
        line
        for warning in release.warnings
        for line in textwrap.wrap(f"Warning: {lettering.sentence(warning)}", _LETTERS_A_LINE)
    ]
