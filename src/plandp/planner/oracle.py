"""The error of an estimator that is told everything but the mean: what is left is the price of privacy itself."""

import math

import numpy as np
from numpy.typing import NDArray

from plandp.theory.clipping import gaussian_radius
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]


def oracle_noise(spread: FloatArray, *, n: int, rho: float, error_norm: float) -> FloatArray:
    """Noise per column if centre and spreads are known: √n Gaussian rows are clipped, and all of ρ is for the noise.

    Algorithm 1, lines 5–8, with k = √n: noise of 2C²/ρ for the sum, stretched as is best for the error norm.
    """
    s = optimal_stretch(spread, error_norm)
    C, _ = gaussian_radius(spread / s, 1.0 / math.sqrt(n))
    return np.asarray(C * math.sqrt(2.0 / rho) / n * s)
