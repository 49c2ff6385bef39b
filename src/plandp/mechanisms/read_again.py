"""Keys of rows that are read again and never brought together.  Proof: docs/proofs/lattice_counts.md."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows, Sums
from plandp.kernels.compiler import compiled
from plandp.kernels.point_tallies import tally_between
from plandp.mechanisms.lattice import EVERY_ROW, Lattice, write_block_keys
from plandp.theory.search_stage import Stage

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class TallyBetween:
    """Block function: how many values of every column lie between neighbouring `points` (d, count + 1); how many miss.

    In place p are those that are below point p and not below the one before; in the last those that are below none.
    """

    lattice: Lattice
    missing: FloatArray | None
    points: FloatArray  # (d, count) in order, public or released
    kind: type[np.int32] | type[np.int64]  # for as many as there are rows

    def __call__(self, block: FloatArray, /) -> Sums:
        """Count the values of the block, each on its own."""
        d, count = self.points.shape
        sums = np.zeros((d, count + 1), self.kind), np.zeros(d, np.int64)
        self.add_to(sums, block, None)
        return sums

    def add_to(self, sums: Sums, block: FloatArray, chosen: NDArray[np.int64] | None, /) -> None:
        """Add those of the block, or of these rows of it."""
        if len(block if chosen is None else chosen) == 0:
            return  # or the loop would take all
        loop, lattice = compiled(tally_between), self.lattice
        if loop is None:
            return self._add(sums, block, chosen)
        loop(
            np.ascontiguousarray(block),
            EVERY_ROW if chosen is None else chosen,
            lattice.low,
            lattice.high,
            np.full(block.shape[1], np.nan) if self.missing is None else self.missing,
            lattice.step,
            lattice.cells,
            self.points,
            *sums,
        )

    def _add(self, sums: Sums, block: FloatArray, chosen: NDArray[np.int64] | None) -> None:
        """What the compiled loop does, column by column in NumPy."""
        tally, absent = sums
        keys = np.empty((len(block if chosen is None else chosen), block.shape[1]), np.int64)
        write_block_keys(block, self.lattice, self.missing, keys, absent, chosen=chosen)
        for column, points, line in zip(keys.T, self.points, tally, strict=True):
            place = np.searchsorted(points, column, side="right")
            line += np.bincount(place, minlength=len(line)).astype(line.dtype)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TalliedPoints:
    """How many keys lie below each of some points.  Not private, never to leave the library."""

    points: FloatArray  # (d, count), in order
    below: NDArray[Any]
    missing: NDArray[np.int64]

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column; thresholds are among its points."""
        column, last = np.arange(len(thresholds)), self.points.shape[1] - 1
        place = np.minimum((self.points < thresholds[:, None]).sum(axis=1), last)
        if not np.array_equal(self.points[column, place], thresholds):
            raise ValueError("a threshold is none of the points that were counted at")
        # no missing value is below: its key is `cells`
        return np.asarray(2 * self.below[column, place].astype(np.int64) + self.missing)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReadAgain:
    """Rows whose keys are too many to be held, or elsewhere: one pass for each stage of a search."""

    rows: Rows
    lattice: Lattice
    missing: FloatArray | None

    def within(self, stage: Stage) -> TalliedPoints:
        """Count the keys below all points of the stage."""
        points, kind = stage.points(), np.int32 if self.rows.n < 2**31 else np.int64
        function = TallyBetween(lattice=self.lattice, missing=self.missing, points=points, kind=kind)
        tally, absent = self.rows.fold(function)
        below = np.cumsum(tally[:, :-1], axis=1, dtype=tally.dtype)
        return TalliedPoints(points=points, below=below, missing=absent)
