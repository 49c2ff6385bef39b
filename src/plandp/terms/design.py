"""Design: all that is fixed before a row is read."""

from dataclasses import dataclass
from fractions import Fraction

from plandp.terms.columns import Columns


@dataclass(frozen=True, kw_only=True)
class Split:
    """How ρ is divided among the steps; the shares add up to the whole exactly."""

    center: Fraction
    spread_bound: Fraction
    spread: Fraction
    radius: Fraction
    sum: Fraction

    @property
    def rho(self) -> Fraction:
        """The whole budget."""
        return self.center + self.spread_bound + self.spread + self.radius + self.sum

    def steps(self) -> tuple[tuple[str, Fraction], ...]:
        """The steps by their names on a receipt, and what each costs."""
        return (
            ("center", self.center),
            ("spread bound", self.spread_bound),
            ("spread", self.spread),
            ("radius", self.radius),
            ("sum", self.sum),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Public facts and decisions of one release: nothing in it has seen the data."""

    n: int
    columns: Columns
    error_norm: float
    split: Split
    sample_size: int  # rows used for the spread
    center_stride: int  # the centre uses every such row of them
    center_rounds: int
    lattice_points: int  # of the final sum, per norm that most rows stay below

    @property
    def center_rows(self) -> int:
        """The number of rows that the centre reads."""
        return -(-self.sample_size // self.center_stride)

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.columns.d
