"""The main theorems (lines 245, 610 and 637) with every constant: the error of Algorithm 1 as printed.

The bound is about the paper's algorithm, with binary search and the upper end of the last cell for C, not about
plandp's default, which forecasts its error instead.  Derivation: docs/theory.md.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plandp.errors import ArgumentError
from plandp.theory.concentration import Concentration, GaussianRows
from plandp.theory.error_bounds import Condition, ErrorBound, enough_rows_for_two_thirds
from plandp.theory.public_arguments import at_least, positive, probability, vector
from plandp.theory.rank_search import rank_error
from plandp.theory.stretch import log_gaussian_norm, norm, optimal_stretch

FloatArray = NDArray[np.float64]

EVENTS = 5.0  # two thirds near the mean, centres, rows, stretched rows, radius: each fails with β/5
DERIVED = (
    "all constants and logarithms: rank error, Chernoff, tails of the rows, C√(6/ρ) for the noise; "
    "the paper has Õ for all but the noise"
)


def plan_error_bound(
    *,
    rows: int,
    spread: ArrayLike,
    bound: float,
    rho: float,
    error_norm: float = 2.0,
    failure: float | None = None,
    resolution: float = 1.0,
    radius_resolution: float = 1.0,
    estimated_spread: ArrayLike | None = None,
    concentration: Concentration | None = None,
) -> ErrorBound:
    """Expected ℓp error of PLAN with ρ₁ = ρ₂ = ρ₃ = ρ/3, its estimate clamped to the bounds.

    Rows lie in [-bound, bound]^d; `spread` are their deviations (for p > 2 the p-th roots of the p-th central moments).
    `failure` is β, 1/(M·d^(1/p)) when left out, as in the proofs.  `resolution` τ is how near the binary search of the
    centres ends (1 in the paper, where σ ≥ 1), `radius_resolution` the width of a cell of the search for C.
    `estimated_spread` σ̂ ≥ σ is the largest that the theorem allows when left out.  Rows are Gaussian when no other
    `concentration` is given.

    >>> plan_error_bound(rows=10**6, spread=[4.0, 2.0, 1.0], bound=1024, rho=1.0).holds
    True
    """
    n, M, rho = at_least("rows", rows, 2.0), positive("bound", bound), positive("rho", rho)
    σ, p = vector("spread", spread), at_least("error_norm", error_norm, 1.0)
    d, law = len(σ), concentration or GaussianRows()
    farthest = M if p <= 2.0 else 2.0 * M  # of values within ±M: their deviation; any central moment, to its root
    if (σ > farthest).any():
        times = "" if p <= 2.0 else "twice "
        raise ArgumentError("spread", f"must be at most {times}the bound: rows within it deviate by no more")
    τ, w = positive("resolution", resolution), positive("radius_resolution", radius_resolution)
    β = min(1.0 / (M * d ** (1.0 / p)), 0.5) if failure is None else probability("failure", failure)
    each, part = β / EVENTS, rho / 3.0
    σ_hat = largest_estimate(σ, p) if estimated_spread is None else vector("estimated_spread", estimated_spread)
    if len(σ_hat) != d or (σ_hat < σ).any() or not σ_hat.all():
        raise ArgumentError("estimated_spread", "must be positive, and at least the spread, in every column")
    s = optimal_stretch(σ_hat, p)

    # part 1: |μ̃ - μ| ≤ 2σ + τ in every column
    center_off = rank_error(cells=max(M / τ, 2.0), columns=d, rho=part, failure=each)
    # part 2: all rows with ‖y‖ > C, each at its full distance from the centre
    longest = float(np.linalg.norm(2.0 * M / s))
    radius_off = rank_error(cells=max(longest / w, 2.0), columns=1, rho=part, failure=each)
    k = math.sqrt(n) + radius_off
    clipped = min(k + radius_off, n)
    row = (law.reach(each / n, columns=d, error_norm=p) + 2.0) * norm(σ, p) + τ * d ** (1.0 / p)
    # part 3: C is not beyond the cell of the longest row
    root_mean_square = float(np.linalg.norm(σ / optimal_stretch(np.where(σ > 0.0, σ, 1.0), p)))
    to_center = float(np.linalg.norm((2.0 * σ + τ) / s))
    C = min(law.stretched_reach(each / n, columns=d) * root_mean_square + to_center, longest) + w
    noise = math.exp(log_gaussian_norm(p)) * C * math.sqrt(2.0 / part) * norm(s, p) / n

    return ErrorBound(
        sampling=max(1.0, math.sqrt(p - 1.0)) * norm(σ, p) / math.sqrt(n),
        clipping=clipped / n * row,
        noise=noise,
        failure=β * 2.0 * M * d ** (1.0 / p),
        radius=C,
        rows_clipped=clipped,
        conditions=(
            enough_rows_for_two_thirds(rows=n, columns=d, failure=each),
            Condition(name="rank error of the centres", given=center_off, allowed=n / 6.0),
            Condition(name="rows to clip", given=k, allowed=n),
        ),
        printed=1.0 + norm(σ, p) / math.sqrt(n) + norm(σ, 2.0 * p / (p + 2.0)) / (n * math.sqrt(rho)),
        derived=DERIVED,
    )


def largest_estimate(spread: FloatArray, error_norm: float) -> FloatArray:
    """The largest σ̂ that line 629 allows: σ^q plus its mean, to the 1/q, q = 2p/(p+2); σ + ‖σ‖₁/d for p = 2."""
    q = 2.0 * error_norm / (error_norm + 2.0)
    powers = (spread / spread.max()) ** q
    return np.asarray(spread.max() * (powers + powers.mean()) ** (1.0 / q))
