"""Rows that hold few items, in the executors of Spark."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from plandp.data.engine_rows import undisclosed, unreadable
from plandp.data.rows import Sums
from plandp.data.spark_parts import Partitions, fold_batches
from plandp.data.sparse_rows import SparseBlock, SparseFunction
from plandp.data.stored_rows import narrowest
from plandp.data.worker import added
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

EMPTY_AT_A_TIME = 2**16


@dataclass(frozen=True, kw_only=True, eq=False)
class FoldItems:
    """Function of an Arrow batch: the number of rows, then the sums of a sparse function."""

    function: SparseFunction
    blocks: Callable[[Any], Iterable[SparseBlock]]

    def size(self, d: int) -> int:
        """How many bytes its sums have, by the public number of columns: those of a row that holds nothing."""
        nothing = SparseBlock(begin=np.zeros(2, np.int64), items=np.empty(0, narrowest(d)), values=np.empty(0))
        return sum(sums.nbytes for sums in self.function(nothing))

    def __call__(self, batch: Any, /) -> Sums:
        """Add up the rows of the batch."""
        total: Sums = ()
        for block in self.blocks(batch):
            total = added(total, (np.array([len(block.begin) - 1]), *self.function(block)))
        return total


class SparkItems:
    """Sparse rows of a frame, and empty ones up to n; see `SparseRows` for the guarantee.

    A fold that did not see as many rows as the one before, or more than n, is refused.
    """

    ordered = in_memory = False

    def __init__(
        self,
        frame: Any,
        blocks: Callable[[Any], Iterable[SparseBlock]],
        *,
        n: int,
        labels: tuple[Label, ...],
        partitions: Partitions,
        passes: int,
        held: bool,
        filled: int | None,
        argument: str = "data",
    ) -> None:
        self._frame = frame
        self._blocks = blocks
        self._partitions = partitions
        self._argument = argument  # that the frame was passed as, for messages
        self._held = held  # by the executors: then a fold is no pass over the data
        self._filled = filled  # rows that are not made up; None: as many as the first fold finds
        self.n, self.d, self.labels, self.passes = n, len(labels), labels, passes

    def fold(self, function: SparseFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        self.passes += not self._held
        task = FoldItems(function=function, blocks=self._blocks)
        found = undisclosed(
            "Spark",
            lambda: fold_batches(self._frame, task, self._partitions, size=task.size(self.d)),
            argument=self._argument,
        )
        if found is None:
            raise unreadable("Spark", argument=self._argument)
        rows = int(found[0][0]) if found else 0
        self._filled = rows if self._filled is None else self._filled
        if rows != self._filled or rows > self.n:
            raise ArgumentError(
                self._argument,
                "Spark brought another number of rows than before: the data changed between passes, so that nothing "
                "is released; write it down or persist it first",
            )
        total = found[1:]
        for block, times in self._empty(self.n - rows):
            total = added(total, tuple(sums * times for sums in function(block)))
        return total

    def blocks(self) -> Iterator[SparseBlock]:
        """Refuse: rows stay with the executors."""
        raise ArgumentError(self._argument, "rows of Spark are not brought together")

    def _empty(self, rows: int) -> Iterator[tuple[SparseBlock, int]]:
        """So many empty rows: equal blocks add equal sums, and one of each size is enough."""
        for size, times in ((EMPTY_AT_A_TIME, rows // EMPTY_AT_A_TIME), (rows % EMPTY_AT_A_TIME, 1)):
            if size and times:
                nothing = np.empty(0, narrowest(self.d))
                yield SparseBlock(begin=np.zeros(size + 1, np.int64), items=nothing, values=np.empty(0)), times
