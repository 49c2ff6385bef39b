"""One line of the receipt: what one noised query, or one round of choices, cost."""

from dataclasses import dataclass
from fractions import Fraction

DISCRETE_GAUSSIAN = "discrete Gaussian"
EXPONENTIAL = "exponential mechanism"
MECHANISMS = (DISCRETE_GAUSSIAN, EXPONENTIAL)


@dataclass(frozen=True, kw_only=True)
class Payment:
    """What one release cost: `values` integers of that squared ℓ2 sensitivity D, noised or chosen at `rho`-zCDP.

    Discrete Gaussian noise has σ² = D/(2·rho).  Choices whose penalties move by at most Δ have D = values·Δ², and
    probabilities that fall by exp(-penalty·√(2·rho/D)).
    """

    step: str
    rho: Fraction
    squared_sensitivity: int
    values: int
    mechanism: str = DISCRETE_GAUSSIAN
