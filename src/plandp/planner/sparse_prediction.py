"""The error to expect of a release from sparse rows, from public numbers and assumed popularity alone."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Columns
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
    n, p, columns = design.n, design.error_norm, design.columns
    first = _look(second_moment, columns.high**2, n=n, columns=columns, rho=float(design.split.first_sum), p=p)
    floor = FLOOR * first * (first if not design.binary else 1.0)
    shape = np.maximum(second_moment, floor)
    second = _look(second_moment, shape, n=n, columns=columns, rho=float(design.split.sum), p=p)
    noise_std = (first**-2.0 + second**-2.0) ** -0.5
    return SparseExpected(noise_std=noise_std, error_std=shrunk_std(noise_std, mean, p))


def told_noise(second_moment: FloatArray, *, n: int, columns: Columns, rho: float, error_norm: float) -> FloatArray:
    """The noise of one look that is told the second moments, with all of ρ."""
    return _look(second_moment, second_moment, n=n, columns=columns, rho=rho, p=error_norm)


def shrunk_std(noise_std: FloatArray, mean: FloatArray, error_norm: float) -> FloatArray:
    """An item that the noise hides errs by its own mean, not by the noise."""
    return np.minimum(noise_std, mean / math.exp(log_gaussian_norm(error_norm)))


def _look(
    second_moment: FloatArray, shape: FloatArray, *, n: int, columns: Columns, rho: float, p: float
) -> FloatArray:
    """Rows without a negative entry are √2·C apart at most; the stretch is made for second moments of this shape."""
    u = columns.error_scale
    s = u * (shape / u**2) ** (1.0 / (p + 2.0))
    return _radius(second_moment, s) * s / (math.sqrt(rho) * n)


def radius_is_told(design: SparseDesign) -> bool:
    """Whether the counts that find the radius have little noise beside all rows."""
    return design.n * math.sqrt(2.0 * float(design.split.radius)) >= LEAST_ROWS


def _radius(second_moment: FloatArray, stretch: FloatArray) -> float:
    squared_norm, variance = (second_moment / stretch**2).sum(), (second_moment / stretch**4).sum()
    return float(np.sqrt(squared_norm + LONG_ROWS * np.sqrt(variance)))
