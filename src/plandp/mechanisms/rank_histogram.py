"""One pass that counts every column's keys between many edges: what a search needs for several rounds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Sums
from plandp.kernels.compiler import compiled
from plandp.kernels.rank_histogram import count_between, count_evenly
from plandp.mechanisms.lattice import Lattice

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

View = Callable[[FloatArray], FloatArray]
"""From a block of rows to the numbers in it, row by row: (rows, columns).  Never writes to the block."""


TILE = 2**15
"""Values that a view shows at a time: they stay in cache."""


def as_read(block: FloatArray) -> FloatArray:
    """The rows themselves."""
    return block


def viewed_tiles(block: FloatArray, view: View, columns: int) -> Iterator[FloatArray]:
    """What the view shows of the block, a few rows at a time, so that they stay in cache: by public sizes alone."""
    rows = max(1, TILE // max(block.shape[1], columns))
    for first in range(0, len(block), rows):
        with np.errstate(all="ignore"):
            values = np.ascontiguousarray(view(block[first : first + rows]))
        yield values


@dataclass(frozen=True, kw_only=True, eq=False)
class RankHistogram:
    """Block function: keys per column before, between and after its edges (d, 2^b), and missing values (d,)."""

    view: View
    lattice: Lattice
    missing: FloatArray | None
    edges: FloatArray  # (d, 2^b - 1), each column's sorted; public or released

    def __call__(self, block: FloatArray, /) -> Sums:
        """Count the values of the block, each on its own."""
        d, edges = self.edges.shape
        sums = np.zeros((d, edges + 1), np.int64), np.zeros(d, np.int64)
        self.add_to(sums, block, None)
        return sums

    def add_to(self, sums: Sums, block: FloatArray, chosen: IntArray | None, /) -> None:
        """Add those of the block, or of these rows of it."""
        for values in viewed_tiles(block if chosen is None else block[chosen], self.view, len(self.edges)):
            self._count(values, *sums)

    @cached_property
    def even(self) -> tuple[FloatArray, FloatArray] | None:
        """Where every column begins and how many of its bins there are to a cell, if edges are 2^j cells apart."""
        first, second = self.edges[:, 0], self.edges[:, min(1, self.edges.shape[1] - 1)]
        width = np.maximum(second - first, 1.0)
        places = np.arange(self.edges.shape[1])
        if np.all(np.frexp(width)[0] == 0.5) and np.all(self.edges == first[:, None] + places * width[:, None]):
            return first - width, 1.0 / width
        return None

    def _count(self, values: FloatArray, counts: IntArray, absent: IntArray) -> None:
        even = self.even
        loop = compiled(count_between if even is None else count_evenly)
        if loop is None:
            return self._count_columns(values, counts, absent)
        lattice = self.lattice
        stand_in = np.full(len(counts), np.nan) if self.missing is None else self.missing
        public = lattice.low, lattice.high, stand_in, lattice.step, lattice.cells
        loop(values, *public, *((self.edges,) if even is None else even), counts, absent)

    @np.errstate(all="ignore")
    def _count_columns(self, values: FloatArray, counts: IntArray, absent: IntArray) -> None:
        """What the compiled loops do, column by column in NumPy."""
        keys = self.lattice.keys(values, self.missing).T
        for column, edges, count in zip(keys, self.edges, counts, strict=True):
            there = column[~np.isnan(column)]
            count += np.bincount(np.searchsorted(edges, there, side="right"), minlength=len(count))
        absent += np.count_nonzero(np.isnan(keys), axis=1)


def search_edges(begin: FloatArray, end: FloatArray, first: FloatArray, *, rounds: int) -> FloatArray:
    """All thresholds that a search can ask for in so many rounds, sorted: `first`, then the middle of what is left."""
    lows, highs, middles = begin[:, None], end[:, None], first[:, None]
    edges = [middles]
    for _ in range(rounds - 1):
        lows, highs = np.hstack([lows, middles]), np.hstack([middles, highs])
        middles = np.floor((lows + highs) / 2.0)
        edges.append(middles)
    return np.ascontiguousarray(np.sort(np.hstack(edges), axis=1))
