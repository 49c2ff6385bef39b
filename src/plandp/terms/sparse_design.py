"""The design of a release from sparse rows: all that is fixed before a row is read."""

from dataclasses import dataclass
from fractions import Fraction

from plandp.terms.columns import Columns


@dataclass(frozen=True, kw_only=True)
class SparseSplit:
    """How ρ is divided among the steps; the shares add up to the whole exactly."""

    first_radius: Fraction
    first_sum: Fraction
    squares_radius: Fraction  # 0 where items are there or not: then second moments are means
    squares: Fraction
    groups: Fraction
    radius: Fraction
    sum: Fraction

    @property
    def rho(self) -> Fraction:
        """The whole budget."""
        return sum((rho for _, rho in self.steps()), Fraction(0))

    def steps(self) -> tuple[tuple[str, Fraction], ...]:
        """The steps by their names on a receipt, and what each costs."""
        return (
            ("first radius", self.first_radius),
            ("first sum", self.first_sum),
            ("squares radius", self.squares_radius),
            ("squares", self.squares),
            ("groups", self.groups),
            ("radius", self.radius),
            ("sum", self.sum),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseDesign:
    """Public facts and decisions of one release: nothing in it has seen the data."""

    n: int
    columns: Columns
    error_norm: float
    binary: bool  # items are there or not; otherwise values ≥ 0
    refine: frozenset[str]  # of REFINEMENTS
    split: SparseSplit

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.columns.d
