"""A comparison as a picture: one bar per estimator, and lines for the oracle and the sampling error."""

from typing import TYPE_CHECKING

import numpy as np

from plandp.errors import MissingExtra
from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp.report.lettering import TEXT_SIZE, TITLE_SIZE, drawable_on_log, number_log_axis, plain_number
from plandp.terms.comparison import Comparison, Contender

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY = "#666666"
_BAR = 0.38  # of the room of an estimator, for one of two bars


def draw_comparison(comparison: Comparison) -> "Figure":
    """Return a figure of predicted and, where there are any, measured errors on a logarithmic axis."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing a comparison") from None
    found = comparison.contenders
    height = 1.9 + 0.42 * len(found)
    figure = Figure(figsize=(8, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    ax = figure.subplots()
    ax.set_xscale("log")
    _set_width(ax, comparison)
    half = _BAR / 2 if comparison.runs else 0.0
    for place, contender in enumerate(found):
        _draw_bar(ax, place - half, contender.predicted_error, contender, "predicted")
        if comparison.runs:
            _draw_bar(ax, place + half, contender.measured_error, contender, "measured")
    ax.axvline(comparison.oracle_error, color=VERMILLION, linestyle="--", linewidth=1.5, label="oracle (not private)")
    ax.axvline(
        comparison.sampling_error,
        color=_GREY,
        linestyle=":",
        linewidth=1.5,
        label="sampling of the rows",
    )
    ax.set_yticks(range(len(found)), [contender.method for contender in found], fontsize=TEXT_SIZE)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=TEXT_SIZE)
    ax.set_xlabel(f"ℓ{comparison.error_norm:g} error, median", fontsize=TEXT_SIZE)
    title = f"n = {comparison.n:,}, d = {comparison.d:,}, ρ = {float(comparison.rho):.4g}"
    ax.set_title(f"{comparison.recommended} is recommended; {title}", fontsize=TITLE_SIZE, loc="left")
    named = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named, loc="outside lower center", ncols=2, fontsize=TEXT_SIZE, frameon=False)
    # The layout creeps a little with every drawing: settle it now, so that every saved copy is the same.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _draw_bar(ax: "Axes", place: float, error: float | None, contender: Contender, kind: str) -> None:
    """One bar and its number; hatched where the prediction holds only if all goes well."""
    from matplotlib.patheffects import withStroke

    if error is None or not drawable_on_log(np.array([error]))[0]:
        return
    measured, doubt = kind == "measured", not contender.feasible and kind == "predicted"
    ax.barh(
        [place],
        [error],
        height=_BAR if not measured else _BAR * 0.9,
        color="white" if doubt else BLUE if measured else SKY,
        edgecolor=BLUE,
        hatch="///" if doubt else None,
        label="predicted, but in doubt" if doubt else kind,
    )
    ax.annotate(
        plain_number(error),
        (error, place),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize=TEXT_SIZE,
        path_effects=[withStroke(linewidth=3, foreground="white")],  # readable where a line passes
    )


def _set_width(ax: "Axes", comparison: Comparison) -> None:
    """Show all errors and both lines, with room for the numbers."""
    errors = [comparison.oracle_error, comparison.sampling_error]
    for contender in comparison.contenders:
        errors += [error for error in (contender.predicted_error, contender.measured_error) if error is not None]
    shown = np.array(errors)
    shown = shown[drawable_on_log(shown)]
    if len(shown):
        least, most = float(shown.min()) / 2.0, float(shown.max()) * 2.0
        ax.set_xlim(least, most)
        number_log_axis(ax.xaxis, np.array([least, most]))
