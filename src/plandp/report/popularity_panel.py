"""The means of many items by rank, and how sure they are: from the most popular to the long tail."""

from typing import TYPE_CHECKING

import numpy as np

from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp.report.estimate_panel import MOST_BINS, middles, scale_axis, surroundings
from plandp.report.lettering import TEXT_SIZE, TITLE_SIZE, drawable
from plandp.terms.columns import FloatArray
from plandp.terms.release import MeanRelease
from plandp.terms.shown import by_size, interval_name, is_moved

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_by_rank(ax: "Axes", release: MeanRelease, truth: FloatArray | None) -> None:
    """Draw all means in the order of their size, both axes logarithmic, and beside them how far off they may be."""
    around = surroundings(release)
    order = by_size(release.estimate)
    d = len(order)
    estimate, low, high = (drawable(values)[order] for values in (release.estimate, around.low, around.high))
    starts = np.unique(np.geomspace(1, d + 1, MOST_BINS, endpoint=False).astype(np.intp)) - 1
    rank = np.arange(1.0, d + 1)
    ax.set_xscale("log")
    scale_axis(ax, "y", estimate, np.minimum(low, 0.0), high)
    place, reach = middles(rank, starts), high - estimate
    if truth is not None:
        ax.plot(rank, drawable(truth)[order], ".", color=VERMILLION, markersize=2, label="truth", rasterized=True)
    ax.fill_between(
        place, np.fmin.reduceat(reach, starts), np.fmax.reduceat(reach, starts), color=SKY, alpha=0.6, linewidth=0
    )
    name = "expected error (root mean square)" if is_moved(release) else f"half of the {interval_name(release)}"
    ax.plot(place, middles(reach, starts), "--", color=VERMILLION, linewidth=1.5, label=name)
    ax.plot(place, middles(estimate, starts), color=BLUE, linewidth=2, label="estimate")
    ax.set_ylabel("mean", fontsize=TEXT_SIZE)
    ax.set_xlabel("rank of the estimate", fontsize=TEXT_SIZE)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.margins(x=0.01)
    ax.set_title(f"All {d:,} estimates by rank", fontsize=TITLE_SIZE, loc="left")
    ax.legend(fontsize=TEXT_SIZE, frameon=False, loc="best")
