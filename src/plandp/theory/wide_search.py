"""The search of a radius where no spread is known: how many rows its counts can tell, and what that costs.

A radius that too few rows exceed looks, through noisy counts, like any larger one.  So the last and finest count has
to tell the rows that are wanted above the radius from none, or more rows are wanted (decision 7).
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.terms.design import Design
from plandp.theory.clipping import MOST_CLIPPED, ONE_SIDED, one_sided_rows

FloatArray = NDArray[np.float64]

# each count gets this share of the budget of the radius: the first only have to find the order of magnitude
FAR_THEN_FINER = tuple(Fraction(share, 60) for share in (1, 1, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16))
TOLD = 1.75  # deviations of the noise of the last count: so many rows are told from none
MOST_TOLD = 0.2  # of the rows: where even these are not told from none, no radius is found
SHARE, SHARE_MOST = 0.03, 0.1  # of ρ


def wide_radius_share(*, n: int, d: int, rho: float) -> float:
    """The share of ρ with which the last count tells the rows to clip from none, at most SHARE_MOST."""
    wanted = min(ONE_SIDED * math.sqrt(2.0 * d / rho), MOST_CLIPPED * n)
    return min(max(TOLD**2 / (2.0 * rho * float(FAR_THEN_FINER[-1]) * wanted**2), SHARE), SHARE_MOST)


def wide_rows_to_clip(stretch: FloatArray, design: Design) -> float:
    """The number of rows to clip: those of `one_sided_rows`, or as many as can be told."""
    return max(one_sided_rows(stretch, design), min(told_rows(design), MOST_TOLD * design.n))


def radius_is_told(design: Design) -> bool:
    """Whether the counts can tell a radius at all.  Public: known before any row is read."""
    return told_rows(design) <= MOST_TOLD * design.n


def told_rows(design: Design) -> float:
    """The rows that the last count of the search tells from none."""
    return TOLD / math.sqrt(2.0 * float(design.split.radius * FAR_THEN_FINER[-1]))
