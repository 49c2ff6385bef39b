"""Rényi divergences: of discrete Gaussians, exactly, and lower bounds on them from counted events."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import beta

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ORDERS = 1.0 + np.geomspace(1e-3, 1e3, 400)
"""Orders α at which a bound is looked for: all of them hold at once, so the best may be taken."""


def exact_rho(squared_distance: int, sigma2: Fraction) -> Fraction:
    """The ρ of N_Z(0, σ²) against its shift by an integer vector: D_α = α·‖Δ‖²/(2σ²) at every whole α, less between."""
    return Fraction(squared_distance) / (2 * sigma2)


def shifted_divergence(shift: int, sigma2: float, alpha: float) -> float:
    """D_α(N_Z(0, σ²) ‖ N_Z(shift, σ²)), summed over all integers that matter (error below 1e-9); for σ below 10^5."""
    if shift == 0:
        return 0.0
    reach = int(9 * math.sqrt(sigma2)) + 12
    middle = round((1 - alpha) * shift)
    around_zero, around_peak = np.arange(-reach, reach + 1.0), np.arange(middle - reach, middle + reach + 1.0)
    normal = logsumexp(-(around_zero**2) / (2 * sigma2))
    powers = (-alpha * around_peak**2 - (1 - alpha) * (around_peak - shift) ** 2) / (2 * sigma2)
    return float((logsumexp(powers) - normal) / (alpha - 1))


def proportion_bounds(seen: IntArray, runs: int, *, error: float) -> tuple[FloatArray, FloatArray]:
    """Clopper–Pearson: lower and upper bounds on probabilities, each wrong with probability at most `error`."""
    seen = np.asarray(seen)
    with np.errstate(all="ignore"):
        low = np.where(seen > 0, beta.ppf(error, seen, runs - seen + 1), 0.0)
        high = np.where(seen < runs, beta.isf(error, seen + 1, runs - seen), 1.0)
    return low, high


def rho_lower_bound(p_low: FloatArray, q_high: FloatArray) -> float:
    """A lower bound on ρ from disjoint events: of probability >= `p_low` on one table, <= `q_high` on another.

    ρ-zCDP means Σ p^α q^(1-α) ≤ exp((α-1)αρ) for all events and α > 1; the sum grows with p and falls with q, so bounds
    may stand for them, and leaving events out only lowers it.
    """
    kept = (p_low > 0.0) & (q_high > 0.0)
    if not np.any(kept):
        return 0.0
    p, q = np.log(p_low[kept])[:, None], np.log(q_high[kept])[:, None]
    log_sum = logsumexp(ORDERS * p + (1.0 - ORDERS) * q, axis=0)
    return max(0.0, float((log_sum / (ORDERS - 1.0) / ORDERS).max()))


def epsilon_lower_bound(p_low: FloatArray, q_high: FloatArray, delta: float) -> float:
    """A lower bound on ε at this δ from the same events, one by one: p ≤ e^ε q + δ."""
    with np.errstate(all="ignore"):
        ratios = np.log((p_low - delta) / q_high)
    return max(0.0, float(np.nan_to_num(ratios, nan=0.0, neginf=0.0).max(initial=0.0)))
