"""The variance estimator's lemma (Appendix D, line 1417) with every constant: when k pairs a group give σ² to a half.

A row group of 2k rows gives y = Σ(x - x')²/2 over k pairs, kσ² on average; the released median of all y, divided by k,
lies within [σ²/2, 3σ²/2] if three quarters of the y do, and the rank error is small.
"""

import math
from dataclasses import dataclass

from plandp.errors import ArgumentError
from plandp.theory.error_bounds import TWO_THIRDS_RATE, Condition, enough_rows_for_two_thirds
from plandp.theory.public_arguments import at_least, positive, probability
from plandp.theory.rank_search import rank_error

EVENTS = 2.0  # two thirds of the groups near kσ², and the search: each fails with β/2
PRINTED_PAIRS = 16.0  # k = 16κ


@dataclass(frozen=True, kw_only=True)
class VarianceBound:
    """The released variances lie within [½σ² - off, 1½σ² + off] in all columns, if all conditions hold."""

    pairs: int  # k
    groups: int  # n' = ⌊n/(2k)⌋
    off: float  # what the cells of the search add: none in the paper
    conditions: tuple[Condition, ...]
    smallest_rows: int  # for these k, d, ρ and β

    @property
    def holds(self) -> bool:
        """Whether all conditions hold."""
        return all(condition.holds for condition in self.conditions)


def variance_bound(
    *,
    rows: int,
    columns: int,
    bound: float,
    rho: float,
    fourth_moment: float,
    failure: float,
    pairs: int | None = None,
    resolution: float = 0.1,
) -> VarianceBound:
    """Whether Algorithm 2 finds σ² to a half, rows in [-bound, bound]^d, ρ for all columns together.

    `fourth_moment` is κ = E(X - X')⁴/σ⁴ (12 for Gaussian rows); `pairs` is the paper's ⌈16κ⌉ when left out, though
    `enough_pairs` does.  The search is on [0, 2kM²] (the paper's M² is too short) and ends within k·`resolution`.

    >>> variance_bound(rows=10**6, columns=10, bound=100, rho=0.5, fourth_moment=12, failure=0.01).holds
    True
    """
    n, d, M = at_least("rows", rows, 2.0), int(at_least("columns", columns, 1.0)), positive("bound", bound)
    κ, off = at_least("fourth_moment", fourth_moment, 4.0), positive("resolution", resolution)
    each = probability("failure", failure) / EVENTS
    k = math.ceil(PRINTED_PAIRS * κ) if pairs is None else int(at_least("pairs", pairs, 1.0))
    if k < enough_pairs(κ):
        raise ArgumentError("pairs", f"must be at least {enough_pairs(κ)}, or Chebyshev's bound is above a quarter")
    groups = int(n // (2 * k))
    error = rank_error(cells=max(M * M / off, 2.0), columns=d, rho=rho, failure=each)
    needed = max(math.log(d / each) / TWO_THIRDS_RATE, 6.0 * error)
    return VarianceBound(
        pairs=k,
        groups=groups,
        off=off,
        conditions=(
            enough_rows_for_two_thirds(rows=groups, columns=d, failure=each),
            Condition(name="rank error of the variances", given=error, allowed=groups / 6.0),
        ),
        smallest_rows=2 * k * math.ceil(needed),
    )


def enough_pairs(fourth_moment: float) -> int:
    """The k that the proof needs: ⌈4(κ - 4)⌉, since Var Σ(x - x')²/2 = k(κ/4 - 1)σ⁴; the paper drops ¼ and -1.

    >>> enough_pairs(12.0)  # Gaussian rows: the paper takes 192
    32
    """
    return max(math.ceil(4.0 * (at_least("fourth_moment", fourth_moment, 4.0) - 4.0)), 1)
