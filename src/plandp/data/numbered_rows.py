"""Rows that lie in public order, numbered otherwise than by position: by a column, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.data.parts import Part, parts_of
from plandp.data.row_choice import not_numbered, places_among, refuse_indices
from plandp.data.row_numbers import SUMS, NumberSums, are_row_numbers, number_sums
from plandp.data.rows import BlockFunction, FloatBlock, Rows, Sums
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


class UnnumberedRows:
    """The same rows without their numbers: every step reads all of them.  See `Rows` for the guarantee."""

    numbered = False

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.n, self.d, self.labels = rows.n, rows.d, rows.labels
        self.ordered, self.near = rows.ordered, rows.near

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self._rows.passes

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        return self._rows.fold(function)

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block; counts as a pass."""
        return self._rows.blocks()

    def parts(self) -> Iterator[Part]:
        """Go through all values; counts as a pass."""
        return parts_of(self._rows)

    def sample(self, indices: NDArray[np.int64], /) -> Rows:
        """Refuse: there are no numbers to choose by."""
        raise ArgumentError("indices", "rows without numbers cannot be chosen by them")


@dataclass(frozen=True, kw_only=True, eq=False)
class WithoutColumn:
    """Block function: another one, which does not see the column of the row numbers."""

    function: BlockFunction
    index: int

    def __call__(self, block: FloatBlock, /) -> Sums:
        """Return the sums over the other columns."""
        return self.function(without_column(block, self.index))


@dataclass(frozen=True, kw_only=True, eq=False)
class BesideNumbers:
    """Block function: the sums by which row numbers are checked, then those of another one, which does not see them."""

    function: WithoutColumn
    n: int

    def __call__(self, block: FloatBlock, /) -> Sums:
        """Return the sums over the numbers and over the other columns."""
        return number_sums(block[:, self.function.index], self.n), *self.function(block)


def without_column(block: FloatBlock, index: int) -> FloatBlock:
    """Return a copy of the block without this column."""
    return np.ascontiguousarray(np.delete(block, index, axis=1))


class NumberedRows:
    """Rows whose public numbers, 0 … n-1, each once, stand in one of their columns, which is not released.

    Guarantee: that of `Rows`.  A replaced row is in a sample once or not at all, whatever number it has.  Numbers that
    were not checked before are checked in the first pass, whichever it is: they alone can raise.
    """

    numbered, ordered, near = True, False, True

    def __init__(
        self, rows: Rows, *, index: int, checked: bool = False, position: NDArray[np.int64] | None = None
    ) -> None:
        self._rows = rows
        self._index = index
        self._checked = checked
        self._position = position  # of the rows by number, where they are known: of a sample
        self.n, self.d = rows.n, rows.d - 1
        self.labels: tuple[Label, ...] = rows.labels[:index] + rows.labels[index + 1 :]

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self._rows.passes

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        others = WithoutColumn(function=function, index=self._index)
        if self._checked:
            return self._rows.fold(others)
        numbers, *sums = self._rows.fold(BesideNumbers(function=others, n=self.n))
        self._check(numbers)
        return tuple(sums)

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows as they lie, block by block; counts as a pass."""
        for block in self._checked_blocks():
            yield without_column(block, self._index)

    def parts(self) -> Iterator[Part]:
        """Go through all values of the other columns; counts as a pass.  Wrong numbers are refused behind the last."""
        sums = np.zeros(SUMS, np.uint64)
        for first, place, block in parts_of(self._rows):
            own = self._index - place
            if 0 <= own < block.shape[1]:
                if not self._checked:
                    sums += number_sums(block[:, own], self.n)
                block = without_column(block, own)
            if block.shape[1]:
                yield first, place - (own < 0), block
            del block
        if not self._checked:
            self._check(sums)

    def sample(self, indices: NDArray[np.int64], /) -> "NumberedRows":
        """Return the rows of these strictly increasing numbers; finding them counts as a pass."""
        refuse_indices(indices, self.n)
        position = self._find(indices) if self._position is None else self._position[indices]
        order = np.argsort(position)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return NumberedRows(self._rows.sample(position[order]), index=self._index, checked=True, position=rank)

    def _find(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return at which position each of the numbers stands; they must be there exactly once."""
        position = np.full(len(numbers), -1, np.int64)
        found = seen = 0
        for block in self._checked_blocks():
            place = places_among(block[:, self._index], numbers)
            chosen = np.flatnonzero(place >= 0)
            position[place[chosen]] = seen + chosen
            found, seen = found + len(chosen), seen + len(block)
        if found != len(numbers) or np.any(position < 0):
            raise not_numbered()
        return position

    def _checked_blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block; wrong numbers are refused behind the last."""
        sums = np.zeros(SUMS, np.uint64)
        for block in self._rows.blocks():
            if not self._checked:
                sums += number_sums(block[:, self._index], self.n)
            yield block
        if not self._checked:
            self._check(sums)

    def _check(self, sums: NumberSums) -> None:
        if not are_row_numbers(sums, self.n):
            raise not_numbered()
        self._checked = True
