"""Appendix C: which stretch makes the p-th moment of Gaussian noise least for given sensitivities, and what it is then.

Query i moves by Δ_i at most.  Divided by s_i, together they move by Δ̄ = (Σ(Δ_i/s_i)²)^(1/2); noise N(0, Δ̄²/(2ρ)) on
each and multiplying back by s_i leaves E‖noise‖_p^p = Γ((p+1)/2)/(ρ^(p/2)√π)·Σ(Δ̄·s_i)^p.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plandp.errors import ArgumentError
from plandp.theory.public_arguments import at_least, positive, vector
from plandp.theory.stretch import log_gaussian_norm, norm, optimal_stretch

FloatArray = NDArray[np.float64]


def best_stretch(sensitivity: ArrayLike, *, error_norm: float = 2.0) -> FloatArray:
    """s_i ∝ Δ_i^(2/(p+2)), largest 1 (line 1303).  A query that cannot move gets 0: it needs no noise.

    >>> best_stretch([4.0, 1.0]).tolist()
    [1.0, 0.5]
    """
    Δ, p = vector("sensitivity", sensitivity), at_least("error_norm", error_norm, 1.0)
    return optimal_stretch(Δ / Δ.max(), p)


def noise_moment(sensitivity: ArrayLike, stretch: ArrayLike, *, rho: float, error_norm: float = 2.0) -> float:
    """E‖noise‖_p^p of the ρ-zCDP release with any stretch (line 1285); its p-th root bounds the expected ℓp error.

    >>> round(noise_moment([4.0, 1.0], [1.0, 0.5], rho=0.5), 6)  # the best stretch for p = 2: (4 + 1)²
    25.0
    """
    Δ, s, p = vector("sensitivity", sensitivity), vector("stretch", stretch), at_least("error_norm", error_norm, 1.0)
    if len(s) != len(Δ):
        raise ArgumentError("stretch", "must have one number per sensitivity")
    if (s[Δ > 0.0] == 0.0).any():
        raise ArgumentError("stretch", "must be positive wherever the sensitivity is")
    together = float(np.linalg.norm(Δ[Δ > 0.0] / s[Δ > 0.0]))
    return float((_noise_per_sensitivity(p, rho) * together * norm(s, p)) ** p)


def least_noise_moment(sensitivity: ArrayLike, *, rho: float, error_norm: float = 2.0) -> float:
    """The same for the best stretch: Γ((p+1)/2)/(ρ^(p/2)√π)·‖Δ‖^p in the quasi-norm 2p/(p+2) (line 1338)."""
    Δ, p = vector("sensitivity", sensitivity), at_least("error_norm", error_norm, 1.0)
    return float((_noise_per_sensitivity(p, rho) * norm(Δ, 2.0 * p / (p + 2.0))) ** p)


@dataclass(frozen=True, kw_only=True)
class ComparedNoise:
    """(E‖noise‖_p^p)^(1/p) of three shapes of noise on rows that are clipped equally far out.

    All constants are explicit.  Not in it: sampling, what clipping takes away, and the price of finding centre,
    spreads and radius.
    """

    plan: float  # s = σ^(2/(p+2)): ∝ ‖σ‖ in 2p/(p+2)
    gaussian: float  # s = 1: ∝ d^(1/p)·‖σ‖₂
    mahalanobis: float  # s = σ, which is also an even split of ρ: ∝ √d·‖σ‖_p


def compared_noise(
    *, rows: int, spread: ArrayLike, rho: float, error_norm: float = 2.0, reach: float = 1.0
) -> ComparedNoise:
    """PLAN, the Gaussian mechanism and Mahalanobis side by side (lines 253 and 647): σ, n and ρ decide.

    Each clips stretched rows to `reach` times their root mean square norm C, and adds 2C/(n√(2ρ)) to every coordinate.

    >>> compared = compared_noise(rows=1000, spread=[1.0] + [0.01] * 99, rho=0.5)
    >>> round(compared.gaussian / compared.plan, 2), round(compared.mahalanobis / compared.plan, 2)
    (5.05, 5.05)
    """
    σ, n = vector("spread", spread), at_least("rows", rows, 1.0)
    Δ, p = 2.0 * positive("reach", reach) * σ / n, error_norm

    def root(moment: float) -> float:
        return float(moment ** (1.0 / p))

    return ComparedNoise(
        plan=root(least_noise_moment(Δ, rho=rho, error_norm=p)),
        gaussian=root(noise_moment(Δ, np.ones(len(Δ)), rho=rho, error_norm=p)),
        mahalanobis=root(noise_moment(Δ, Δ, rho=rho, error_norm=p)),
    )


def _noise_per_sensitivity(p: float, rho: float) -> float:
    """(Γ((p+1)/2)/√π)^(1/p)/√ρ = (E|Z|^p)^(1/p)/√(2ρ)."""
    return math.exp(log_gaussian_norm(p)) / math.sqrt(2.0 * positive("rho", rho))
