"""What the rest of plandp may ask of a table: its public shape, and a fold over its rows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeGuard, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Label

FloatBlock = NDArray[np.float64]
"""Some rows, shape (rows, d), C order; it may be a read-only view of the caller's memory."""

Sums = tuple[NDArray[Any], ...]
"""Integer arrays (int64 or object), merged by element-wise addition."""


class BlockFunction(Protocol):
    """A pure, picklable value that turns a block of rows into integer sums and never writes to the block."""

    def __call__(self, block: FloatBlock, /) -> Sums:
        """Return the sums over the rows of `block`; the shapes must not depend on the values."""
        ...


class AddingFunction(BlockFunction, Protocol):
    """A block function that can add to sums it made before, and read some rows of a block where they lie."""

    def add_to(self, sums: Sums, block: FloatBlock, chosen: NDArray[np.int64] | None, /) -> None:
        """Add to `sums`, which the function returned before, what it would return for `block`, or for these rows."""
        ...


class ColumnFunction(AddingFunction, Protocol):
    """An adding function that can read columns where they lie."""

    @property
    def takes_columns(self) -> bool:
        """Whether `add_columns` can be called."""
        ...

    def add_columns(self, sums: Sums, values: NDArray[Any], begins: NDArray[np.int64], rows: range, /) -> None:
        """Add to `sums` what it would return for these rows of columns that begin at `begins` of `values`.

        Values may be of any machine type; each is taken as the nearest float64.
        """
        ...


class StoredFunction(AddingFunction, Protocol):
    """An adding function that takes numbers as they are stored."""

    @property
    def takes_stored(self) -> bool:
        """Whether `add_stored` can be called."""
        ...

    def add_stored(self, sums: Sums, block: NDArray[Any], /) -> None:
        """Add to `sums` what it would return for a block of any machine type, each value as the nearest float64."""
        ...


ColumnLook = Callable[[int, int, Sequence[FloatBlock]], None]
"""Sees some values: the first row, the place of the first column, and these columns one by one, of one dimension."""


class LookingFunction(AddingFunction, Protocol):
    """An adding function that can read rows a few columns at a time, if it sees all of them more than once."""

    @property
    def takes_groups(self) -> bool:
        """Whether `looks` can be called."""
        ...

    def looks(self, sums: Sums, n: int, /) -> Iterator[ColumnLook]:
        """Return looks at `n` rows, each of which must see all columns from the left before the next one is asked for.

        After the last, `sums` has what the function would return for these rows.
        """
        ...


# Asked by what a function has: whether it is of a protocol takes Python as long as to add up some pages.


def adds(function: BlockFunction) -> TypeGuard[AddingFunction]:
    """Whether the function can add to sums it made before."""
    return hasattr(function, "add_to")


def column_function(function: BlockFunction) -> ColumnFunction | None:
    """The function, if it can read columns where they lie."""
    found = cast(ColumnFunction, function) if hasattr(function, "add_columns") else None
    return found if found is not None and found.takes_columns else None


def stored_function(function: BlockFunction) -> StoredFunction | None:
    """The function, if it can read rows of other types as they are stored."""
    found = cast(StoredFunction, function) if hasattr(function, "add_stored") else None
    return found if found is not None and found.takes_stored else None


def looking_function(function: BlockFunction) -> LookingFunction | None:
    """The function, if it can read rows a few columns at a time."""
    found = cast(LookingFunction, function) if hasattr(function, "looks") else None
    return found if found is not None and found.takes_groups else None


@runtime_checkable
class PartedRows(Protocol):
    """Rows that need not be brought together to see all of their values."""

    def parts(self) -> Iterator[tuple[int, int, FloatBlock]]:
        """Go through all values: a row, a column, and a block of some rows and columns that begins there."""
        ...


class RowSource(Protocol):
    """What is public about any source of rows."""

    @property
    def n(self) -> int:
        """The public number of rows."""
        ...

    @property
    def d(self) -> int:
        """The public number of columns."""
        ...

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        ...

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        ...


class Rows(RowSource, Protocol):
    """A source that can be folded.

    Guarantee: passes are repeatable, each row is in exactly one block, block boundaries depend on the public
    shape only, and blocks merge by integer addition, so that order and block size never show in a result.
    """

    @property
    def numbered(self) -> bool:
        """Whether rows have public numbers, so that `sample` can choose some of them."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether `blocks` can bring the rows to this process, in the order of their numbers."""
        ...

    @property
    def near(self) -> bool:
        """Whether `blocks` can bring the rows to this process, in whatever public order."""
        ...

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        ...

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows in the public order of their numbers, block by block, for what is no sum; counts as a pass.

        Pairs and public noise go by these numbers: a source whose order could follow from values is not `ordered`.
        """
        ...

    def sample(self, indices: NDArray[np.int64], /) -> "Rows":
        """Return the rows at these strictly increasing public indices."""
        ...
