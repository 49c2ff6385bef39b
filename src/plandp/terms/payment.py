"""One line of the receipt: what one noised query cost."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Payment:
    """What one release cost: `values` integers of that squared ℓ2 sensitivity, noised at `rho`-zCDP."""

    step: str
    rho: Fraction
    squared_sensitivity: int
    values: int
