"""A public lattice over the bounds of every column, and the cells of values in it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.lattice_keys import write_keys
from plandp.terms.columns import Columns

FloatArray = NDArray[np.float64]

TILE = 2**17  # values worked on at a time: they stay in cache

EVERY_ROW = np.empty(0, np.int64)


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

    def keys(self, block: FloatArray, missing: FloatArray | None) -> FloatArray:
        """The cell of every value, 0 … cells-1; NaN stays NaN unless a public value stands for it."""
        x = np.asarray(np.maximum(block, self.low))
        np.minimum(x, self.high, out=x)
        if missing is not None:
            np.copyto(x, missing, where=np.isnan(x))
        x -= self.low
        x /= self.step
        np.floor(x, out=x)
        return np.asarray(np.minimum(x, self.cells - 1.0, out=x))

    def of_columns(self, chosen: slice) -> "Lattice":
        """The lattice of some of the columns."""
        return Lattice(low=self.low[chosen], high=self.high[chosen], step=self.step[chosen], cells=self.cells[chosen])

    def point(self, position: FloatArray) -> FloatArray:
        """The value at a lattice position, inside the box."""
        return np.clip(self.low + position * self.step, self.low, self.high)


def narrowest_integer(lattice: Lattice) -> type[np.uint16] | type[np.int32] | type[np.int64]:
    """The smallest type that holds every key, the one of missing values included."""
    largest = lattice.cells.max()
    return np.uint16 if largest < 2**16 else np.int32 if largest < 2**31 else np.int64


def write_block_keys(
    block: FloatArray,
    lattice: Lattice,
    missing: FloatArray | None,
    keys: NDArray[Any],
    absent: NDArray[np.int64],
    *,
    chosen: NDArray[np.int64] | None = None,
) -> None:
    """Write the keys of the block, or of these rows of it, to `keys`, and add missing ones to `absent`."""
    assert len(keys) == len(block if chosen is None else chosen)  # the loop would write on
    if len(keys) == 0:
        return  # of no chosen rows the loop would take all
    loop = compiled(write_keys)
    if loop is None:
        return _write_keys(block, lattice, missing, keys, absent, chosen=chosen)
    stand_in = np.full(block.shape[1], np.nan) if missing is None else missing
    loop(
        np.ascontiguousarray(block),
        EVERY_ROW if chosen is None else chosen,
        lattice.low,
        lattice.high,
        stand_in,
        lattice.step,
        lattice.cells,
        keys,
        absent,
    )


@np.errstate(all="ignore")
def _write_keys(
    block: FloatArray,
    lattice: Lattice,
    missing: FloatArray | None,
    keys: NDArray[Any],
    absent: NDArray[np.int64],
    *,
    chosen: NDArray[np.int64] | None = None,
) -> None:
    """What the compiled loop does, tile by tile in NumPy."""
    rows = max(1, TILE // block.shape[1])
    for first in range(0, len(keys), rows):
        tile = slice(first, first + rows)
        found = lattice.keys(block[tile if chosen is None else chosen[tile]], missing)
        lost = np.isnan(found)
        if lost.any():
            absent += np.count_nonzero(lost, axis=0)
            np.copyto(found, lattice.cells, where=lost)
        keys[tile] = found
