"""The fold over a table in memory: cut it by its public shape, add up the sums of its blocks."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.chosen_rows import ChosenRows
from plandp.data.row_choice import refuse_indices
from plandp.data.rows import BlockFunction, FloatBlock, Sums
from plandp.data.table import Table
from plandp.terms.columns import Label

VALUES_PER_BLOCK = 2**22
"""About how many values are read at a time (32 MiB of float64); more, and merging sums costs less than adding up."""

HELD = 6
"""A sample of up to a sixth of the rows is copied and held, which is faster; a larger one would take much memory."""


class TableRows:
    """The rows of one table in memory; see `Rows` for the guarantee."""

    def __init__(self, table: Table, *, progress: bool = False) -> None:
        self._table = table
        self._progress = progress
        self._passes = 0

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self._table.n

    @property
    def d(self) -> int:
        """The public number of columns."""
        return len(self._table.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self._table.labels

    @property
    def passes(self) -> int:
        """How many times `fold` ran over all rows."""
        return self._passes

    numbered = ordered = True  # by position

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        total: Sums | None = None
        for block in self.blocks():
            with np.errstate(all="ignore"):
                part = function(block)
                total = tuple(sums.copy() for sums in part) if total is None else merge(total, part)
        assert total is not None  # there is no table without rows
        return total

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block, for what is not a sum; counts as a pass."""
        self._passes += 1
        step = max(1, VALUES_PER_BLOCK // self.d)
        starts: Iterable[int] = range(0, self.n, step)
        if self._progress:
            from tqdm.auto import tqdm

            starts = tqdm(starts, desc="reading rows", unit="block", leave=False)
        for start in starts:
            with np.errstate(all="ignore"):
                block = self._table.read(slice(start, min(start + step, self.n)))
            yield block

    def sample(self, indices: NDArray[np.int64], /) -> "TableRows":
        """Return the rows at these strictly increasing public indices; a small part of them is held in memory."""
        refuse_indices(indices, self.n)
        if HELD * len(indices) > self.n:
            return TableRows(ChosenRows(table=self._table, indices=indices.copy()), progress=self._progress)
        with np.errstate(all="ignore"):
            return TableRows(ArrayTable(array=self._table.read(indices), labels=self.labels), progress=self._progress)


def merge(left: Sums, right: Sums) -> Sums:
    """Add `right` to `left` in place, and return it."""
    for total, part in zip(left, right, strict=True):
        np.add(total, part, out=total)
    return left
