"""d counts at once: how many rows lie below each column's threshold.  Proof: docs/proofs/lattice_counts.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.blocks import blocks_in_place
from plandp.data.parts import parts_of
from plandp.data.rows import PartedRows, Rows, Sums
from plandp.kernels.compiler import compiled
from plandp.kernels.lattice_keys import count_below, tally_around, tally_values, write_keys
from plandp.mechanisms.sorted_keys import SortedKeys
from plandp.noise.meter import MeteredNoise
from plandp.terms.columns import Columns

FloatArray = NDArray[np.float64]

TILE = 2**17  # values worked on at a time: they stay in cache

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

EVERY_ROW = np.empty(0, np.int64)


class CountedKeys(Protocol):
    """Keys of rows that can be counted below thresholds.  Not private, never to leave the library."""

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column."""
        ...


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
        _write_keys(block, self.lattice, self.missing, keys, absent, chosen=chosen)
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


def narrowest_integer(lattice: Lattice) -> type[np.uint16] | type[np.int32] | type[np.int64]:
    """The smallest type that holds every key, the one of missing values included."""
    largest = lattice.cells.max()
    return np.uint16 if largest < 2**16 else np.int32 if largest < 2**31 else np.int64


def lattice_keys(rows: Rows, lattice: Lattice, missing: FloatArray | None) -> LatticeKeys:
    """Read the rows as lattice keys; pays nothing, stays inside."""
    keys = np.empty((rows.n, rows.d), narrowest_integer(lattice))
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


@dataclass(frozen=True, kw_only=True, eq=False)
class TallyAround:
    """Block function: how many keys lie below every point of a window that begins at `base`; how many are missing."""

    lattice: Lattice
    missing: FloatArray | None
    base: NDArray[np.int64]  # public or released
    points: int

    def __call__(self, block: FloatArray, /) -> Sums:
        """Count the values of the block, each on its own."""
        keys = np.empty(block.shape, narrowest_integer(self.lattice))
        absent = np.zeros(block.shape[1], np.int64)
        write_block_keys(block, self.lattice, self.missing, keys, absent)
        base = self.base
        if keys.dtype == np.int64:  # what lies outside of the window may as well lie next to it
            keys = np.minimum(np.maximum(keys - base, -1), self.points).astype(np.int32)
            base = np.zeros_like(base)
        below = np.empty((block.shape[1], self.points + 2), np.int32)
        loop = compiled(tally_around) or _tally_around
        loop(keys, base.astype(np.int32), below)
        return below.astype(np.int64), absent


class ReadAgain:
    """Rows that are read again and never brought together: their keys are too many, or elsewhere.

    A pass tallies all keys around the thresholds; as long as later thresholds are near, they are looked up.
    """

    def __init__(self, rows: Rows, lattice: Lattice, missing: FloatArray | None) -> None:
        self._rows, self._lattice, self._missing = rows, lattice, missing
        self._points = min(WINDOW, max(2, SENT // (8 * rows.d)))
        self._base = np.full(rows.d, -(2**62))  # nothing is tallied yet
        self._below = self._absent = np.empty(0, np.int64)

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column, from tallies or one more pass."""
        asked = np.minimum(np.maximum(thresholds, 0.0), self._lattice.cells).astype(np.int64)
        if np.any((asked < self._base) | (asked > self._base + self._points)):
            self._base = asked - self._points // 2
            around = TallyAround(lattice=self._lattice, missing=self._missing, base=self._base, points=self._points)
            self._below, self._absent = self._rows.fold(around)
        below = self._below[np.arange(len(asked)), asked - self._base]
        return np.asarray(2 * below + self._absent)  # no missing value is below: its key is `cells`


def counted_keys(rows: Rows, lattice: Lattice, missing: FloatArray | None, *, stride: int) -> CountedKeys:
    """Every `stride`-th of the rows, by number, to be counted: tallied, held or read again, as public sizes decide."""
    chosen = rows if stride == 1 else rows.sample(np.arange(0, rows.n, stride))
    kind, points = np.dtype(narrowest_integer(lattice)), int(lattice.cells.max()) + 1
    size = chosen.n * chosen.d * kind.itemsize
    tallied = kind == np.uint16 and 4 * points * chosen.d <= TALLIED * size
    if chosen.near and size <= HELD and not tallied:
        keys = lattice_keys(chosen, lattice, missing)
        if compiled(count_below) is None:
            return SortedKeys.of(keys.keys, keys.missing)
        return NarrowedKeys(keys) if points <= 2**30 and size >= NARROWED else keys
    small = kind == np.uint16 and 4 * points * chosen.d <= SENT and chosen.n < 2**31
    if (chosen.near and size <= HELD) or small:
        return TalliedKeys.of(chosen, lattice, missing)
    return ReadAgain(chosen, lattice, missing)


def private_counts_below(
    keys: CountedKeys, thresholds: FloatArray, noise: MeteredNoise, *, rho: Fraction, step: str
) -> FloatArray:
    """Noisy number of rows below each column's threshold, missing values counted half.

    Guarantee: rho-zCDP for replacing one row: each doubled count moves by at most 2, all d by √(4d) in ℓ2.
    """
    query = keys.twice_below(thresholds)
    noisy = noise.release(query, squared_sensitivity=4 * len(query), rho=rho, step=step)
    return np.asarray(noisy.astype(np.float64) / 2.0)
