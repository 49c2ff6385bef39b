"""What a reader sees of a release first: which columns, how uncertain each is, and what refinement did to them."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import FloatArray

if TYPE_CHECKING:
    from plandp.terms.release import MeanRelease

MOVING = ("shrink", "clamp")
"""Refinements that move an estimate away from what the intervals of its noise are about."""


def is_moved(release: "MeanRelease") -> bool:
    """Whether the noise and its intervals are about `unrefined`, and `error_std` is what the estimate is off by."""
    return release.error_std is not None and any(name in release.refined for name in MOVING)


def column_name(release: "MeanRelease") -> str:
    """Return what a coordinate is called: a column of a table, or an item."""
    return "column" if release.kind == "real" else "item"


def uncertainty_name(release: "MeanRelease") -> str:
    """Return what stands beside the estimates: the expected error of refined ones, else half of the interval."""
    if is_moved(release):
        return "expected error"
    return "± 95% noise" if release.error_std is None else "± 95%"


def interval_name(release: "MeanRelease") -> str:
    """Return what a 95% interval of this release is called in pictures."""
    return "95% interval of the noise" if release.error_std is None else "95% interval"


def interval_covers(release: "MeanRelease") -> str:
    """Return what an interval of this release covers: of sparse kinds clipping too, as far as released numbers tell."""
    if release.error_std is None:
        return "the noise only; not clipping bias, missing values or sampling error"
    return "the noise, and clipping as far as released sums tell; not sampling error"


def refinement_line(release: "MeanRelease") -> str:
    """Return which refinements were made and what the numbers are about; empty where that goes without saying."""
    if not is_moved(release):
        return ""
    return (
        f"refined by {', '.join(release.refined)}: expected errors are root mean squares, clipping bias roughly "
        "included; noise_std and intervals are about `unrefined`"
    )


def shown_columns(release: "MeanRelease", most: int) -> NDArray[np.intp]:
    """Return the positions of at most so many columns: all in their order, or the first; of items the largest."""
    d = release.receipt.d
    if release.kind == "real" or d <= most:
        return np.arange(min(d, most))
    return by_size(release.estimate)[:most]


def by_size(values: FloatArray) -> NDArray[np.intp]:
    """Return all positions, those of the largest values first, and of equal ones the first."""
    return np.argsort(-values, kind="stable")


def hidden_columns(release: "MeanRelease", shown: int) -> str:
    """Return the line below a table that does not show all columns."""
    hidden = release.receipt.d - shown
    if hidden <= 0:
        return ""
    return f"… and {hidden} more" + ("" if release.kind == "real" else ", none larger")
