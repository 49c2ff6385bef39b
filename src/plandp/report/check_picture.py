"""A check as a picture: the predicted error against ρ and against n."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plandp.errors import MissingExtra
from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp.report.lettering import TEXT_SIZE, TITLE_SIZE, drawable_on_log, number_log_axis, plain_number
from plandp.terms.check import Check, Point
from plandp.terms.columns import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY = "#666666"
NEAR_AXIS = 5.0  # times the first value: not enough room for a number on the left


def draw_check(check: Check) -> "Figure":
    """Return a figure of public numbers only: nothing in it has seen data."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing a check") from None
    figure = Figure(figsize=(9, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    left, right = figure.subplots(1, 2, sharey=True)
    rho, n = float(check.rho), float(check.n)
    _draw_curve(left, check, check.by_rho, lambda point: point.rho, rho, check.smallest_rho)
    _draw_curve(right, check, check.by_n, lambda point: float(point.n), n, check.smallest_n)
    _set_heights(left, check)
    left.set_title(f"Error against ρ, n = {check.n:,}", fontsize=TITLE_SIZE, loc="left")
    right.set_title(f"Error against n, ρ = {rho:.4g}", fontsize=TITLE_SIZE, loc="left")
    left.set_xlabel("ρ", fontsize=TEXT_SIZE)
    right.set_xlabel("n, rows", fontsize=TEXT_SIZE)
    left.set_ylabel(f"predicted ℓ{check.error_norm:g} error", fontsize=TEXT_SIZE)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=TEXT_SIZE)
    named = {name: handle for ax in (left, right) for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        named.values(), named, loc="outside lower center", ncols=len(named), fontsize=TEXT_SIZE, frameon=False
    )
    # The layout creeps a little with every drawing: settle it now, so that every saved copy is the same.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _draw_curve(
    ax: "Axes",
    check: Check,
    points: Sequence[Point],
    place: Callable[[Point], float],
    here: float,
    smallest: float | None,
) -> None:
    from matplotlib.patheffects import withStroke

    x = np.array([place(point) for point in points])
    error = np.array([point.error for point in points])
    gaussian = np.array([point.gaussian_error for point in points])
    sampling = check.sampling_error * np.sqrt(check.n / np.array([point.n for point in points]))
    ax.set_xscale("log")
    ax.set_yscale("log")
    _shade_not_feasible(ax, x, smallest)
    ax.plot(x, sampling, ":", color=_GREY, linewidth=1.5, label="sampling of the rows")
    if check.method != "gaussian":
        # above the other line: where both are equal, dashes on it show both
        ax.plot(x, gaussian, "--", color=VERMILLION, linewidth=1.5, zorder=3, label="Gaussian mechanism")
    ax.plot(x, error, color=BLUE, linewidth=2.5, label=check.method)
    ax.plot([here], [check.error], "o", color=BLUE, markersize=9, markeredgecolor="white", zorder=4, label="as asked")
    # below the falling curve, or above it where the axis is near; a white rim keeps it readable where a line passes
    first = here < NEAR_AXIS * x[0]
    ax.annotate(
        plain_number(check.error),
        (here, check.error),
        (6, 6) if first else (-6, -6),
        textcoords="offset points",
        ha="left" if first else "right",
        va="bottom" if first else "top",
        fontsize=TITLE_SIZE,
        color=BLUE,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )
    number_log_axis(ax.xaxis, x)


def _set_heights(ax: "Axes", check: Check) -> None:
    """Show all errors of both panels."""
    points = (*check.by_rho, *check.by_n)
    error = np.array([point.error for point in points])
    gaussian = np.array([point.gaussian_error for point in points])
    shown = np.concatenate([error, gaussian])
    shown = shown[drawable_on_log(shown)]
    if len(shown):
        least, most = float(shown.min()) / 1.5, float(shown.max()) * 1.5
        ax.set_ylim(least, most)
        number_log_axis(ax.yaxis, np.array([least, most]))


def _shade_not_feasible(ax: "Axes", x: FloatArray, smallest: float | None) -> None:
    """Shade where centres or spreads would not be found; hatched, so that print without colour shows it too."""
    first, last = float(x[0]), float(x[-1])
    border = last if smallest is None else min(smallest, last)
    if border > first:
        ax.axvspan(first, border, facecolor=SKY, alpha=0.18, hatch="///", edgecolor=SKY, label="not feasible")
