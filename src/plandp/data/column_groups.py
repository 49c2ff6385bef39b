"""Rows of very many columns that lie one after the other: a few columns are read at a time, and laid side by side.

A reader holds a page or two of every column that it reads, some 2 MB, however few rows are asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plandp.data import batches
from plandp.data.array import ArrayTable
from plandp.data.arrow_numbers import arrow_numbers
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import lay_side_by_side
from plandp.data.table import RowChoice, Table, float_block
from plandp.terms.columns import Label

MOST_TOGETHER = 128
"""So many columns are read together; more are read in groups, which takes longer."""

GROUP = 32
"""Columns of a group."""

WINDOW = 3 * 2**24
"""At most so many values (384 MiB) are laid side by side at a time; for the next, rows are read from the first on."""

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
                    lay_side_by_side(numbers, values[done : done + own.num_rows], place=place)
                begin, done = end, done + own.num_rows
                if end >= stop:
                    break
            if done != len(values):  # or what was in memory before would count as rows
                raise EOFError("a group of rows is shorter than the file says")
        return float_block(values)


def windows(rows: ColumnGroups, *, picked: bool) -> Iterator[Table]:
    """Return the rows in stretches that fit into memory, or as they are where only some are picked of them."""
    if rows.n == 0:  # a part of a file may be empty
        return
    if picked:
        yield rows
        return
    most = max(1, WINDOW // len(rows.names))
    step = -(-rows.n // -(-rows.n // most))  # windows are equally long: so the least is read again
    for first in range(0, rows.n, step):
        yield ArrayTable(array=rows.read(slice(first, min(first + step, rows.n))), labels=rows.labels)
