"""What a worker of an engine does with its part of the rows: fold it, or pick some of its rows by their numbers.

Only sums leave a worker, and a part that cannot be added up leaves `None`: an exception would carry cells into the logs
of the engine and to the driver.  What the engine itself fails to bring is raised, so that it tries again.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.blocks import VALUES_PER_BLOCK, merge
from plandp.data.folded_items import OnItems
from plandp.data.row_choice import places_among
from plandp.data.row_numbers import SUMS, NumberSums, number_sums
from plandp.data.rows import BlockFunction, FloatBlock, Sums, adds
from plandp.data.table import Table

T = TypeVar("T")

PartSums = Sums | None
"""The sums over some parts, the number of their rows in front; empty if there are no rows, None if one failed."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Part:
    """Some rows on a worker, and their public numbers: from `first` on, or in a table of one column, or none."""

    table: Table
    first: int | None = None
    column: Table | None = None

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block."""
        for rows in self._stretches():
            yield self.table.read(rows)

    def picked(self, numbers: NDArray[np.int64]) -> "Part":
        """Return the rows that have one of these numbers, held in memory."""
        values, kept = [np.empty((0, len(self.table.labels)))], [np.empty(0)]
        for rows in self._stretches():
            own = self._numbers(rows)
            chosen = np.flatnonzero(places_among(own, numbers) >= 0)
            if len(chosen):
                values.append(self.table.read(rows)[chosen])
                kept.append(own[chosen])
        return Part(
            table=ArrayTable(array=np.concatenate(values), labels=self.table.labels),
            column=ArrayTable(array=np.concatenate(kept)[:, np.newaxis], labels=(0,)),
        )

    def occurrences(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each of these numbers occurs."""
        counts = np.zeros(len(numbers), np.int64)
        for rows in self._stretches():
            place = places_among(self._numbers(rows), numbers)
            np.add.at(counts, place[place >= 0], 1)
        return counts

    def number_sums(self, n: int) -> NumberSums:
        """Return the sums by which the numbers of all n rows are checked."""
        sums = np.zeros(SUMS, np.uint64)
        for rows in self._stretches():
            sums += number_sums(self._numbers(rows), n)
        return sums

    def _stretches(self) -> Iterator[slice]:
        step = max(1, VALUES_PER_BLOCK // len(self.table.labels))
        for start in range(0, self.table.n, step):
            yield slice(start, min(start + step, self.table.n))

    def _numbers(self, rows: slice) -> NDArray[np.float64]:
        if self.column is not None:
            return self.column.read(rows)[:, 0]
        assert self.first is not None  # only rows with numbers are picked
        return np.arange(self.first + rows.start, self.first + rows.stop, dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class FoldBlocks:
    """Part function: the number of rows, the sums of their numbers where those are checked, those of a function."""

    function: BlockFunction
    numbers_below: int | None = None  # the n of all parts, where numbers are checked

    def size(self, d: int) -> int:
        """How many bytes its sums have, by the public number of columns; 0 where that is not known beforehand."""
        if not (adds(self.function) or isinstance(self.function, OnItems)):
            return 0
        return sum(sums.nbytes for sums in self.function(np.zeros((1, d))))  # of a row, which all functions take

    def __call__(self, part: Part, /) -> Sums:
        """Add up the part, block by block."""
        function, count = self.function, 0
        sums: Sums = ()
        for block in part.blocks():
            if adds(function) and sums:
                function.add_to(sums, block, None)
            else:
                sums = added(sums, function(block))
            count += len(block)
        if not sums:
            return ()
        numbers = () if self.numbers_below is None else (part.number_sums(self.numbers_below),)
        return np.array([count]), *numbers, *sums


@dataclass(frozen=True, kw_only=True, eq=False)
class Occurrences:
    """Part function: how often each of the numbers occurs."""

    numbers: NDArray[np.int64]

    def size(self, d: int) -> int:
        """How many bytes its counts have."""
        return self.numbers.nbytes

    def __call__(self, part: Part, /) -> Sums:
        """Count the numbers of the part."""
        return (part.occurrences(self.numbers),)


PartFunction = FoldBlocks | Occurrences


def fold_parts(function: Callable[[T], Sums], parts: Iterable[T]) -> PartSums:
    """Return the sums over these parts; nothing raises or warns but, without its text, what the parts themselves raise.

    A part that the engine could not bring is its own affair: it takes what is returned for a success, and what is
    raised for something to be tried again, from the first part on.
    """
    total: Sums = ()
    for part in brought(parts):
        try:
            with np.errstate(all="ignore"):
                total = added(total, function(part))
        except Exception:  # its text could hold cells
            return None
    return total


def brought(parts: Iterable[T]) -> Iterator[T]:
    """Return the parts that an engine brings; where it fails, that is raised without its text."""
    waiting = iter(parts)
    while found := without_cells(lambda: tuple(islice(waiting, 1))):
        yield found[0]


def without_cells(call: Callable[[], T]) -> T:
    """Return what a call returns; what it raises is raised without its text, which could hold cells."""
    try:
        with np.errstate(all="ignore"):
            return call()
    except Exception:
        pass
    raise RuntimeError("a part of the data could not be read")


def merge_parts(found: Iterable[PartSums]) -> PartSums:
    """Return the sums of sums; what was found is left alone, since an engine may hand it out again."""
    total: Sums = ()
    for sums in found:
        if sums is None:
            return None
        total = added(total, sums)
    return total


def added(total: Sums, sums: Sums) -> Sums:
    """Return total + sums, written to `total`; an empty one has no rows."""
    if not total:
        return tuple(each.copy() for each in sums)
    return merge(total, sums) if sums else total
