"""Rows that hold few items, seen as rows of numbers: dense blocks of bounded size, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from plandp.data.blocks import merge
from plandp.data.compressed_rows import CompressedRows
from plandp.data.row_choice import refuse_indices
from plandp.data.rows import BlockFunction, FloatBlock, Sums, adds
from plandp.data.sparse_rows import SparseBlock, SparseRows
from plandp.terms.columns import Label

VALUES_AT_A_TIME = 2**21
"""About how many values are held at a time (16 MiB of float64), however many items the rows hold."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OnDenseBlocks:
    """Sparse block function: the sums of a block function of rows of numbers, a few rows at a time."""

    function: BlockFunction
    d: int

    def __call__(self, block: SparseBlock, /) -> Sums:
        """Add up the block; it is cut by the public d only."""
        total: Sums | None = None
        for part in dense_blocks(block, self.d):
            if total is not None and adds(self.function):
                self.function.add_to(total, part, None)
                continue
            sums = self.function(part)
            total = tuple(each.copy() for each in sums) if total is None else merge(total, sums)
        assert total is not None  # there is no block without rows
        return total


class DenseRows:
    """Sparse rows as `Rows`: items that are there are their value or 1, all others 0.  See `Rows` for the guarantee."""

    def __init__(self, rows: SparseRows) -> None:
        self._rows = rows

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self._rows.n

    @property
    def d(self) -> int:
        """The public number of columns."""
        return self._rows.d

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self._rows.labels

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self._rows.passes

    numbered = True  # by position

    @property
    def ordered(self) -> bool:
        """Whether `blocks` can bring the rows to this process, in their order."""
        return self._rows.ordered

    near = ordered

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        return self._rows.fold(OnDenseBlocks(function=function, d=self.d))

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block, for what is not a sum; counts as a pass."""
        for block in self._rows.blocks():
            yield from dense_blocks(block, self.d)

    def sample(self, indices: NDArray[np.int64], /) -> "DenseRows":
        """Return the rows at these strictly increasing public indices."""
        refuse_indices(indices, self.n)
        chosen = partial(_chosen, self._rows, indices.copy())
        return DenseRows(CompressedRows(n=len(indices), labels=self.labels, blocks=chosen))


def dense_blocks(block: SparseBlock, d: int) -> Iterator[FloatBlock]:
    """The rows of a sparse block as dense blocks of at most VALUES_AT_A_TIME values, or of one row."""
    step = max(1, VALUES_AT_A_TIME // d)
    for first in range(0, len(block.begin) - 1, step):
        begin = block.begin[first : first + step + 1]
        entries = slice(int(begin[0]), int(begin[-1]))
        dense = np.zeros((len(begin) - 1, d))
        row = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        dense[row, block.items[entries]] = 1.0 if block.values is None else block.values[entries]
        yield dense


def _chosen(rows: SparseRows, indices: NDArray[np.int64]) -> Iterator[SparseBlock]:
    seen = 0
    for block in rows.blocks():
        count = len(block.begin) - 1
        low, high = np.searchsorted(indices, [seen, seen + count])
        own = indices[low:high] - seen
        seen += count
        if len(own):
            lengths = np.diff(block.begin)[own]
            begin = np.append(0, np.cumsum(lengths, dtype=np.int64))
            entries = np.repeat(block.begin[own] - begin[:-1], lengths) + np.arange(begin[-1])
            values = None if block.values is None else block.values[entries]
            yield SparseBlock(begin=begin, items=block.items[entries], values=values)
