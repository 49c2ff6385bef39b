"""The budget of a dataset as a picture: what was spent when, of how much, and what became of it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from plandp.errors import MissingExtra
from plandp.ledger.status import DatasetStatus
from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp.report.lettering import TEXT_SIZE, TITLE_SIZE, lettering_for
from plandp.terms.text_table import show_fraction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY = "#666666"
_FEW = 40
_LEAST_TIME = timedelta(minutes=5)  # or the axis would be numbered in seconds, of which nothing is known

# Told apart by shape, not by colour alone: a full dot, an open one, a cross, and a bar on the axis.
_MARKS = {
    "committed": ("o", BLUE, BLUE, "released"),
    "running": ("o", "white", BLUE, "running"),
    "interrupted": ("X", VERMILLION, VERMILLION, "interrupted: spent, no release"),
    "cancelled": ("|", _GREY, _GREY, "cancelled: nothing spent"),
}


def draw_budget(status: DatasetStatus) -> "Figure":
    """Return a figure of what the ledger says of one dataset; nothing in it has seen data."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing a budget") from None
    lettering = lettering_for([status.dataset])
    figure = Figure(figsize=(9, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    ax = figure.subplots()
    times = [one.time for one in status.reservations]
    _draw_steps(ax, status, times)
    _draw_total(ax, status)
    ax.set_title(
        f"Budget of {lettering.name(status.dataset)}: ρ = {show_fraction(status.spent)} of "
        f"{show_fraction(status.total)} spent, {show_fraction(status.left)} left",
        fontsize=TITLE_SIZE,
        loc="left",
        parse_math=False,
        fontfamily=lettering.families,
    )
    ax.set_ylabel("ρ spent", fontsize=TEXT_SIZE)
    _set_dates(ax, status, times)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=TEXT_SIZE)
    ax.xaxis.get_offset_text().set_fontsize(TEXT_SIZE)
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), fontsize=TEXT_SIZE, frameon=False)
    # The layout creeps a little with every drawing: settle it now, so that every saved copy is the same.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _draw_steps(ax: "Axes", status: DatasetStatus, times: list[datetime]) -> None:
    spent, heights = 0.0, []
    for one in status.reservations:
        spent += 0.0 if one.state == "cancelled" else float(one.rho)
        heights.append(spent)
    x, y = _days([status.time, *times]), [0.0, *heights]
    ax.plot(x, y, drawstyle="steps-post", color=BLUE, linewidth=2)
    ax.fill_between(x, y, step="post", color=SKY, alpha=0.25, linewidth=0)
    few = len(times) <= _FEW
    for state, (mark, face, edge, name) in _MARKS.items():
        found = [place for place, one in enumerate(status.reservations) if one.state == state]
        if found:
            ax.plot(
                _days([times[place] for place in found]),
                [0.0 if state == "cancelled" else heights[place] for place in found],
                mark,
                markerfacecolor=face,
                markeredgecolor=edge,
                markeredgewidth=1.5,
                # among many dots a cross must still be seen as one
                markersize=8 if few else 3 if mark == "o" else 7,
                zorder=4 if mark == "o" else 5,
                clip_on=False,
                label=f"{name} ({len(found)})",
            )


def _draw_total(ax: "Axes", status: DatasetStatus) -> None:
    total, name = float(status.total), f"total, ρ = {show_fraction(status.total)}"
    ax.axhline(total, linestyle="--", color=VERMILLION, linewidth=1.5, label=name)
    ax.set_ylim(0, 1.08 * total)


def _set_dates(ax: "Axes", status: DatasetStatus, times: list[datetime]) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    end = max([status.time, *times])
    # No later than what is known; a dataset of one minute is shown with some of the time before it.
    first, last = _days([end - max((end - status.time) * 1.02, _LEAST_TIME), end])
    ax.set_xlim(first, last)
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    ax.set_xlabel("time, UTC", fontsize=TEXT_SIZE)


def _days(times: list[datetime]) -> list[float]:
    """Return times as matplotlib counts them."""
    from matplotlib.dates import date2num

    return [float(date2num(time)) for time in times]  # type: ignore[no-untyped-call]
