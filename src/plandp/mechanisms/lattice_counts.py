"""d counts at once: how many rows lie below each column's threshold.  Proof: docs/proofs/lattice_counts.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.blocks import blocks_in_place
from plandp.data.parts import parts_of
from plandp.data.rows import PartedRows, Rows, Sums
from plandp.kernels.compiler import compiled
from plandp.kernels.lattice_keys import count_below, tally_around, tally_values
from plandp.mechanisms.lattice import EVERY_ROW, Lattice, narrowest_integer, write_block_keys
from plandp.mechanisms.read_again import ReadAgain
from plandp.mechanisms.sorted_keys import SortedKeys
from plandp.noise.meter import MeteredNoise

FloatArray = NDArray[np.float64]

HELD = 2**29
"""So many bytes of keys are held and asked again in every round; where there are more, the rows are read again."""

TALLIED = 2.0
"""Where tables of tallies take up to so many times the memory of the keys, they are made instead."""

NARROWED = 2**24
"""From so many bytes of keys on, those around the thresholds are tallied once a search has come near its end."""

WINDOW = 512
"""Lattice points around a threshold that are tallied."""

FEW = 64
"""One column in so many may be far from where it was before."""

SENT = 2**24
"""Where rows are far away, tallies of up to so many bytes are brought from there."""

TOGETHER = 64
"""Lattice points whose tallies are added up together, once; those in the block of a threshold in every round."""


class CountedKeys(Protocol):
    """Keys of rows that can be counted below thresholds.  Not private, never to leave the library."""

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatticeKeys:
    """The lattice cells of all values (m, d).  Not private, never to leave the library."""

    keys: NDArray[Any]  # 16, 32 or 64 bits by the public number of cells; `cells` itself stands for missing
    missing: NDArray[np.int64]  # per column

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing}: a missing value stands half below and half above."""
        below = np.zeros(self.keys.shape[1], np.int64)
        count = compiled(count_below) or _count_below
        count(self.keys, thresholds.astype(self.keys.dtype), below)
        return self.doubled(below)

    def doubled(self, below: NDArray[np.int64]) -> NDArray[np.int64]:
        """What is told of these numbers of keys below thresholds.

        Without missing values in `below`, whose key is the largest, each value adds 0, 1 or 2 at any threshold.
        """
        return np.asarray(2 * np.minimum(below, len(self.keys) - self.missing) + self.missing)


def _count_below(keys: NDArray[Any], wanted: NDArray[Any], below: NDArray[np.int64]) -> None:
    """What the compiled loop does, in NumPy; a search has keys in order instead."""
    below += np.count_nonzero(keys < wanted, axis=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """Block function: how many values of every column have each key, and how many are missing.

    (d, cells + 1), and zeros up to a whole number of blocks of `TOGETHER` keys.
    """

    lattice: Lattice
    missing: FloatArray | None

    def __call__(self, block: FloatArray, /) -> Sums:
        """Count the values of the block, each on its own."""
        d = block.shape[1]
        points = int(self.lattice.cells.max()) + 1
        sums = np.zeros((d, points + -points % TOGETHER), np.int32), np.zeros(d, np.int64)
        self.add_to(sums, block, None)
        return sums

    def add_to(self, sums: Sums, block: FloatArray, chosen: NDArray[np.int64] | None, /) -> None:
        """Add those of the block, or of these rows of it."""
        if chosen is not None and len(chosen) == 0:
            return  # or the loop would take all
        loop, lattice = compiled(tally_values), self.lattice
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
            *sums,
        )

    def _add(self, sums: Sums, block: FloatArray, chosen: NDArray[np.int64] | None) -> None:
        """What the compiled loop does, column by column in NumPy."""
        count = len(block) if chosen is None else len(chosen)
        keys = np.empty((count, block.shape[1]), narrowest_integer(self.lattice))
        tally, absent = sums
        write_block_keys(block, self.lattice, self.missing, keys, absent, chosen=chosen)
        for column, line in zip(keys.T, tally, strict=True):
            first = int(column.min(initial=len(line) - 1))
            found = np.bincount(column - first)
            line[first : first + len(found)] += found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TalliedKeys:
    """How many keys lie at every lattice point and before each block of them.  Not private, never to leave the library.

    Most of a table is never written to, and takes no memory then: so it is not turned into sums up to every point.
    """

    tally: NDArray[np.int32]  # (d, points), as in `Tally`
    before: NDArray[np.int64]  # (d, blocks + 1): keys below each block, and below the end
    there: NDArray[np.int64]  # per column: values that are not missing
    missing: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, lattice: Lattice, missing: FloatArray | None) -> "TalliedKeys":
        """Count all rows once for all thresholds."""
        tally, absent = rows.fold(Tally(lattice=lattice, missing=missing))
        before = np.zeros((len(tally), tally.shape[1] // TOGETHER + 1), np.int64)
        np.cumsum(np.einsum("cbp->cb", tally.reshape(len(tally), -1, TOGETHER)), axis=1, out=before[:, 1:])
        return cls(tally=tally, before=before, there=rows.n - absent, missing=absent)

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column, as `LatticeKeys` has it."""
        point = np.clip(thresholds, 0.0, self.tally.shape[1]).astype(np.intp)
        column, block = np.arange(len(point)), point // TOGETHER
        rest = np.arange(TOGETHER) < (point - block * TOGETHER)[:, None]  # none where the block is past the end
        last = np.minimum(block, self.before.shape[1] - 2)
        in_block = self.tally.reshape(len(point), -1, TOGETHER)[column, last]
        below = self.before[column, block] + (in_block * rest).sum(axis=1)
        return np.asarray(2 * np.minimum(below, self.there) + self.missing)


class NarrowedKeys:
    """Keys that are tallied around where a search has come to: later thresholds are looked up there.

    The same integers as those of `LatticeKeys`; which way they are found follows from thresholds, public or released.
    """

    def __init__(self, held: LatticeKeys) -> None:
        self._held = held
        self._before: FloatArray | None = None
        self._base = np.zeros(0, np.int32)
        self._below: NDArray[np.int32] | None = None

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column."""
        found = self._looked_up(thresholds)
        if found is None and self._before is not None and _few(abs(thresholds - self._before) > WINDOW // 4):
            self._tally(thresholds)
            found = self._looked_up(thresholds)
        self._before = thresholds
        return self._held.twice_below(thresholds) if found is None else self._held.doubled(found)

    def _tally(self, thresholds: FloatArray) -> None:
        self._base = thresholds.astype(np.int32) - np.int32(WINDOW // 2)
        self._below = np.empty((len(thresholds), WINDOW + 2), np.int32)
        loop = compiled(tally_around) or _tally_around
        loop(self._held.keys, self._base, self._below)

    def _looked_up(self, thresholds: FloatArray) -> NDArray[np.int64] | None:
        """Numbers of keys below, where there are tallies for nearly all; keys of the other columns are counted."""
        if self._below is None:
            return None
        place = thresholds - self._base
        outside = (place < 0) | (place > WINDOW)
        if not _few(outside):
            return None
        point = np.minimum(np.maximum(place, 0), WINDOW).astype(np.intp)
        below = self._below[np.arange(len(point)), point].astype(np.int64)
        below[outside] = np.count_nonzero(self._held.keys[:, outside] < thresholds[outside], axis=0)
        return below


def _few(columns: NDArray[np.bool_]) -> bool:
    return bool(FEW * np.count_nonzero(columns) <= len(columns))


def _tally_around(keys: NDArray[Any], base: NDArray[np.int32], below: NDArray[np.int32]) -> None:
    """What the compiled loop does, column by column in NumPy."""
    last = below.shape[1] - 1
    for column, low, line in zip(keys.T, base, below, strict=True):
        place = np.minimum(np.maximum(column.astype(np.int64) - int(low) + 1, 0), last)
        line[:] = np.cumsum(np.bincount(place, minlength=last + 1))


def lattice_keys(
    rows: Rows, lattice: Lattice, missing: FloatArray | None, *, order: Literal["C", "F"] = "C"
) -> LatticeKeys:
    """Read the rows as lattice keys, which lie in memory by rows (C) or columns (F); pays nothing, stays inside."""
    keys = np.empty((rows.n, rows.d), narrowest_integer(lattice), order)
    absent = np.zeros(rows.d, np.int64)
    if isinstance(rows, PartedRows):
        for first, place, block in parts_of(rows):
            some, columns = slice(first, first + len(block)), slice(place, place + block.shape[1])
            found = np.empty(block.shape, keys.dtype)
            stand_in = None if missing is None else missing[columns]
            write_block_keys(block, lattice.of_columns(columns), stand_in, found, absent[columns])
            keys[some, columns] = found
            del block
        return LatticeKeys(keys=keys, missing=absent)
    begin = 0
    for block, chosen in blocks_in_place(rows):
        count = len(block) if chosen is None else len(chosen)
        write_block_keys(block, lattice, missing, keys[begin : begin + count], absent, chosen=chosen)
        begin += count
    return LatticeKeys(keys=keys, missing=absent)


def counted_keys(rows: Rows, lattice: Lattice, missing: FloatArray | None, *, stride: int) -> CountedKeys | ReadAgain:
    """Every `stride`-th of the rows, by number, to be counted: tallied, held or read again, as public sizes decide."""
    chosen = rows if stride == 1 else rows.sample(np.arange(0, rows.n, stride))
    kind, points = np.dtype(narrowest_integer(lattice)), int(lattice.cells.max()) + 1
    size = chosen.n * chosen.d * kind.itemsize
    tallied = kind == np.uint16 and 4 * points * chosen.d <= TALLIED * size
    if chosen.near and size <= HELD and not tallied:
        if compiled(count_below) is None:
            found = lattice_keys(chosen, lattice, missing, order="F")
            return SortedKeys.of(found.keys, found.missing)
        keys = lattice_keys(chosen, lattice, missing)
        return NarrowedKeys(keys) if points <= 2**30 and size >= NARROWED else keys
    small = kind == np.uint16 and 4 * points * chosen.d <= SENT and chosen.n < 2**31
    if (chosen.near and size <= HELD) or small:
        return TalliedKeys.of(chosen, lattice, missing)
    return ReadAgain(rows=chosen, lattice=lattice, missing=missing)


def private_counts_below(
    keys: CountedKeys, thresholds: FloatArray, noise: MeteredNoise, *, rho: Fraction, step: str
) -> FloatArray:
    """Noisy number of rows below each column's threshold, missing values counted half.

    Guarantee: rho-zCDP for replacing one row: each doubled count moves by at most 2, all d by √(4d) in ℓ2.
    """
    query = keys.twice_below(thresholds)
    noisy = noise.release(query, squared_sensitivity=4 * len(query), rho=rho, step=step)
    return np.asarray(noisy.astype(np.float64) / 2.0)
