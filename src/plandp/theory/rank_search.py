"""PrivQuantile's rank error (lines 355 and 362) with constants that hold, and when the paper calls it small enough.

The rank error is how many rows a released quantile is away from the one asked for: some point of the released cell
(binary search), or the released grid point (exponential mechanism), has a rank within it.  Derivations: docs/theory.md.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from plandp.errors import ArgumentError
from plandp.theory.public_arguments import at_least, positive, probability

Search = Literal["binary search", "exponential mechanism"]

ADVISED_SHARE = 0.1  # line 959: "such that the rank error is at most 0.1n"


def rank_error(
    *,
    cells: float,
    columns: int,
    rho: float,
    failure: float,
    search: Search = "binary search",
    copies: int = 1,
) -> float:
    """Rows by which the quantiles of all `columns` are off at most, except with probability `failure`.

    One ρ-zCDP release of one quantile per column on `cells` cells of a public range; one row can move `copies` numbers
    of a column.  Binary search makes T = ⌈log2 cells⌉ counts per column, noise of variance g²dT/(2ρ), and one side of
    each can go wrong: the deviation times the normal quantile of 1 - β/(dT), which is at most g√(dT·ln(dT/(2β))/ρ).
    The paper prints √(dT·ln(dT/β)/(2ρ)) (line 363): up to √2 too small, and missed more often than with β.
    The exponential mechanism with c = √(2ρ/d)/g is off by ln(cells·d/β)/c, counted from the best grid point.
    Discrete noise adds less than one row.

    >>> round(rank_error(cells=2**20, columns=64, rho=1.0, failure=0.01), 1)
    109.3
    """
    cells, d = at_least("cells", cells, 2.0), at_least("columns", columns, 1.0)
    rho, β, g = positive("rho", rho), probability("failure", failure), at_least("copies", copies, 1.0)
    if search == "binary search":
        T = search_steps(cells)
        return g * math.sqrt(d * T / (2.0 * rho)) * max(-NormalDist().inv_cdf(β / (d * T)), 0.0)
    if search == "exponential mechanism":
        return g * math.log(cells * d / β) / math.sqrt(2.0 * rho / d)
    raise ArgumentError("search", "must be 'binary search' or 'exponential mechanism'")


def printed_rank_error(*, cells: float, columns: int, rho: float, failure: float) -> float:
    """The lemma of line 362 as printed: for comparison only, since a search can miss it more often than it says."""
    d, T = at_least("columns", columns, 1.0), search_steps(at_least("cells", cells, 2.0))
    return math.sqrt(d * T * math.log(T * d / probability("failure", failure)) / (2.0 * positive("rho", rho)))


def search_steps(cells: float) -> int:
    """T: how many halvings lead to one of `cells` cells."""
    return max(math.ceil(math.log2(cells) - 1e-12), 1)  # 1e-12: the logarithm of 2^T may come out a bit above T


@dataclass(frozen=True, kw_only=True)
class Feasibility:
    """Whether the rank error is within the allowed share of the rows, and which n, d or ρ alone would just do."""

    rank_error: float
    allowed: float
    smallest_rows: int
    largest_columns: int  # 0: not even one
    smallest_rho: float

    @property
    def feasible(self) -> bool:
        """The paper's advice is followed."""
        return self.rank_error <= self.allowed


def feasibility(
    *,
    rows: int,
    columns: int,
    rho: float,
    cells: float,
    failure: float,
    share: float = ADVISED_SHARE,
    search: Search = "binary search",
    copies: int = 1,
) -> Feasibility:
    """The paper's advice (line 959): a rank error of at most a tenth of the rows.

    `rho` is what this search gets, not the whole budget.

    >>> feasibility(rows=4000, columns=1024, rho=0.03125, cells=2**12, failure=0.1).feasible
    False
    """
    allowed = probability("share", share) * at_least("rows", rows, 1.0)

    def off(d: float, budget: float) -> float:
        return rank_error(cells=cells, columns=int(d), rho=budget, failure=failure, search=search, copies=copies)

    error = off(columns, rho)
    fits, misses = 0, 1
    while off(misses, rho) <= allowed:
        fits, misses = misses, 2 * misses
    while misses - fits > 1:
        middle = (fits + misses) // 2
        fits, misses = (middle, misses) if off(middle, rho) <= allowed else (fits, middle)
    return Feasibility(
        rank_error=error,
        allowed=allowed,
        smallest_rows=max(math.ceil(error / share), 1),
        largest_columns=fits,
        smallest_rho=rho * (error / allowed) ** 2,  # both errors go as 1/√ρ
    )
