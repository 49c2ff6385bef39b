"""The optimal stretch (Algorithm 1, line 5; Appendix C) and what the noise costs under it."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

Stretch = Callable[[FloatArray, float], FloatArray]
"""From released spreads and the error norm p to what a column is divided by before the noise."""


def optimal_stretch(spread: FloatArray, error_norm: float) -> FloatArray:
    """s = σ^(2/(p+2)): dividing by s before and multiplying after the noise minimises its p-th moment."""
    return np.asarray(spread ** (2.0 / (error_norm + 2.0)))


def mahalanobis_stretch(spread: FloatArray, error_norm: float) -> FloatArray:
    """s = σ, whatever the error norm: the noise then has the shape of the rows themselves."""
    return spread


def noise_error(noise_std: FloatArray, error_norm: float) -> float:
    """Predicted ℓp norm of independent Gaussian noise: (Σ E|noise_i|^p)^(1/p)."""
    return math.exp(log_gaussian_norm(error_norm)) * norm(noise_std, error_norm)


def norm(values: FloatArray, p: float) -> float:
    """(Σ value^p)^(1/p) of values ≥ 0, for any finite p ≥ 1: the powers themselves may be beyond float64."""
    largest = float(values.max())
    return largest * float(((values / largest) ** p).sum()) ** (1.0 / p) if largest > 0.0 else 0.0


def log_gaussian_norm(p: float) -> float:
    """ln (E|Z|^p)^(1/p) of a standard normal Z, for any finite p ≥ 1: the moments of a large p are beyond float64."""
    if p > 1e8:
        return 0.5 * (math.log(p) - 1.0)  # Stirling; the next term is ln(2)/(2p)
    return 0.5 * math.log(2.0) + (math.lgamma((p + 1.0) / 2.0) - 0.5 * math.log(math.pi)) / p


def effective_dimension(stretch: FloatArray, error_norm: float) -> float:
    """How many coordinates as noisy as the noisiest would give the same noise: (Σ(s/max s)^p)^(2/p)."""
    return float(((stretch / stretch.max()) ** error_norm).sum() ** (2.0 / error_norm))
