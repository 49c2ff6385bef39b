"""The optimal stretch (Algorithm 1, line 5; Appendix C) and what the noise costs under it."""

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def optimal_stretch(spread: FloatArray, error_norm: float) -> FloatArray:
    """s = σ^(2/(p+2)): dividing by s before and multiplying after the noise minimises its p-th moment."""
    return np.asarray(spread ** (2.0 / (error_norm + 2.0)))


def noise_error(noise_std: FloatArray, error_norm: float) -> float:
    """Predicted ℓp norm of independent Gaussian noise: (Σ E|noise_i|^p)^(1/p)."""
    largest = float(noise_std.max())
    alike = np.log(((noise_std / largest) ** error_norm).sum()) / error_norm
    return float(largest * np.exp(log_gaussian_norm(error_norm) + alike))


def log_gaussian_norm(p: float) -> float:
    """ln (E|Z|^p)^(1/p) of a standard normal Z, for any finite p ≥ 1: the moments of a large p are beyond float64."""
    if p > 1e8:
        return 0.5 * (math.log(p) - 1.0)  # Stirling; the next term is ln(2)/(2p)
    return 0.5 * math.log(2.0) + (math.lgamma((p + 1.0) / 2.0) - 0.5 * math.log(math.pi)) / p


def effective_dimension(stretch: FloatArray, error_norm: float) -> float:
    """How many coordinates as noisy as the noisiest would give the same noise: (Σ(s/max s)^p)^(2/p)."""
    return float(((stretch / stretch.max()) ** error_norm).sum() ** (2.0 / error_norm))
