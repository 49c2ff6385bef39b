"""Numbers in columns that can be asked for ranks, held in memory.  Reads data, pays nothing, never leaves the library.

A row may put several numbers into a column, or share one with another row: `copies` bounds how many of a column's
numbers move when one row is replaced.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.errors import ArgumentError
from plandp.mechanisms.lattice_counts import Lattice, LatticeKeys, lattice_keys, narrowest_integer

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Ranked(Protocol):
    """Columns of numbers on a public lattice; all but what `twice_below` and `column_keys` return is public."""

    @property
    def lattice(self) -> Lattice:
        """The public lattice of every column."""
        ...

    @property
    def count(self) -> int:
        """The public number of numbers per column, missing ones included."""
        ...

    @property
    def copies(self) -> int:
        """At most so many numbers of a column move when one row is replaced."""
        ...

    def twice_below(self, thresholds: FloatArray) -> IntArray:
        """2·#{key < threshold} + #{missing} for every column: moves by at most 2·copies each."""
        ...

    def column_keys(self) -> Iterator[IntArray]:
        """The sorted keys of one column after the other; missing ones come last, as the number of cells."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HeldKeys:
    """Keys of all numbers in memory.  Not private, never to leave the library."""

    lattice: Lattice
    held: LatticeKeys
    copies: int = 1

    def __post_init__(self) -> None:
        if type(self.copies) is not int or self.copies < 1:
            raise ArgumentError("copies", "must be an int, 1 or more")

    @classmethod
    def of_rows(cls, rows: Rows, lattice: Lattice, missing: FloatArray | None) -> "HeldKeys":
        """The values of the rows themselves: one number per row in every column."""
        return cls(lattice=lattice, held=lattice_keys(rows, lattice, missing))

    @classmethod
    def of_values(cls, values: FloatArray, lattice: Lattice, *, copies: int = 1) -> "HeldKeys":
        """Numbers computed from rows, (count, columns); NaN is missing, the rest is clipped to the lattice."""
        with np.errstate(all="ignore"):
            found = lattice.keys(values, None)
            lost = np.isnan(found)
            keys = np.where(lost, lattice.cells, found).astype(narrowest_integer(lattice))
        held = LatticeKeys(keys=keys, missing=np.count_nonzero(lost, axis=0).astype(np.int64))
        return cls(lattice=lattice, held=held, copies=copies)

    @property
    def count(self) -> int:
        """The number of numbers per column."""
        return len(self.held.keys)

    def twice_below(self, thresholds: FloatArray) -> IntArray:
        """2·#{key < threshold} + #{missing} for every column."""
        return self.held.twice_below(thresholds)

    def column_keys(self) -> Iterator[IntArray]:
        """The sorted keys of one column after the other."""
        for column in self.held.keys.T:
            yield np.sort(column).astype(np.int64)
