"""Rows that are not brought to this process, seen as rows that hold few items."""

from collections.abc import Iterator
from dataclasses import dataclass

from plandp.data.dense_items import items_of
from plandp.data.rows import FloatBlock, Rows, Sums
from plandp.data.sparse_rows import SparseBlock, SparseFunction
from plandp.errors import ArgumentError


@dataclass(frozen=True, kw_only=True, eq=False)
class OnItems:
    """Block function: the sums of a sparse one over the cells that count."""

    function: SparseFunction
    binary: bool

    def __call__(self, block: FloatBlock, /) -> Sums:
        """Add up the block."""
        return self.function(items_of(block, binary=self.binary))


class FoldedItems:
    """The rows of an engine as `SparseRows`; see there for the guarantee."""

    ordered = in_memory = False

    def __init__(self, rows: Rows, *, binary: bool) -> None:
        self._rows = rows
        self._binary = binary
        self.n, self.d, self.labels = rows.n, rows.d, rows.labels

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self._rows.passes

    def fold(self, function: SparseFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        return self._rows.fold(OnItems(function=function, binary=self._binary))

    def blocks(self) -> Iterator[SparseBlock]:
        """Refuse: rows stay where they are."""
        raise ArgumentError("data", "rows of an engine are not brought together")
