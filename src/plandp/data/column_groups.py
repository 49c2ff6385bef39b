"""Rows of very many columns that lie one after the other: a few columns are read at a time, and laid side by side.

A reader holds a page or two of every column that it reads, some 2 MB, however few rows are asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from plandp.data import batches
from plandp.data.array import ArrayTable
from plandp.data.arrow_numbers import arrow_floats, arrow_numbers
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import lay_side_by_side
from plandp.data.table import ReadThrough, RowChoice, Table, float_block
from plandp.terms.columns import Label

T = TypeVar("T")

MOST_TOGETHER = 128
"""So many columns are read together; more are read in groups, which takes longer."""

GROUP = 32
"""Columns of a group."""

WINDOW = 3 * 2**24
"""At most so many values (384 MiB) are laid side by side at a time; for the next, rows are read from the first on."""

WHOLE = 2**26
"""So many values (512 MiB) are by one thread, if they are all: usual batches of 65,536 rows, with 1,024 columns, are
read once then.  More threads hold blocks and sums of their own."""

TALLEST = 2**23
"""Of so many rows at most all norms are held (256 MiB, with where they belong)."""

ROWS_AT_A_TIME = batches.VALUES_AT_A_TIME // GROUP


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnGroups:
    """Consecutive rows of columns of numbers."""

    n: int
    labels: tuple[Label, ...]
    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[Any]]  # record batches of these columns, from the first row on

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, nulls as NaN."""
        start, stop = (rows.start, rows.stop) if isinstance(rows, slice) else (int(rows[0]), int(rows[-1]) + 1)
        values = np.empty((stop - start if isinstance(rows, slice) else len(rows), len(self.names)))
        for place in range(0, len(self.names), GROUP):
            names = self.names[place : place + GROUP]
            begin = done = 0
            for batch in self.batches(names):
                end = begin + batch.num_rows
                if isinstance(rows, slice):
                    first, last = max(start, begin), max(min(stop, end), start)
                    own = batch.slice(first - begin, max(0, last - first))
                else:
                    own = batch.take(rows[done : np.searchsorted(rows, end)] - begin)
                if own.num_rows:
                    numbers = [arrow_numbers(own.column(name)) for name in names]
                    with np.errstate(all="ignore"):  # a NaN that signals is a value like any other
                        lay_side_by_side(numbers, values[done : done + own.num_rows], place=place)
                begin, done = end, done + own.num_rows
                if end >= stop:
                    break
            if done != len(values):  # or what was in memory before would count as rows
                raise EOFError("a group of rows is shorter than the file says")
        return float_block(values)

    def groups(self) -> Iterator[tuple[int, int, list[FloatBlock]]]:
        """Go through all rows of some columns, then of the next: a row, a column, and what begins there, by columns."""
        for place in range(0, len(self.names), GROUP):
            names = self.names[place : place + GROUP]
            begin = 0
            for batch in self.batches(names):
                first, begin = begin, begin + batch.num_rows
                if begin > self.n:
                    break
                with np.errstate(all="ignore"):  # a NaN that signals is a value like any other
                    columns = [arrow_floats(batch.column(name)) for name in names]
                yield first, place, columns
                del columns
            if begin != self.n:
                raise EOFError("a group of rows has another length than the file says")


def groups_in(table: Table) -> Callable[[], Iterator[tuple[int, int, list[FloatBlock]]]] | None:
    """Return how to go through a table by groups of columns, if it is one that does not fit into memory."""
    own = table.table if isinstance(table, ReadThrough) else table
    if not isinstance(own, ColumnGroups):
        return None
    return partial(_through, table.reader, own.groups) if isinstance(table, ReadThrough) else own.groups


def in_stretches(table: Table, *, whole: int) -> Iterator[Table]:
    """Return a table in stretches of rows that fit into memory; others than groups of columns as they are.

    One of up to so many values in one stretch, if that is more than `WINDOW`.
    """
    if groups_in(table) is None or table.n == 0:
        yield table
        return
    step = -(-table.n // _count_of_stretches(table, whole))  # equally long: so the least is read again
    for first in range(0, table.n, step):
        yield ArrayTable(array=table.read(slice(first, min(first + step, table.n))), labels=table.labels)


def worth_two_looks(table: Table) -> bool:
    """Whether to go through all rows of a table twice, by groups of columns, reads less than its stretches.

    For each of these rows are read from the first on: half of them for the average stretch.
    """
    return groups_in(table) is not None and table.n <= TALLEST and _count_of_stretches(table, WHOLE) + 1 > 2 * 2


def _count_of_stretches(table: Table, whole: int) -> int:
    if table.n * len(table.labels) <= whole:
        return 1
    return -(-table.n // max(1, WINDOW // len(table.labels)))


def _through(reader: Callable[[Callable[[], T | None]], T | None], begin: Callable[[], Iterator[T]]) -> Iterator[T]:
    """What comes from an iterator, each piece of it read by `reader`."""
    pieces = begin()
    while (piece := reader(partial(next, pieces, None))) is not None:
        yield piece
        del piece
