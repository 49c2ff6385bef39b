"""Up to which norm the radius is looked for (paper, "Bounding the clipping universe").  Public or released numbers."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError

FloatArray = NDArray[np.float64]


class Universe(Protocol):
    """The upper end of the search for C; rows beyond it are counted at it, and clipped."""

    def __call__(self, *, spread: FloatArray, stretch: FloatArray, longest: float, n: int, error_norm: float) -> float:
        """A norm above 0, in stretched units of error_scale; `longest` is the longest norm that the bounds allow."""
        ...


@dataclass(frozen=True, kw_only=True)
class LongestRow:
    """‖range · stretch‖₂: no row within the bounds is longer.

    Printed is M√d (Algorithm 1, line 6), which stretched rows can exceed.  For 0/1 rows this is ‖σ̂^(-2/3)‖₂ at p = 1,
    which is what the paper's table of settings means by its ‖σ̂^(2/3)‖₂: that would be shorter than ordinary rows.
    """

    def __call__(self, *, spread: FloatArray, stretch: FloatArray, longest: float, n: int, error_norm: float) -> float:
        """The longest norm."""
        return longest


@dataclass(frozen=True, kw_only=True)
class Concentrated:
    """√(ln n · ln(1/β) · ‖σ̂^(2p/(p+2))‖₁), which for p = 2 is the paper's √(log n · log(1/β) · ‖σ̂‖₁), β = .1.

    Well-concentrated rows are shorter but for a share β.  ln n is taken to be at least 1, or few rows had no universe.
    """

    failure_probability: float = 0.1

    def __post_init__(self) -> None:
        if not isinstance(self.failure_probability, float) or not 0.0 < self.failure_probability < 1.0:
            raise ArgumentError("failure_probability", "must be a number above 0 and below 1")

    def __call__(self, *, spread: FloatArray, stretch: FloatArray, longest: float, n: int, error_norm: float) -> float:
        """The norm of well-concentrated rows, or the longest norm where that is shorter."""
        typical = float(((spread / stretch) ** 2).sum())  # σ̂ / σ̂^(2/(p+2)), squared
        return min(sqrt(max(log(n), 1.0) * log(1.0 / self.failure_probability) * typical), longest)


@dataclass(frozen=True, kw_only=True)
class ItemsAsPrinted:
    """‖σ̂^(2/3)‖₂ for any p, as the table of settings prints it for 0/1 rows: see `LongestRow` for what is meant."""

    def __call__(self, *, spread: FloatArray, stretch: FloatArray, longest: float, n: int, error_norm: float) -> float:
        """The printed norm."""
        return float(np.sqrt((spread ** (4.0 / 3.0)).sum()))
