"""Public numbers of IOME (Huang, Liang and Yi 2021): where rotated rows lie, which rank its radius has, its error."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Columns
from plandp.terms.design import Design
from plandp.theory.box import box_spread
from plandp.theory.clipping import gaussian_radius
from plandp.theory.item_norms import exceeded_norm

FloatArray = NDArray[np.float64]
Reach = Callable[[Columns], float]  # how far from 0 the rotated medians are looked for, in units of error_scale

OUTSIDE = 2.0**-20  # chance, over the coins of the rotation, that any coordinate of a given vector lies further out
MOST_CLIPPED = 0.5  # of the rows: beyond, the offset would leave no rank to look for
NOISIEST_COUNT = 0.1  # of the rows: the noise of a count, beyond which medians are lost (paper, line 960)


def padded(d: int) -> int:
    """The number of rotated columns: the smallest power of two that is not below d."""
    return 1 << (d - 1).bit_length()


def rotated_reach(columns: Columns) -> float:
    """The public universe of every rotated coordinate, in units of error_scale: from minus this to this.

    A row of the box is at most as long as half its diagonal, √d·M, and so is every rotated coordinate.  Each is a sum
    with random signs, so that by Hoeffding, but for OUTSIDE, none exceeds √(2·ln(2D/OUTSIDE)/D) of that length.  What
    lies outside counts as the end: a matter of accuracy, not of privacy.
    """
    size = padded(columns.d)
    return _longest(columns) * min(1.0, math.sqrt(2.0 * math.log(2.0 * size / OUTSIDE) / size))


def published_reach(columns: Columns) -> float:
    """The universe of the published runs, M/√d: that of rows of norm M in all, √d below the longest row of the box."""
    return _longest(columns) / columns.d


def _longest(columns: Columns) -> float:
    """Half the diagonal of the box, √d·M where all columns have the bounds ±M."""
    return float(np.linalg.norm(box_spread(columns)))


def rows_beyond(design: Design, offset: float) -> float:
    """How many rows lie beyond the radius: `offset` times √(2d/ρ) + √(T/2ρ), which their code has once.

    So many rows of the length of the radius are as long as the noise of the sum, and so far are its counts off.
    """
    noise_of_sum = math.sqrt(2.0 * design.d / float(design.split.sum))
    noise_of_counts = math.sqrt(design.center_rounds / (2.0 * float(design.split.radius)))
    return min(offset * (noise_of_sum + noise_of_counts), MOST_CLIPPED * design.n)


def medians_are_told(design: Design) -> bool:
    """Whether counts in the random basis are finer than a tenth of the rows."""
    noise_std = math.sqrt(padded(design.d) * design.center_rounds / (2.0 * float(design.split.center)))
    return noise_std <= NOISIEST_COUNT * design.n


def beyond_is_told(design: Design, offset: float) -> bool:
    """Whether enough rows are left below the radius."""
    return rows_beyond(design, offset) < MOST_CLIPPED * design.n


def iome_noise(spread: FloatArray, design: Design, *, offset: float, reach: Reach) -> float:
    """The standard deviation of the noise in every column for Gaussian rows of these spreads, in units of error_scale.

    Centres are off by about the width of a cell of their search.
    """
    cell = 2.0 * reach(design.columns) / 2.0**design.center_rounds
    share = rows_beyond(design, offset) / design.n
    return _noise(gaussian_radius(np.hypot(spread, cell / math.sqrt(12.0)), share)[0], design)


def iome_item_noise(popularity: FloatArray, design: Design, *, offset: float) -> float:
    """The same for independent items of this popularity, around their mean: x is p² from it, or 1 - 2p more."""
    squared_unit = design.columns.error_scale**2
    empty = float((popularity**2 / squared_unit).sum())
    share = rows_beyond(design, offset) / design.n
    return _noise(exceeded_norm(popularity, (1.0 - 2.0 * popularity) / squared_unit, share, empty=empty), design)


def _noise(radius: float, design: Design) -> float:
    """Of rows clipped to the radius; none is below half a cell of its search."""
    finest = _longest(design.columns) / 2.0**design.center_rounds
    return max(radius, finest) * math.sqrt(2.0 / float(design.split.sum)) / design.n


def iome_warnings(design: Design, offset: float) -> Iterator[str]:
    """What public numbers say against a release.  Known before any row is read."""
    if not medians_are_told(design):
        yield (
            "too few rows to find the medians of the rotated columns at this rho: the estimate may be off by far more "
            "than the noise says; more rows, fewer columns or a larger rho help"
        )
    if not beyond_is_told(design, offset):
        yield (
            "too few rows to find the clipping radius at this rho: half of them were clipped; more rows, fewer columns "
            "or a larger rho help"
        )
