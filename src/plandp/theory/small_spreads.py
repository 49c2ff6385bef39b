"""Small variance (line 742): three ways out where some σ_i are below 1, and the bound for each."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from plandp.theory.error_bounds import ErrorBound
from plandp.theory.plan_bound import plan_error_bound
from plandp.theory.public_arguments import at_least, positive, probability, vector
from plandp.theory.stretch import norm


@dataclass(frozen=True, kw_only=True)
class SmallSpreadBounds:
    """The bound of each approach for the same rows.  All constants are derived; the paper has Õ."""

    unit_noise: ErrorBound  # independent noise of variance 1 on every value: σ becomes √(σ² + 1)
    rescaled: ErrorBound | None  # everything divided by min σ, which must be positive for it
    finer_search: ErrorBound  # T = log2(M/τ) steps


def small_spread_bounds(
    *, rows: int, spread: ArrayLike, bound: float, rho: float, failure: float, resolution: float | None = None
) -> SmallSpreadBounds:
    """ℓ2 bounds of the three approaches; `resolution` is the τ of the third, the advised one when left out.

    Unit noise widens the box by √(2·ln(2nd/β)), which it exceeds with probability β at most.

    >>> bounds = small_spread_bounds(rows=10**6, spread=[1.0, 0.01], bound=64, rho=1.0, failure=1e-3)
    >>> bounds.finer_search.error < bounds.unit_noise.error
    True
    """
    σ, n, M, β = vector("spread", spread), at_least("rows", rows, 2.0), positive("bound", bound), failure
    d = len(σ)
    widest = M + math.sqrt(2.0 * math.log(2.0 * n * d / probability("failure", β)))
    noised = plan_error_bound(rows=rows, spread=np.hypot(σ, 1.0), bound=widest, rho=rho, failure=β)
    smallest, rescaled = float(σ.min()), None
    if smallest > 0.0:
        there = plan_error_bound(rows=rows, spread=σ / smallest, bound=M / smallest, rho=rho, failure=β)
        rescaled = _scaled(there, smallest)
    τ = advised_resolution(rows=rows, spread=σ, rho=rho) if resolution is None else positive("resolution", resolution)
    return SmallSpreadBounds(
        unit_noise=replace(noised, failure=2.0 * noised.failure),
        rescaled=rescaled,
        finer_search=plan_error_bound(
            rows=rows, spread=σ, bound=M, rho=rho, failure=β, resolution=τ, radius_resolution=math.sqrt(τ)
        ),
    )


def advised_resolution(*, rows: int, spread: ArrayLike, rho: float) -> float:
    """The largest τ with no effect on the order of the error: min(√(n/d), n√(ρ/d), ‖σ‖₁/d).

    The paper has ‖σ‖₁ in place of ‖σ‖₁/d (lines 764 and 765), from τ‖Σ̂^(-1/4)‖₂ = τ/√‖σ‖₁.  That norm is
    τ√(Σ1/σ̂_i), at most τ·d/√‖σ‖₁ for σ̂_i ≥ ‖σ‖₁/d.
    """
    σ, n, rho = vector("spread", spread), at_least("rows", rows, 2.0), positive("rho", rho)
    d = len(σ)
    return min(math.sqrt(n / d), n * math.sqrt(rho / d), norm(σ, 1.0) / d)


def _scaled(bound: ErrorBound, by: float) -> ErrorBound:
    """The same bound in units that are 1/`by` times as large; the radius is that of the rescaled rows."""
    return replace(
        bound,
        sampling=bound.sampling * by,
        clipping=bound.clipping * by,
        noise=bound.noise * by,
        failure=bound.failure * by,
        printed=bound.printed * by,
    )
