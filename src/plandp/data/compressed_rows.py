"""The fold over sparse rows in memory, block by block."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from plandp.data.blocks import merge
from plandp.data.rows import Sums
from plandp.data.sparse_rows import SparseBlock, SparseFunction
from plandp.terms.columns import Label


class CompressedRows:
    """Sparse rows from a function that goes through their blocks anew; see `SparseRows` for the guarantee."""

    def __init__(
        self,
        *,
        n: int,
        labels: tuple[Label, ...],
        blocks: Callable[[], Iterable[SparseBlock]],
        passes: int = 0,
        in_memory: bool = False,
    ) -> None:
        self._n = n
        self._labels = labels
        self._blocks = blocks
        self._passes = passes  # that were needed to count the rows
        self.in_memory = in_memory

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self._n

    @property
    def d(self) -> int:
        """The public number of columns."""
        return len(self._labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self._labels

    @property
    def passes(self) -> int:
        """How many times `fold` ran over all rows."""
        return self._passes

    ordered = True

    def fold(self, function: SparseFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        total: Sums | None = None
        with np.errstate(all="ignore"):
            for block in self.blocks():
                part = function(block)
                total = part if total is None else merge(total, part)
        assert total is not None  # there is no table without rows
        return total

    def blocks(self) -> Iterator[SparseBlock]:
        """Return all rows in their order, block by block, for what is not a sum; counts as a pass."""
        self._passes += 1
        yield from self._blocks()
