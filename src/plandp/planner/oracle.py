"""The error of an estimator that is told everything but the mean: what is left is the price of privacy itself."""

import math

import numpy as np
from numpy.typing import NDArray

from plandp.planner.sparse_prediction import shrunk_std, told_noise
from plandp.terms.columns import Columns
from plandp.theory.clipping import gaussian_radius
from plandp.theory.forecast import median_error
from plandp.theory.stretch import norm, optimal_stretch

FloatArray = NDArray[np.float64]


def oracle_noise(spread: FloatArray, *, n: int, rho: float, error_norm: float) -> FloatArray:
    """Noise per column if centre and spreads are known: √n Gaussian rows are clipped, and all of ρ is for the noise.

    Algorithm 1, lines 5–8, with k = √n: noise of 2C²/ρ for the sum, stretched as is best for the error norm.
    """
    s = optimal_stretch(spread, error_norm)
    C, _ = gaussian_radius(spread / s, 1.0 / math.sqrt(n))
    return np.asarray(C * math.sqrt(2.0 / rho) / n * s)


def oracle_item_error(popularity: FloatArray, *, n: int, columns: Columns, rho: float, error_norm: float) -> float:
    """The median error if the popularity of items and the radius are known, by the reckoning of `expect_sparse`."""
    u, p = columns.error_scale, error_norm
    noise = told_noise(popularity, n=n, columns=columns, rho=rho, error_norm=p)
    return min(median_error(shrunk_std(noise, popularity, p) / u, p), norm(popularity / u, p))
