"""Variances of 0/1 columns from noisy column sums (paper, "Implementation")."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.sparse_rows import SparseRows
from plandp.mechanisms.item_rows import item_counts
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]


class ItemSpread(Protocol):
    """Estimates σ̂ of every 0/1 column at design.split.spread-zCDP for replacing one row."""

    @property
    def costs(self) -> bool:
        """Whether it reads data, and so has a share of the budget."""
        ...

    def __call__(self, rows: SparseRows, design: Design, noise: MeteredNoise) -> FloatArray:
        """σ̂, above 0."""
        ...

    def expected(self, popularity: FloatArray, design: Design) -> FloatArray:
        """Public: the σ̂ to expect of items of this popularity."""
        ...

    def is_told(self, design: Design) -> bool:
        """Public: whether σ̂ says more about the items than about the noise."""
        ...


@dataclass(frozen=True, kw_only=True)
class ItemVariance:
    """σ̂² = p̂(1 - p̂), at least d^(-2/5) (`floor`), p̂ a noisy share of the rows.

    A replaced row moves each of d counts by at most 1: ℓ2 sensitivity √d, as the paper's 1/n per coordinate.
    """

    floor: bool = True
    costs = True

    def __call__(self, rows: SparseRows, design: Design, noise: MeteredNoise) -> FloatArray:
        """The root of the estimated variances.

        Guarantee: design.split.spread-zCDP when one row is replaced.
        """
        noisy = noise.release(item_counts(rows), squared_sensitivity=design.d, rho=design.split.spread, step="spread")
        share = np.clip(noisy.astype(np.float64) / design.n, 0.0, 1.0)
        return self.expected(share, design)

    def expected(self, popularity: FloatArray, design: Design) -> FloatArray:
        """The root of p(1 - p), or of the least variance."""
        return np.sqrt(np.maximum(popularity * (1.0 - popularity), self._least(design)))

    def is_told(self, design: Design) -> bool:
        """Whether the noise of a share is below the least variance."""
        return bool(np.sqrt(design.d / (2.0 * float(design.split.spread))) <= self._least(design) * design.n)

    def _least(self, design: Design) -> float:
        # without the floor, a variance is no smaller than that of an item in one row of all
        return float(design.d**-0.4) if self.floor else 1.0 / max(design.n, 2)


@dataclass(frozen=True, kw_only=True)
class EqualItems:
    """σ̂ = 1 for every item (paper, "Generic Bounds"): no stretch, and nothing is spent."""

    costs = False

    def __call__(self, rows: SparseRows, design: Design, noise: MeteredNoise) -> FloatArray:
        """Ones."""
        return np.ones(design.d)

    def expected(self, popularity: FloatArray, design: Design) -> FloatArray:
        """Ones."""
        return np.ones(design.d)

    def is_told(self, design: Design) -> bool:
        """Nothing has to be."""
        return True
