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

    def point(self, position: FloatArray) -> FloatArray:
        """The value at a lattice position, inside the box."""
        return np.clip(self.low + position * self.step, self.low, self.high)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SortedKeys:
    """The lattice cells of all values, sorted per column (d, m): counts below a threshold become look-ups.

    Not private, never to leave the library.
    """

    keys: NDArray[Any]  # 16, 32 or 64 bits by the public number of cells; missing values sort last
    missing: NDArray[np.int64]  # per column

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing}: a missing value stands half below and half above."""
        d, m = self.keys.shape
        below = np.empty(d, np.int64)
        count = compiled(count_below) or _count_below
        count(self.keys, thresholds.astype(self.keys.dtype), below)
        # missing values sort last: without them in `below`, each value adds 0, 1 or 2, whatever the threshold
        return np.asarray(2 * np.minimum(below, m - self.missing) + self.missing)


def _count_below(keys: NDArray[Any], wanted: NDArray[Any], below: NDArray[np.int64]) -> None:
    """What the compiled loop does, in NumPy."""
    d, m = keys.shape
    each = np.arange(d)
    low, high = np.zeros(d, np.int64), np.full(d, m, np.int64)
    for _ in range(m.bit_length()):
        middle = (low + high) // 2
        right = (keys[each, np.minimum(middle, m - 1)] < wanted) & (low < high)
        low = np.where(right, middle + 1, low)
        high = np.where(right, high, middle)
    below[:] = low


def narrowest_integer(lattice: Lattice) -> type[np.uint16] | type[np.int32] | type[np.int64]:
    """The smallest type that holds every key, the one of missing values included."""
    largest = lattice.cells.max()
    return np.uint16 if largest < 2**16 else np.int32 if largest < 2**31 else np.int64


def sorted_keys(rows: Rows, lattice: Lattice, missing: FloatArray | None, *, stride: int = 1) -> SortedKeys:
    """Read every `stride`-th of the rows, by number, into sorted lattice keys; pays nothing, stays inside."""
    dtype = narrowest_integer(lattice)
    keys = np.empty((rows.d, -(-rows.n // stride)), dtype)
    absent = np.zeros(rows.d, np.int64)
    loop = compiled(write_keys)
    stand_in = np.full(rows.d, np.nan) if missing is None else missing
    seen = begin = 0
    for block in rows.blocks():
        part = np.ascontiguousarray(block[-seen % stride :: stride])
        if loop is None:
            _write_keys(part, lattice, missing, begin, keys, absent)
        else:
            loop(part, lattice.low, lattice.high, stand_in, lattice.step, lattice.cells, begin, keys, absent)
        seen, begin = seen + len(block), begin + len(part)
    # NumPy sorts 16 bits fast by radix (its stable sort) and more bits fast by vectorised quicksort
    keys.sort(axis=1, kind="stable" if dtype is np.uint16 else None)
    return SortedKeys(keys=keys, missing=absent)


@np.errstate(all="ignore")
def _write_keys(
    block: FloatArray,
    lattice: Lattice,
    missing: FloatArray | None,
    begin: int,
    keys: NDArray[Any],
    absent: NDArray[np.int64],
) -> None:
    """What the compiled loop does, tile by tile in NumPy."""
    rows = max(1, TILE // block.shape[1])
    for first in range(0, len(block), rows):
        found = lattice.keys(block[first : first + rows], missing)
        lost = np.isnan(found)
        absent += lost.sum(axis=0)
        keys[:, begin + first : begin + first + len(found)] = np.where(lost, lattice.cells, found).T


def private_counts_below(
    keys: SortedKeys, thresholds: FloatArray, noise: MeteredNoise, *, rho: Fraction, step: str
) -> FloatArray:
    """Noisy number of rows below each column's threshold, missing values counted half.

    Guarantee: rho-zCDP for replacing one row: each doubled count moves by at most 2, all d by √(4d) in ℓ2.
    """
    query = keys.twice_below(thresholds)
    noisy = noise.release(query, squared_sensitivity=4 * len(query), rho=rho, step=step)
    return np.asarray(noisy.astype(np.float64) / 2.0)
