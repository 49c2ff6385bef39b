"""The error to expect of a release from sparse rows, from public numbers and assumed popularity alone."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.terms.sparse_design import SparseDesign
from plandp.theory.stretch import log_gaussian_norm

FloatArray = NDArray[np.float64]

LONG_ROWS = 2.0  # standard deviations of the squared norm: about where rows are clipped
FLOOR = 0.5  # of the noise of the first look, as in the algorithm
LEAST_ROWS = 20.0  # so many times the rows that a radius is told by must there be


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseExpected:
    """Standard deviations per column, in the units of the data: of the noise, and of the error after shrinking."""

    noise_std: FloatArray
    error_std: FloatArray


def expect_sparse(mean: FloatArray, second_moment: FloatArray, design: SparseDesign) -> SparseExpected:
    """The two looks at means of independent items, combined, and shrunk to no more than the means themselves."""
    n, u, p = design.n, design.columns.error_scale, design.error_norm
    s = u * (design.columns.high**2 / u**2) ** (1.0 / (p + 2.0))
    first = _radius(second_moment, s) * s / (math.sqrt(float(design.split.first_sum)) * n)
    floor = FLOOR * first * (first if not design.binary else 1.0)
    s = u * (np.maximum(second_moment, floor) / u**2) ** (1.0 / (p + 2.0))
    second = _radius(second_moment, s) * s / (math.sqrt(float(design.split.sum)) * n)
    noise_std = (first**-2.0 + second**-2.0) ** -0.5
    return SparseExpected(noise_std=noise_std, error_std=np.minimum(noise_std, mean / math.exp(log_gaussian_norm(p))))


def radius_is_told(design: SparseDesign) -> bool:
    """Whether the counts that find the radius have little noise beside all rows."""
    return design.n * math.sqrt(2.0 * float(design.split.radius)) >= LEAST_ROWS


def _radius(second_moment: FloatArray, stretch: FloatArray) -> float:
    squared_norm, variance = (second_moment / stretch**2).sum(), (second_moment / stretch**4).sum()
    return float(np.sqrt(squared_norm + LONG_ROWS * np.sqrt(variance)))
