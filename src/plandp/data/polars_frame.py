"""Polars frames and series as tables."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_table import open_arrow
from plandp.data.labels import find_positions, read_labels, select
from plandp.data.rows import FloatBlock
from plandp.data.table import RowChoice, Table, float_block, not_numeric
from plandp.terms.columns import Label

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PolarsTable:
    """A polars frame of numeric columns."""

    frame: "polars.DataFrame"
    labels: tuple[Label, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.frame.height

    converts = True

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column as float64, nulls as NaN."""
        import polars

        for column, own in zip(self.frame[rows], floats, strict=True):
            own[:] = column.cast(polars.Float64, strict=False).to_numpy()

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, nulls as NaN."""
        import polars

        return float_block(self.frame[rows].cast(polars.Float64, strict=False).to_numpy(order="c"))


def open_polars(data: object, columns: Collection[Label] | None) -> Table | None:
    """Return a frame or series as a table, None for other polars objects; non-numeric columns are refused."""
    import polars

    frame = data.to_frame() if isinstance(data, polars.Series) else data
    if not isinstance(frame, polars.DataFrame):
        return None
    if any(dtype in (polars.Array, polars.List) for dtype in frame.dtypes):
        # Arrow has no objects, which are no numbers either.
        return open_arrow(frame.select(polars.exclude(polars.Object)).to_arrow(), columns)
    labels = read_labels(frame.columns)
    positions = find_positions(labels, columns)
    if positions is not None:
        frame = frame[:, list(positions)]
    for label, dtype in frame.schema.items():
        if not is_polars_number(dtype):
            raise not_numeric(label, dtype.base_type())
    return PolarsTable(frame=frame, labels=select(labels, positions))


def is_polars_number(dtype: "polars.DataType") -> bool:
    """Whether columns of this dtype are read: bool, integers, floats, decimals, and null (no value at all)."""
    import polars

    return dtype.is_integer() or dtype.is_float() or dtype.is_decimal() or dtype in (polars.Boolean, polars.Null)
