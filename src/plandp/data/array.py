"""NumPy arrays as tables."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.labels import find_positions, select
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import ColumnsInMemory, columns_of_array, is_machine_type
from plandp.data.table import RowChoice, float_block
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

# Not the dtype's own name: the width of a text dtype is the length of the longest cell.
KINDS = {
    "O": "Python objects",
    "U": "text",
    "S": "bytes",
    "M": "dates",
    "m": "time differences",
    "c": "complex numbers",
    "V": "records",
}


# Tables have no repr of their fields: it would carry values into logs and tracebacks.
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrayTable:
    """Some columns of a two-dimensional numeric array."""

    array: NDArray[Any]
    labels: tuple[Label, ...]
    positions: tuple[int, ...] | None = None  # None: all columns, without the copy that a selection costs

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.array)

    @property
    def lies_in_order(self) -> bool:
        """Whether consecutive rows are read where they lie, without a copy."""
        plain = self.array.dtype == np.float64 and self.array.flags.c_contiguous and self.array.flags.aligned
        return plain and self.positions is None

    @property
    def stored(self) -> NDArray[Any] | None:
        """All rows as they are stored, where they lie in order, as numbers of a machine type."""
        in_order = self.array.flags.c_contiguous and self.array.flags.aligned and self.positions is None
        return self.array if in_order and is_machine_type(self.array.dtype) else None

    @cached_property
    def columns(self) -> ColumnsInMemory | None:
        """The columns, where each of them lies in one piece (F order)."""
        return columns_of_array(self.array, self.positions)

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64."""
        if not self.lies_in_order and self.columns is not None and self.columns.plain:
            return float_block(self.columns.rows(rows))
        values = self.array[rows]
        return float_block(values if self.positions is None else values[:, list(self.positions)])


def open_array(data: NDArray[Any], columns: Collection[Label] | None) -> ArrayTable:
    """Return a numeric array as a table; its labels are 0, 1, 2, …"""
    array = two_dimensional(data)
    labels = tuple(range(array.shape[1]))
    positions = find_positions(labels, columns)
    return ArrayTable(array=array, labels=select(labels, positions), positions=positions)


def two_dimensional(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain view of a numeric array as rows × columns; other dtypes and shapes are refused."""
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError("data", "masked arrays are not accepted; pass data.astype(float).filled(numpy.nan) instead")
    refuse_array(array.dtype, array.shape)
    plain = np.asarray(array)
    return plain if plain.ndim == 2 else plain[:, np.newaxis]


def refuse_array(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuse an array by its public type and number of dimensions."""
    if dtype.kind not in "biuf":
        raise ArgumentError(
            "data",
            f"the array holds {KINDS.get(dtype.kind, 'no numbers')}, which is not numeric; "
            "convert it to a float, integer or bool dtype",
        )
    if len(shape) not in (1, 2):
        raise ArgumentError(
            "data", f"the array has {len(shape)} dimensions; pass rows × columns, or one column as a vector"
        )
