"""Numbers in columns that can be asked for ranks, held in memory or streamed.  Pays nothing, never leaves the library.

A row may put several numbers into a column, or share one with another row: `copies` bounds how many of a column's
numbers move when one row is replaced.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.errors import ArgumentError
from plandp.mechanisms.lattice import Lattice, narrowest_integer, write_block_keys
from plandp.mechanisms.lattice_counts import LatticeKeys, lattice_keys
from plandp.mechanisms.rank_histogram import RankHistogram, View, as_read, search_edges

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MEMORY = 2**26
"""About how many bytes a stream of keys holds at a time, apart from the block that is read."""

TOGETHER = 16
"""Columns that are taken out of rows of keys at a time: as many as lie side by side in the cache."""

ROWS = 512
"""Rows that they are taken out of at a time: they stay in cache."""

MOST_ROUNDS = 12
"""More rounds of a search are not prepared in one pass: finding the cell among 2^12 costs as much as reading."""


class Ranked(Protocol):
    """Columns of numbers on a public lattice; all but what `twice_below` and `column_keys` return is public."""

    @property
    def lattice(self) -> Lattice:
        """The public lattice of every column."""
        ...

    @property
    def count(self) -> int:
        """The public number of numbers per column, missing ones included."""
        ...

    @property
    def copies(self) -> int:
        """At most so many numbers of a column move when one row is replaced."""
        ...

    def twice_below(self, thresholds: FloatArray) -> IntArray:
        """2·#{key < threshold} + #{missing} for every column: moves by at most 2·copies each."""
        ...

    def column_keys(self) -> Iterator[IntArray]:
        """The sorted keys of one column after the other; missing ones come last, as the number of cells."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HeldKeys:
    """Keys of all numbers in memory.  Not private, never to leave the library."""

    lattice: Lattice
    held: LatticeKeys
    copies: int = 1

    def __post_init__(self) -> None:
        if type(self.copies) is not int or self.copies < 1:
            raise ArgumentError("copies", "must be an int, 1 or more")

    @classmethod
    def of_rows(cls, rows: Rows, lattice: Lattice, missing: FloatArray | None) -> "HeldKeys":
        """The values of the rows themselves: one number per row in every column."""
        return cls(lattice=lattice, held=lattice_keys(rows, lattice, missing))

    @classmethod
    def of_values(cls, values: FloatArray, lattice: Lattice, *, copies: int = 1) -> "HeldKeys":
        """Numbers computed from rows, (count, columns); NaN is missing, the rest is clipped to the lattice."""
        keys, absent = np.empty(values.shape, narrowest_integer(lattice)), np.zeros(values.shape[1], np.int64)
        write_block_keys(values, lattice, None, keys, absent)
        held = LatticeKeys(keys=keys, missing=absent)
        return cls(lattice=lattice, held=held, copies=copies)

    @property
    def count(self) -> int:
        """The number of numbers per column."""
        return len(self.held.keys)

    def twice_below(self, thresholds: FloatArray) -> IntArray:
        """2·#{key < threshold} + #{missing} for every column."""
        return self.held.twice_below(thresholds)

    def column_keys(self) -> Iterator[IntArray]:
        """The sorted keys of one column after the other."""
        keys = self.held.keys
        sortable = np.promote_types(keys.dtype, np.int32)  # 32 bits are sorted faster than 16
        for first in range(0, keys.shape[1], TOGETHER):
            chosen = keys[:, first : first + TOGETHER]
            columns = np.empty(chosen.shape[::-1], sortable)
            for begin in range(0, len(keys), ROWS):
                columns[:, begin : begin + ROWS] = chosen[begin : begin + ROWS].T
            columns.sort(axis=1)
            yield from columns.astype(np.int64)


class StreamedKeys:
    """Keys that are read again for every few rounds of a search, never all held.  Not private.

    The answers are those of `HeldKeys`.  What is kept between questions is of public size: counts between the edges
    that the next rounds can ask for.  How often the rows are read depends on released numbers only.
    """

    copies = 1  # a view makes one number per row in every column

    def __init__(
        self, rows: Rows, lattice: Lattice, missing: FloatArray | None = None, *, view: View = as_read
    ) -> None:
        self.lattice = lattice
        self._rows, self._missing, self._view = rows, missing, view
        self._asked: list[FloatArray] = []
        self._edges = np.empty((len(lattice.cells), 0))
        self._below = np.empty((len(lattice.cells), 0), np.int64)
        self._absent = np.zeros(len(lattice.cells), np.int64)

    @property
    def count(self) -> int:
        """The number of numbers per column: one per row."""
        return self._rows.n

    @property
    def rounds(self) -> int:
        """How many rounds of a search one pass prepares: by the number of columns and the memory alone."""
        return min(MOST_ROUNDS, max(1, (MEMORY // (32 * len(self.lattice.cells))).bit_length() - 1))

    def twice_below(self, thresholds: FloatArray) -> IntArray:
        """2·#{key < threshold} + #{missing} for every column; reads the rows where the last pass did not prepare it."""
        wanted = np.clip(np.floor(thresholds), 0.0, self.lattice.cells)
        place, prepared = self._place(wanted)
        if not prepared:
            self._read(wanted)
            place, _ = self._place(wanted)
        self._asked.append(wanted)
        below = np.take_along_axis(self._below, place[:, None], axis=1)[:, 0]
        return np.asarray(2 * below + self._absent)

    def column_keys(self) -> Iterator[IntArray]:
        """The sorted keys of one column after the other; one pass for as many columns as fit into memory."""
        kind, d = narrowest_integer(self.lattice), len(self.lattice.cells)
        together = max(1, MEMORY // (np.dtype(kind).itemsize * self.count))
        for first in range(0, d, together):
            chosen = slice(first, min(first + together, d))
            yield from self._held(chosen, kind)

    def _held(self, chosen: slice, kind: type[np.generic]) -> Iterator[IntArray]:
        part = self.lattice.of_columns(chosen)
        missing = None if self._missing is None else self._missing[chosen]
        keys = np.empty((len(part.cells), self.count), kind)
        seen = 0
        for block in self._rows.blocks():
            with np.errstate(all="ignore"):
                found = part.keys(self._view(block)[:, chosen], missing)
                keys[:, seen : seen + len(block)] = np.where(np.isnan(found), part.cells, found).T
            seen += len(block)
        for column in keys:
            yield np.sort(column).astype(np.int64)

    def _place(self, wanted: FloatArray) -> tuple[NDArray[np.intp], bool]:
        """Where every column's threshold is among its edges, and whether it is there in all of them."""
        place = np.count_nonzero(self._edges < wanted[:, None], axis=1)
        if self._edges.shape[1] == 0:
            return place, False
        inside = np.minimum(place, self._edges.shape[1] - 1)
        there = np.take_along_axis(self._edges, inside[:, None], axis=1)[:, 0] == wanted
        return inside, bool(there.all())

    def _read(self, wanted: FloatArray) -> None:
        """One pass: counts at all thresholds that the next rounds can ask for."""
        begin, end = np.zeros(len(wanted)), self.lattice.cells
        for asked in self._asked:  # the nearest on both sides: a search stays between them
            begin = np.where((asked < wanted) & (asked > begin), asked, begin)
            end = np.where((asked > wanted) & (asked < end), asked, end)
        left = max(1, ceil(log2(max(2.0, float((end - begin).max())))))  # rounds until all columns are at one cell
        self._edges = search_edges(begin, end, wanted, rounds=min(self.rounds, left))
        counts, self._absent = self._rows.fold(
            RankHistogram(view=self._view, lattice=self.lattice, missing=self._missing, edges=self._edges)
        )
        self._below = np.cumsum(counts[:, :-1], axis=1)
