"""Figures in the paper's layout: panels side by side, errors on a log axis, published medians as marks."""

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp_lab.reproduce.entrants import SPENDING_AS_THEY
from plandp_lab.reproduce.panels import Measured, Panel, TheirColumn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LineStyle = Literal["-", "--", ":", "-."]
GREEN, OLIVE, ORANGE, PURPLE, GREY = "#009E73", "#8A9A00", "#E69F00", "#CC79A7", "#777777"
COLOURS = {
    "plan": BLUE,
    "plan, not shrunk": SKY,
    "plan-classic": VERMILLION,
    SPENDING_AS_THEY: ORANGE,
    "iome": GREEN,
    "iome as published": OLIVE,
    "unscaled": SKY,
    "plan-classic, no scaling": PURPLE,
    "oracle": GREY,
    "sampling error": "black",
}
STYLES: tuple[LineStyle, ...] = ("-", "--", ":", "-.")  # by budget, the largest first
SIZES = (8.0, 6.0, 4.5, 3.5)  # of marks, likewise
MARKS = {"PLAN": ("D", VERMILLION), "IOME": ("s", GREEN), "PLAN-noscale": ("v", PURPLE)}
WIDTH, HEIGHT = 4.6, 4.4  # inches of a panel
LETTERS_A_LINE = 62
ROOM = 2.0  # above the largest of what does not break down; what is higher is marked at the edge


def draw_panels(measured: Sequence[Measured]) -> "Figure":
    """Draw on white, which is readable on light and dark pages alike."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6.0, WIDTH * len(measured)), HEIGHT + 0.9), layout="constrained", facecolor="white")
    axes = figure.subplots(1, len(measured), squeeze=False)[0]
    for ax, one in zip(axes, measured, strict=True):
        _draw(ax, one)
    _legend(figure, measured)
    return figure


def _draw(ax: "Axes", measured: Measured) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    panel = measured.panel
    top = _top(measured)
    for place, line in enumerate(panel.lines):
        for entrant in _drawn(panel):
            if entrant == "sampling error" and place > 0:
                continue  # the same for every budget
            _draw_line(ax, measured, line, entrant, STYLES[place % len(STYLES)], top)
        for column in measured.columns_of_theirs():
            _draw_marks(ax, measured, line, column, SIZES[place % len(SIZES)])
    ax.set_yscale("log")
    if panel.log_x:
        ax.set_xscale("log", base=2)
    places = sorted({point.x for point in panel.points})
    ax.set_xticks(places, [f"{x:g}" for x in places], fontsize=8)
    ax.minorticks_off()
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if top < inf:
        ax.set_ylim(top=top)
    ax.tick_params(axis="y", labelsize=8)
    ax.set_xlabel(panel.x_name, fontsize=9)
    ax.set_ylabel(f"{panel.norm} {measured.measure}", fontsize=9)
    ax.set_title(textwrap.fill(f"({panel.letter}) {panel.title}", LETTERS_A_LINE), fontsize=9, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#dddddd", linewidth=0.6)


def _draw_line(ax: "Axes", measured: Measured, line: str, entrant: str, style: LineStyle, top: float) -> None:
    found = [
        (point.x, quartiles)
        for point in measured.panel.points
        if point.line == line and (quartiles := measured.quartiles(point, entrant)) is not None
    ]
    if not found:
        return
    scale = entrant in ("oracle", "sampling error")
    colour = COLOURS[entrant]
    inside = [(x, q) for x, q in found if q.median <= top]
    ax.errorbar(
        [x for x, _ in inside],
        [q.median for _, q in inside],
        yerr=[[q.median - q.low for _, q in inside], [q.high - q.median for _, q in inside]],
        color=colour,
        linestyle=style,
        linewidth=0.9 if scale else 1.4,
        marker="" if scale else "o",
        markersize=3,
        elinewidth=0 if scale else 1,
        capsize=0 if scale else 2,
    )
    for x in (x for x, q in found if q.median > top):
        ax.plot([x], [top], marker="^", color=colour, markersize=7, clip_on=False, zorder=5)


def _draw_marks(ax: "Axes", measured: Measured, line: str, column: TheirColumn, size: float) -> None:
    found = [
        (point.x, median)
        for point in measured.panel.points
        if point.line == line and (median := column.of(measured.theirs(point, column.algorithm))) is not None
    ]
    if found:
        ax.plot([x for x, _ in found], [median for _, median in found], linestyle="", markersize=size, **_mark(column))


def _mark(column: TheirColumn) -> dict[str, Any]:
    """A shape for each algorithm; open as published, half filled if it is their code run again or from the text."""
    shape, colour = MARKS[column.algorithm]
    filling: dict[str, str] = {"fillstyle": "none" if column.source == "published" else "left"}
    return {"marker": shape, "color": colour, "markerfacecoloralt": "white", **filling}


def _drawn(panel: Panel) -> list[str]:
    """Who has a line; what spends more than the others is in the tables only."""
    return [entrant for entrant in panel.entrants if entrant in COLOURS and entrant != SPENDING_AS_THEY]


def _top(measured: Measured) -> float:
    """Where the axis ends: room above everything but what breaks down."""
    drawn = _drawn(measured.panel)
    breaking = {name for name in drawn if name.startswith("plan-classic")}
    if "iome as published" in drawn:
        breaking.add("iome")  # whose medians are lost where the others' are still found
    values = [
        median
        for point in measured.panel.points
        for entrant in drawn
        if entrant not in breaking and (median := measured.median(point, entrant)) is not None
    ]
    marks = [
        median
        for point in measured.panel.points
        for column in measured.columns_of_theirs()
        if (median := column.of(measured.theirs(point, column.algorithm))) is not None
    ]
    return ROOM * max(values, default=inf) if not marks else max(ROOM * max(values, default=inf), 1.2 * max(marks))


def _legend(figure: "Figure", measured: Sequence[Measured]) -> None:
    from matplotlib.lines import Line2D

    entrants = dict.fromkeys(name for one in measured for name in _drawn(one.panel) if _is_measured(one, name))
    lines = dict.fromkeys(line for one in measured for line in one.panel.lines if line)
    theirs = dict.fromkeys(replace(column, runs=None) for one in measured for column in one.columns_of_theirs())
    handles = [Line2D([], [], color=COLOURS[name], label=name) for name in entrants]
    handles += [Line2D([], [], linestyle="", label=column.name, **_mark(column)) for column in theirs]
    if len(lines) > 1:
        handles += [
            Line2D([], [], color="black", linestyle=STYLES[place % 4], label=line, marker="D" if theirs else "")
            for place, line in enumerate(lines)
        ]
        for place, handle in enumerate(handles[-len(lines) :]):
            handle.set(markersize=SIZES[place % 4], markerfacecolor="none")
    if any(_is_above(one) for one in measured):
        handles.append(Line2D([], [], color=GREY, marker="^", linestyle="", label="above the axis"))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(6, 3 * len(measured)), fontsize=8, frameon=False
    )


def _is_measured(measured: Measured, entrant: str) -> bool:
    return any(measured.median(point, entrant) is not None for point in measured.panel.points)


def _is_above(measured: Measured) -> bool:
    top = _top(measured)
    medians = (measured.median(point, name) for point in measured.panel.points for name in _drawn(measured.panel))
    return any(median is not None and median > top for median in medians)
