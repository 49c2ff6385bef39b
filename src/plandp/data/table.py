"""What a container in memory must offer to be folded: any of its rows, as float64."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import FloatBlock
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

RowChoice = slice | NDArray[np.int64]
"""Consecutive rows, or rows at strictly increasing indices."""


class Table(Protocol):
    """A container in memory; each value becomes float64 on its own, whatever the other values are."""

    @property
    def n(self) -> int:
        """The number of rows."""
        ...

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        ...

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows, missing values as NaN; the caller sees to it that no value can warn."""
        ...


class ColumnTable(Table, Protocol):
    """A table of columns that are stored one by one, in types of their own."""

    @property
    def converts(self) -> bool:
        """Whether `write_columns` can be called."""
        ...

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column to a line of `floats`, missing values as NaN."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReadThrough:
    """Another table, each reading of which goes through `reader`."""

    table: Table
    reader: Callable[[Callable[[], Any]], Any]
    watches: bool  # whether `reader` returns what it reads as it is, so that values may be read where they lie

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.table.n

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.table.labels

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64."""
        block: FloatBlock = self.reader(partial(self.table.read, rows))
        return block


def float_block(values: NDArray[Any]) -> FloatBlock:
    """Return `values` as read-only, aligned, C-ordered float64, copied only where they must be."""
    block = np.require(values, dtype=np.float64, requirements=["C", "A"]).view()
    block.flags.writeable = False
    return block


def refuse_empty(*, n: int, d: int) -> None:
    """Refuse a table without rows or columns."""
    if n == 0 or d == 0:
        raise ArgumentError("data", f"a table of {n} rows × {d} columns has no mean; pass at least one of each")


def not_numeric(label: Label, dtype: object) -> ArgumentError:
    """Return the refusal of a column by its public dtype."""
    return ArgumentError(
        "data",
        f"column {label!r} has dtype {dtype}, which is not numeric; select columns with columns=[...] or convert it",
    )
