"""The oracle: knows the spreads and the mean, clips √n rows, spends all of ρ on noise.  Not private, for scale only."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def oracle_mean(table: FloatArray, rho: float, error_norm: float, rng: Generator) -> FloatArray:
    """PLAN with everything known but the noise."""
    n = len(table)
    mean = table.mean(axis=0)
    spread = table.std(axis=0)
    stretch = np.maximum(spread, 1e-6 * spread.max()) ** (2 / (error_norm + 2))
    y = (table - mean) / stretch
    norm = np.sqrt((y * y).sum(axis=1))
    radius = np.sort(norm)[n - 1 - int(np.sqrt(n))]
    y *= np.minimum(1.0, radius / np.maximum(norm, 1e-300))[:, None]
    noise = rng.standard_normal(len(mean)) * radius * np.sqrt(2 / rho)
    return np.asarray(mean + (y.sum(axis=0) + noise) / n * stretch)
