"""One pass that counts every column's keys between many edges: what a search needs for several rounds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.rank_histogram import count_between
from plandp.mechanisms.lattice_counts import Lattice

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

View = Callable[[FloatArray], FloatArray]
"""From a block of rows to the numbers in it, row by row: (rows, columns).  Never writes to the block."""


def as_read(block: FloatArray) -> FloatArray:
    """The rows themselves."""
    return block


@dataclass(frozen=True, kw_only=True, eq=False)
class RankHistogram:
    """Block function: keys per column before, between and after its edges (d, 2^b), and missing values (d,)."""

    view: View
    lattice: Lattice
    missing: FloatArray | None
    edges: FloatArray  # (d, 2^b - 1), each column's sorted; public or released

    def __call__(self, block: FloatArray, /) -> tuple[NDArray[Any], ...]:
        """Count the values of the block, each on its own."""
        d, edges = self.edges.shape
        counts, absent = np.zeros((d, edges + 1), np.int64), np.zeros(d, np.int64)
        values = np.ascontiguousarray(self.view(block))
        lattice = self.lattice
        loop = compiled(count_between)
        if loop is None:
            self._count(values, counts, absent)
        else:
            stand_in = np.full(d, np.nan) if self.missing is None else self.missing
            public = lattice.low, lattice.high, stand_in, lattice.step, lattice.cells
            loop(values, *public, self.edges, counts, absent)
        return counts, absent

    def _count(self, values: FloatArray, counts: IntArray, absent: IntArray) -> None:
        """What the compiled loop does, column by column in NumPy."""
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
