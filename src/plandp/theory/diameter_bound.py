"""The diameter theorem (line 785): no scaling, no assumption on the rows but their diameter, with every constant."""

import math

from plandp.errors import ArgumentError
from plandp.theory.error_bounds import Condition, ErrorBound
from plandp.theory.public_arguments import at_least, positive, probability
from plandp.theory.rank_search import rank_error

EVENTS = 2.0  # centres and radius: each fails with β/2


def distance_from_good_center(*, diameter: float, share: float) -> float:
    """The α-good lemma (line 799): no row is further than w/√(1/2 - α) from a centre with rank errors up to αn.

    >>> round(distance_from_good_center(diameter=1.0, share=1 / 3), 3)
    2.449
    """
    if not 0.0 <= share < 0.5:
        raise ArgumentError("share", "must be at least 0 and below 1/2")
    return positive("diameter", diameter) / math.sqrt(0.5 - share)


def unscaled_error_bound(
    *,
    rows: int,
    columns: int,
    diameter: float,
    bound: float,
    rho: float,
    share: float = 1.0 / 3.0,
    failure: float | None = None,
) -> ErrorBound:
    """Expected ℓ2 distance of unscaled PLAN to the empirical mean: rows in [-bound, bound]^d, ρ in thirds.

    `share` is the α of the proof.  `failure` is min(w/(√ρ·M·n), ½) when left out, the searches end within 1/(n√ρ), both
    as in the proof; k = √(d/ρ) + rank error, where the paper has Θ̃(√(d/ρ)).  The estimate is clamped to the bounds.

    >>> unscaled_error_bound(rows=10**5, columns=16, diameter=8.0, bound=100.0, rho=1.0).holds
    True
    """
    n, d = at_least("rows", rows, 2.0), int(at_least("columns", columns, 1.0))
    M, rho, w = positive("bound", bound), positive("rho", rho), positive("diameter", diameter)
    β = min(w / (math.sqrt(rho) * M * n), 0.5) if failure is None else probability("failure", failure)
    each, part, τ = β / EVENTS, rho / 3.0, min(1.0 / (n * math.sqrt(rho)), M / 2.0)
    center_off = rank_error(cells=M / τ, columns=d, rho=part, failure=each)
    longest = 2.0 * M * math.sqrt(d)
    radius_off = rank_error(cells=longest / τ, columns=1, rho=part, failure=each)
    k = math.sqrt(d / rho) + radius_off
    clipped = min(k + radius_off, n)
    row = min(distance_from_good_center(diameter=w, share=share) + τ * math.sqrt(d), longest)
    C = row + τ
    return ErrorBound(
        sampling=0.0,
        clipping=clipped / n * row,
        noise=C * math.sqrt(2.0 * d / part) / n,
        failure=β * longest,
        radius=C,
        rows_clipped=clipped,
        conditions=(
            Condition(name="rank error of the centres", given=center_off, allowed=share * n),
            Condition(name="rows to clip", given=k, allowed=n),
        ),
        printed=math.sqrt(d / rho) * w / n,
        derived="rank errors, k and C√(6/ρ) for the noise; the paper has Õ. 1/√(1/2 - α) is the paper's own",
    )
