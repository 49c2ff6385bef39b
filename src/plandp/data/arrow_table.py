"""Arrow tables and record batches as tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.labels import find_positions, read_labels
from plandp.data.rows import FloatBlock
from plandp.data.table import RowChoice, float_block, not_numeric
from plandp.terms.columns import Label


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowTable:
    """A pyarrow.Table of numeric columns."""

    table: Any
    labels: tuple[Label, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, nulls as NaN."""
        if isinstance(rows, slice):
            part = self.table.slice(rows.start, rows.stop - rows.start)
        else:
            part = self.table.take(rows)
        return float_block(np.array([arrow_floats(column) for column in part.columns]).T)


def open_arrow(data: object, columns: Iterable[Label] | None) -> ArrowTable | None:
    """Return a Table or RecordBatch as a table, None for other objects; non-numeric columns are refused."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    table = pyarrow.Table.from_batches([data]) if isinstance(data, pyarrow.RecordBatch) else data
    if not isinstance(table, pyarrow.Table):
        return None
    positions = find_positions(read_labels(table.column_names), columns)
    if positions is not None:
        table = table.select(list(positions))
    for field in table.schema:
        if not is_arrow_number(field.type):
            raise not_numeric(field.name, field.type)
    return ArrowTable(table=table, labels=read_labels(table.column_names))


def is_arrow_number(dtype: object) -> bool:
    """Whether columns of this Arrow type are read: bool, integers, floats, and null (no value at all)."""
    from pyarrow import types

    return bool(types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype) or types.is_null(dtype))


def arrow_floats(column: Any) -> NDArray[np.float64]:
    """Return a chunked Arrow column as float64, nulls as NaN, each value converted on its own."""
    import pyarrow

    # A safe cast would refuse integers beyond 2**53.  Floats are widened by NumPy, halves included.
    floats = column if pyarrow.types.is_floating(column.type) else column.cast(pyarrow.float64(), safe=False)
    return np.asarray(floats.to_numpy(), dtype=np.float64)
