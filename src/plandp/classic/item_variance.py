"""Variances of 0/1 columns from noisy column sums (paper, "Implementation")."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.sparse_rows import SparseBlock, SparseRows
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class ItemSpread(Protocol):
    """Estimates σ̂ of every 0/1 column at design.split.spread-zCDP for replacing one row."""

    @property
    def costs(self) -> bool:
        """Whether it reads data, and so has a share of the budget."""
        ...

    def __call__(self, rows: SparseRows, design: Design, noise: MeteredNoise) -> FloatArray:
        """σ̂, above 0."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemCounts:
    """Block function: how many rows hold each item."""

    d: int

    def __call__(self, block: SparseBlock, /) -> tuple[IntArray]:
        """Count the items of the block; each row holds an item at most once."""
        return (np.bincount(block.items, minlength=self.d).astype(np.int64),)


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
        (counts,) = rows.fold(ItemCounts(d=design.d))
        noisy = noise.release(counts, squared_sensitivity=design.d, rho=design.split.spread, step="spread")
        share = np.clip(noisy.astype(np.float64) / design.n, 0.0, 1.0)
        # without the floor, a variance is no smaller than that of an item in one row of all
        least = design.d**-0.4 if self.floor else 1.0 / max(design.n, 2)
        return np.sqrt(np.maximum(share * (1.0 - share), least))


@dataclass(frozen=True, kw_only=True)
class EqualItems:
    """σ̂ = 1 for every item (paper, "Generic Bounds"): no stretch, and nothing is spent."""

    costs = False

    def __call__(self, rows: SparseRows, design: Design, noise: MeteredNoise) -> FloatArray:
        """Ones."""
        return np.ones(design.d)
