"""d counts at once: how many rows lie below each column's threshold.  Proof: docs/proofs/lattice_counts.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.kernels.compiler import compiled
from plandp.kernels.lattice_keys import count_below, write_keys
from plandp.noise.meter import MeteredNoise
from plandp.terms.columns import Columns

FloatArray = NDArray[np.float64]

TILE = 2**17  # values worked on at a time: they stay in cache


@dataclass(frozen=True, kw_only=True, eq=False)
class Lattice:
    """A public lattice of `cells` cells per column, each `step` wide, from `low` upwards."""

    low: FloatArray
    high: FloatArray
    step: FloatArray
    cells: FloatArray  # whole numbers

    @classmethod
    def of(cls, columns: Columns) -> "Lattice":
        """Two cells per smallest spread that matters."""
        cells = np.maximum(2.0, np.ceil(2.0 * (columns.width / columns.smallest_spread)))
        return cls(low=columns.low, high=columns.high, step=columns.width / cells, cells=cells)

    def keys(self, block: FloatArray, missing: FloatArray | None) -> NDArray[np.float64]:
        """The cell of every value, 0 … cells-1; NaN stays NaN unless a public value stands for it."""
        x = np.clip(block, self.low, self.high)
        if missing is not None:
            x = np.where(np.isnan(x), missing, x)
        return np.asarray(np.minimum(np.floor((x - self.low) / self.step), self.cells - 1.0))

    def of_columns(self, chosen: slice) -> "Lattice":
        """The lattice of some of the columns."""
        return Lattice(low=self.low[chosen], high=self.high[chosen], step=self.step[chosen], cells=self.cells[chosen])

    def point(self, position: FloatArray) -> FloatArray:
        """The value at a lattice position, inside the box."""
        return np.clip(self.low + position * self.step, self.low, self.high)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatticeKeys:
    """The lattice cells of all values (m, d).  Not private, never to leave the library."""

    keys: NDArray[Any]  # 16, 32 or 64 bits by the public number of cells; `cells` itself stands for missing
    missing: NDArray[np.int64]  # per column

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing}: a missing value stands half below and half above."""
        m, d = self.keys.shape
        below = np.zeros(d, np.int64)
        count = compiled(count_below) or _count_below
        count(self.keys, thresholds.astype(self.keys.dtype), below)
        # without missing values in `below`, whose key is the largest, each value adds 0, 1 or 2 at any threshold
        return np.asarray(2 * np.minimum(below, m - self.missing) + self.missing)


def _count_below(keys: NDArray[Any], wanted: NDArray[Any], below: NDArray[np.int64]) -> None:
    """What the compiled loop does, tile by tile in NumPy."""
    rows = max(1, TILE // keys.shape[1])
    for first in range(0, len(keys), rows):
        below += np.count_nonzero(keys[first : first + rows] < wanted, axis=0)


def narrowest_integer(lattice: Lattice) -> type[np.uint16] | type[np.int32] | type[np.int64]:
    """The smallest type that holds every key, the one of missing values included."""
    largest = lattice.cells.max()
    return np.uint16 if largest < 2**16 else np.int32 if largest < 2**31 else np.int64


def lattice_keys(rows: Rows, lattice: Lattice, missing: FloatArray | None, *, stride: int = 1) -> LatticeKeys:
    """Read every `stride`-th of the rows, by number, as lattice keys; pays nothing, stays inside."""
    keys = np.empty((-(-rows.n // stride), rows.d), narrowest_integer(lattice))
    absent = np.zeros(rows.d, np.int64)
    loop = compiled(write_keys)
    stand_in = np.full(rows.d, np.nan) if missing is None else missing
    seen = begin = 0
    for block in rows.blocks():
        part = np.ascontiguousarray(block[-seen % stride :: stride])
        if loop is None:
            _write_keys(part, lattice, missing, keys[begin:], absent)
        else:
            loop(part, lattice.low, lattice.high, stand_in, lattice.step, lattice.cells, keys[begin:], absent)
        seen, begin = seen + len(block), begin + len(part)
    return LatticeKeys(keys=keys, missing=absent)


@np.errstate(all="ignore")
def _write_keys(
    block: FloatArray,
    lattice: Lattice,
    missing: FloatArray | None,
    keys: NDArray[Any],
    absent: NDArray[np.int64],
) -> None:
    """What the compiled loop does, tile by tile in NumPy."""
    rows = max(1, TILE // block.shape[1])
    for first in range(0, len(block), rows):
        found = lattice.keys(block[first : first + rows], missing)
        lost = np.isnan(found)
        absent += lost.sum(axis=0)
        keys[first : first + len(found)] = np.where(lost, lattice.cells, found)


def private_counts_below(
    keys: LatticeKeys, thresholds: FloatArray, noise: MeteredNoise, *, rho: Fraction, step: str
) -> FloatArray:
    """Noisy number of rows below each column's threshold, missing values counted half.

    Guarantee: rho-zCDP for replacing one row: each doubled count moves by at most 2, all d by √(4d) in ℓ2.
    """
    query = keys.twice_below(thresholds)
    noisy = noise.release(query, squared_sensitivity=4 * len(query), rho=rho, step=step)
    return np.asarray(noisy.astype(np.float64) / 2.0)
