"""How far rows lie from their mean: the two definitions of lines 490 and 628, with the constants that exp(-Ω(t)) hides.

Two norms matter: ‖x - μ‖_p in units of ‖σ‖_p, and that of the stretched row, ‖(x - μ)/σ̂^(2/(p+2))‖₂, in units of its
root mean square ‖σ^(p/(p+2))‖₂ (larger σ̂ only shrink it).  A law of rows answers how many such units a row exceeds with
a given probability only.  Derivations: docs/theory.md.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from plandp.errors import ArgumentError


class Concentration(Protocol):
    """A law of rows, by its tails."""

    def reach(self, failure: float, *, columns: int, error_norm: float) -> float:
        """The u with Pr[‖x - μ‖_p > u·‖σ‖_p] ≤ failure."""

    def stretched_reach(self, failure: float, *, columns: int) -> float:
        """The u with Pr[‖(x - μ)/σ̂^(2/(p+2))‖₂ > u·‖σ^(p/(p+2))‖₂] ≤ failure."""


@dataclass(frozen=True)
class GaussianRows:
    """Rows of N(μ, Σ), any Σ and any p ≥ 1: both tails are at most √2·exp(-u²/2) from u² = p on.

    By moments: (E‖x - μ‖_p^q)^(1/q) ≤ ‖σ‖_p·(E|Z|^q)^(1/q) for q ≥ p (Minkowski), and E|Z|^q ≤ √2(q/e)^(q/2); take
    q = u².  This replaces the lemma of line 686, whose union bound loses a factor ln d.
    """

    def reach(self, failure: float, *, columns: int, error_norm: float) -> float:
        """√max(p, 2·ln(√2/failure))."""
        return math.sqrt(max(error_norm, 2.0 * math.log(math.sqrt(2.0) / failure)))

    def stretched_reach(self, failure: float, *, columns: int) -> float:
        """The same with p = 2: a stretched Gaussian row is a Gaussian row."""
        return self.reach(failure, columns=columns, error_norm=2.0)


@dataclass(frozen=True)
class BinaryRows:
    """Rows of d independent bits with σ_i² ≥ d^(-2/5), for p = 1 (line 721), by Hoeffding's bound.

    Σ|x - μ| exceeds t·‖σ‖₁ with probability exp(-2(t-1)²d^(3/5)) at most, Σ(x - μ)²/σ^(4/3) exceeds t·‖σ^(1/3)‖₂² with
    exp(-2(t-1)²d^(1/5)).
    """

    def reach(self, failure: float, *, columns: int, error_norm: float) -> float:
        """1 + √(ln(1/failure)/(2d^(3/5)))."""
        if error_norm != 1.0:
            raise ArgumentError("error_norm", "must be 1 for binary rows: the lemma has no other")
        return 1.0 + math.sqrt(math.log(1.0 / failure) / (2.0 * columns**0.6))

    def stretched_reach(self, failure: float, *, columns: int) -> float:
        """The root of 1 + √(ln(1/failure)/(2d^(1/5)))."""
        return math.sqrt(1.0 + math.sqrt(math.log(1.0 / failure) / (2.0 * columns**0.2)))


@dataclass(frozen=True)
class WellConcentrated:
    """The definitions as printed, with constants said: both sums exceed t times their unit with front·exp(-rate·t).

    For t > ln d only.  Which constants a law has is for the caller to know; `tail_check` looks at draws of it.
    """

    rate: float
    front: float = 1.0

    def reach(self, failure: float, *, columns: int, error_norm: float) -> float:
        """t^(1/p)."""
        return float(self._sum(failure, columns) ** (1.0 / error_norm))

    def stretched_reach(self, failure: float, *, columns: int) -> float:
        """√t."""
        return math.sqrt(self._sum(failure, columns))

    def _sum(self, failure: float, columns: int) -> float:
        return max(math.log(columns), math.log(self.front / failure) / self.rate, 1e-300)
