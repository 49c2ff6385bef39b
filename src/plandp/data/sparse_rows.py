"""What the sparse path may ask of a source: its public shape, and a fold over rows that hold few items."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from plandp.data.rows import RowSource, Sums


@dataclass(frozen=True, eq=False, repr=False)
class SparseBlock:
    """Some rows in compressed form: row r holds the items at begin[r] … begin[r+1]-1, each item at most once.

    Every item lies within 0 … d-1.  `values` are above zero and not NaN (infinity is possible, and clipped by those
    who read it); None means that each item that is there counts one.  It may be a view of the caller's memory: never
    written to, and not private.
    """

    begin: NDArray[Any]  # (rows + 1,), int32 or int64; fewer than 2^31 rows
    items: NDArray[Any]  # int32 or int64
    values: NDArray[Any] | None  # any real dtype


class SparseFunction(Protocol):
    """A pure, picklable value that turns a block of rows into integer sums."""

    def __call__(self, block: SparseBlock, /) -> Sums:
        """Return the sums over the rows of `block`; the shapes must not depend on the values."""
        ...


class SparseRows(RowSource, Protocol):
    """A source of sparse rows that can be folded.

    Guarantee: passes are repeatable, each of the n rows is in exactly one block (a row without items too), and blocks
    merge by integer addition, so that order and block size never show in a result.
    """

    @property
    def ordered(self) -> bool:
        """Whether `blocks` can bring the rows to this process, in their order."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether rows lie in the memory of this process: every pass finds the same ones at the same places."""
        ...

    def fold(self, function: SparseFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        ...

    def blocks(self) -> Iterator[SparseBlock]:
        """Return all rows in their order, block by block, for what is not a sum; counts as a pass."""
        ...
