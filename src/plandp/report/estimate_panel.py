"""The estimates and how sure they are: one line each where they are few, a band where they are many."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp.report.lettering import (
    TEXT_SIZE,
    TITLE_SIZE,
    Lettering,
    drawable,
    drawable_on_log,
    number_log_axis,
    with_noise,
)
from plandp.terms.columns import FloatArray
from plandp.terms.release import MeanRelease
from plandp.terms.shown import interval_name, is_moved, shown_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 40
LARGEST = 20  # of more items than that, so many are named
MOST_BINS = 500
_CONFIDENCE = 0.95
_CROWDED = 100.0  # the largest over the median size from which a linear axis shows half of the columns as one line
_MOST_DECADES = 12
_MOST_POWERS = 8
_ALIKE = 1.5  # a logarithmic axis would show how alike half widths differ in their last digits


@dataclass(frozen=True, kw_only=True, eq=False)
class Surroundings:
    """How far around the estimates something reaches, and what it is called."""

    low: FloatArray
    high: FloatArray
    name: str
    beside: str


def surroundings(release: MeanRelease) -> Surroundings:
    """The expected error of refined estimates, else the interval of the noise."""
    if release.error_std is not None and is_moved(release):
        with np.errstate(all="ignore"):
            low, high = release.estimate - release.error_std, release.estimate + release.error_std
        name = "± expected error (root mean square)"
        return Surroundings(low=low, high=high, name=name, beside="estimate ± expected error")
    interval = release.interval(_CONFIDENCE)
    return Surroundings(low=interval.low, high=interval.high, name=interval_name(release), beside="estimate ± 95%")


def draw_named(ax: "Axes", release: MeanRelease, count: int, lettering: Lettering, truth: FloatArray | None) -> None:
    """Draw so many columns on a line each, with their names to the left and their numbers to the right."""
    around, columns = surroundings(release), shown_columns(release, count)
    estimate, low, high = (drawable(values[columns]) for values in (release.estimate, around.low, around.high))
    place = np.arange(len(columns))
    scale_axis(ax, "x", estimate, low, high)
    if release.kind != "real" and ax.get_xscale() == "linear":
        # Shares and counts are compared by their length, from nothing on.
        ax.hlines(place, 0.0, estimate, color="0.8", linewidth=1.5, zorder=1)
        ax.axvline(0.0, color="0.8", linewidth=0.8)
    ax.hlines(place, low, high, color=SKY, linewidth=5, label=around.name)
    ax.plot(estimate, place, "o", color=BLUE, markersize=4, label="estimate")
    if truth is not None:
        ax.plot(drawable(truth)[columns], place, "x", color=VERMILLION, markersize=6, zorder=3, label="truth")
    # Names are plain text: a dollar sign in one is not mathematics.
    names = [lettering.name(release.labels[column]) for column in columns]
    ax.set_yticks(place, names, parse_math=False, fontfamily=lettering.families)
    _write_beside(ax, (1, 1), "axes fraction", around.beside, va="bottom")
    for line, (_, mean, uncertainty) in enumerate(release.first_rows(count)):
        _write_beside(ax, (1, line), ("axes fraction", "data"), with_noise(mean, uncertainty), va="center")
    ax.set_ylim(len(place) - 0.4, -0.6)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("mean", fontsize=TEXT_SIZE)
    write_title(ax, release, "Estimates" if count == release.receipt.d else f"The {count} largest estimates")


def draw_many(ax: "Axes", below: "Axes", release: MeanRelease, lettering: Lettering, truth: FloatArray | None) -> None:
    """Draw columns in the order of their estimates, in bins: a line, a band, and below it how wide the band is."""
    interval = release.interval(_CONFIDENCE)
    scale_axis(ax, "y", *map(drawable, (release.estimate, interval.low, interval.high)))
    order = np.argsort(release.estimate, kind="stable")
    starts = np.unique(np.linspace(0, len(order), min(len(order), MOST_BINS), endpoint=False).astype(np.intp))
    rank = np.arange(1.0, len(order) + 1)
    place = middles(rank, starts)
    low, high = drawable(interval.low)[order], drawable(interval.high)[order]
    ax.fill_between(
        place,
        np.fmin.reduceat(low, starts),
        np.fmax.reduceat(high, starts),
        color=SKY,
        alpha=0.6,
        linewidth=0,
        label=interval_name(release),
    )
    ax.plot(place, middles(drawable(release.estimate)[order], starts), color=BLUE, linewidth=1.5, label="estimate")
    if truth is not None:
        crosses = drawable(np.asarray(truth, dtype=np.float64))[order]
        ax.plot(rank, crosses, "x", color=VERMILLION, markersize=3, zorder=1.5, label="truth")
    ax.set_ylabel("mean", fontsize=TEXT_SIZE)
    ax.margins(x=0.01)
    ax.tick_params(labelbottom=False)
    write_title(ax, release, "Estimates")

    half_width = drawable((interval.high - interval.low) / 2)[order]
    shortest, longest = np.fmin.reduceat(half_width, starts), np.fmax.reduceat(half_width, starts)
    seen = half_width[drawable_on_log(half_width)]
    if len(seen) and seen.max() > _ALIKE * seen.min():
        below.set_yscale("log")
        number_log_axis(below.yaxis, seen)
    elif len(seen):
        below.set_ylim(0, 1.2 * float(seen.max()))
    below.vlines(place, shortest, longest, color=SKY, linewidth=1)
    below.plot(place, middles(half_width, starts), ".", color=BLUE, markersize=3)
    below.set_ylabel("half width", fontsize=TEXT_SIZE)
    first, last = (
        f"{lettering.name(release.labels[column])} (" + f"{release.estimate[column]:.4g}".replace("-", "−") + ")"
        for column in order[[0, -1]]
    )
    below.set_xlabel(
        f"columns in the order of their estimates, from {first} to {last}",
        fontsize=TEXT_SIZE,
        parse_math=False,
        fontfamily=lettering.families,
    )


def middles(values: FloatArray, starts: NDArray[np.intp]) -> FloatArray:
    """Return the value in the middle of each bin."""
    ends = np.append(starts[1:], len(values))
    return np.asarray(values[(starts + ends - 1) // 2], dtype=np.float64)


def _write_beside(ax: "Axes", place: tuple[float, float], coordinates: Any, text: str, *, va: str) -> None:
    ax.annotate(text, place, xycoords=coordinates, xytext=(8, 0), textcoords="offset points", va=va, fontsize=TEXT_SIZE)


def scale_axis(ax: "Axes", which: Literal["x", "y"], estimate: FloatArray, low: FloatArray, high: FloatArray) -> None:
    """Make the axis logarithmic where a linear one would push most columns into one place."""
    size = np.abs(estimate)
    size = size[size > 0]
    largest = float(size.max(initial=0.0))
    if len(size) < 2 or largest < _CROWDED * np.median(size):
        ax.ticklabel_format(axis=which, useOffset=False, style="plain" if 1e-4 < largest < 1e7 else "sci")
        return
    # Below the noise there is nothing to see: there the axis is linear, around zero.
    visible = np.fmax(np.abs(estimate), high - estimate)
    threshold = max(float(np.nanmin(visible)), largest / 10.0**_MOST_DECADES)
    set_scale, axis = (ax.set_xscale, ax.xaxis) if which == "x" else (ax.set_yscale, ax.yaxis)
    if np.all(low > 0):
        set_scale("log")
    else:
        set_scale("symlog", linthresh=threshold)
        axis.set_ticks(_signed_powers(threshold, estimate))
    axis.set_major_formatter("{x:g}")


def _signed_powers(threshold: float, estimate: FloatArray) -> list[float]:
    """Return zero and powers of ten on both sides, few enough to stand apart."""
    low, high = float(np.nanmin(estimate)), float(np.nanmax(estimate))
    first = math.ceil(math.log10(threshold))
    powers = {side: math.floor(math.log10(abs(side))) - first + 1 for side in (low, high) if abs(side) >= threshold}
    step = max(1, math.ceil(sum(powers.values()) / _MOST_POWERS))
    ticks = [0.0]
    for side, count in powers.items():
        # From the outer end inwards, so that the largest size is always named.
        ticks += [math.copysign(10.0 ** (first + power), side) for power in range(count - 1, -1, -step)]
    return sorted(ticks)


def write_title(ax: "Axes", release: MeanRelease, title: str) -> None:
    """Write the title with the size of the table, and the legend below it."""
    receipt = release.receipt
    ax.set_title(f"{title}, n = {receipt.n:,}, d = {receipt.d:,}", fontsize=TITLE_SIZE, loc="left", pad=22)
    # Between the title and the axes, where it hides neither.
    ax.legend(
        fontsize=TEXT_SIZE,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        borderaxespad=0.1,
        borderpad=0.1,
    )
