"""What a source that is read piece by piece must offer: files larger than memory, and iterables of batches."""

from collections.abc import Iterator
from typing import Protocol

from plandp.data.table import Table
from plandp.terms.columns import Label

VALUES_AT_A_TIME = 2**21
"""About how many values are read at a time (16 MiB of float64): larger blocks come from the system, page by page."""

Piece = tuple[Table, int]
"""Some rows, and how much of `Batches.size` they take."""


class Batches(Protocol):
    """Rows that come in pieces, in a public order, as often as they are asked for.

    Guarantee: each row is in exactly one piece, and what is raised on the way depends on the source as such and never
    on a value.
    """

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        ...

    @property
    def n(self) -> int | None:
        """The number of rows, None where it takes a pass to count them."""
        ...

    @property
    def size(self) -> int:
        """How much there is to read, in bytes; 0 where that is not known."""
        ...

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through all rows and return how many there are: piece by piece, with their bytes."""
        ...

    def pieces(self) -> Iterator[Piece]:
        """Go through all rows."""
        ...
