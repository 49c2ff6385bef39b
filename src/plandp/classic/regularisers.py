"""What is added to σ̂ so that no coordinate gets next to no noise: post-processing."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Regulariser(Protocol):
    """From released spreads to those that the stretch is made of."""

    def __call__(self, spread: FloatArray) -> FloatArray:
        """Spreads above 0."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlusMean:
    """σ̂ + ‖σ̂‖₁/d, the paper's (paper, "Implementation")."""

    def __call__(self, spread: FloatArray) -> FloatArray:
        """Every spread, and the mean of all on top."""
        return np.asarray(spread + spread.mean())


@dataclass(frozen=True, kw_only=True)
class TwicePlusMean:
    """2σ̂ + ‖σ̂‖₁/d, for variances found to within a half (variance appendix, where the 1/d is missing)."""

    def __call__(self, spread: FloatArray) -> FloatArray:
        """Twice every spread, and the mean of all on top."""
        return np.asarray(2.0 * spread + spread.mean())


@dataclass(frozen=True, kw_only=True)
class Unregularised:
    """σ̂ itself."""

    def __call__(self, spread: FloatArray) -> FloatArray:
        """Every spread as it is."""
        return spread
