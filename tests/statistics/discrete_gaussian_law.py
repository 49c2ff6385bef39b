"""The exact law of the discrete Gaussian and tests against it: p-values and z-scores of a sample."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2

FEWEST_EXPECTED = 20


def small_law(sigma2: Fraction) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All integers within 12 sigma and their probabilities, summed in full: for sigma below a few hundred."""
    reach = math.ceil(12 * math.sqrt(sigma2)) + 2
    values = np.arange(-reach, reach + 1)
    weights = [math.exp(-Fraction(int(x) ** 2, 2) / sigma2) for x in values]
    return values, np.array(weights) / math.fsum(weights)


def small_chi2(draws: NDArray[np.int64], sigma2: Fraction) -> float:
    """p-value of the draws against every single integer, the rare ones pooled left and right."""
    values, probabilities = small_law(sigma2)
    seen = np.bincount(np.clip(draws, values[0], values[-1]) - values[0], minlength=values.size)
    return _pooled_chi2(seen, probabilities * draws.size)


def large_chi2(draws: NDArray[np.int64] | NDArray[np.object_], sigma2: Fraction, bins: int = 200) -> float:
    """p-value against equal bins within 4 sigma; the sum over a bin is the integral up to 1/(24 sigma²)."""
    sigma = math.sqrt(sigma2)
    limits = np.array([math.ceil(sigma * (8 * i / bins - 4)) - 0.5 for i in range(bins + 1)])
    cumulative = np.concatenate([[0.0], ndtr(limits / sigma), [1.0]])
    seen = np.bincount(np.searchsorted(limits, np.asarray(draws, dtype=np.float64)), minlength=bins + 2)
    return _pooled_chi2(seen, np.diff(cumulative) * draws.size)


def low_bits_chi2(draws: NDArray[np.int64] | NDArray[np.object_], bits: int = 6) -> float:
    """p-value of the lowest bits against uniform, which they are to 1e-9 for sigma >= 2^bits · 2."""
    lowest = (draws % (1 << bits)).astype(np.int64)
    return _pooled_chi2(np.bincount(lowest, minlength=1 << bits), np.full(1 << bits, draws.size / (1 << bits)))


def moment_z(draws: NDArray[np.int64] | NDArray[np.object_], sigma2: Fraction) -> dict[str, float]:
    """z-scores of mean, variance and fourth moment; for sigma >= 4 they are the Gaussian ones to 1e-30."""
    standard = np.array(draws, dtype=np.float64) / math.sqrt(sigma2)
    root = math.sqrt(draws.size)
    return {
        "mean": float(standard.mean() * root),
        "variance": float(((standard**2).mean() - 1) * root / math.sqrt(2)),
        "fourth moment": float(((standard**4).mean() - 3) * root / math.sqrt(96)),
    }


def tail_z(draws: NDArray[np.int64] | NDArray[np.object_], sigma2: Fraction, sigmas: float) -> float:
    """z-score of how many draws are at or beyond `sigmas` standard deviations, for large sigma."""
    edge = math.ceil(sigmas * math.sqrt(sigma2))
    probability = 2 * float(ndtr(-(edge - 0.5) / math.sqrt(sigma2)))
    expected = draws.size * probability
    beyond = int(np.count_nonzero(np.abs(draws) >= edge))
    return float((beyond - expected) / math.sqrt(expected * (1 - probability)))


def _pooled_chi2(seen: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """p-value after pooling neighbouring cells until each expects FEWEST_EXPECTED or more."""
    pooled: list[tuple[float, float]] = []
    count = mass = 0.0
    for cell_count, cell_mass in zip(seen, expected, strict=True):
        count, mass = count + float(cell_count), mass + float(cell_mass)
        if mass >= FEWEST_EXPECTED:
            pooled.append((count, mass))
            count = mass = 0.0
    if pooled:
        pooled[-1] = (pooled[-1][0] + count, pooled[-1][1] + mass)
    else:
        pooled.append((count, mass))
    if len(pooled) == 1:
        raise ValueError("all mass in one cell: nothing to test")
    statistic = sum((observed - wanted) ** 2 / wanted for observed, wanted in pooled)
    return float(chi2.sf(statistic, len(pooled) - 1))
