"""Polars frames as tables of events."""

from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_events import number_arrow
from plandp.data.event_table import not_a_measure
from plandp.data.id_column import IdColumn, not_an_id, number_cells, number_integers
from plandp.data.polars_frame import open_polars
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

if TYPE_CHECKING:
    import polars

_BEYOND_NUMPY = ("Int128", "UInt128")
_EVENTS_AT_A_TIME = 2**18  # or all texts would be held as Python objects at once


@dataclass(frozen=True, eq=False, repr=False)
class PolarsEvents:
    """A polars frame with one row per event."""

    frame: "polars.DataFrame"

    @property
    def labels(self) -> tuple[object, ...]:
        """The names of all columns."""
        return tuple(self.frame.columns)

    def ids(self, label: Label, argument: str) -> IdColumn:
        """Return a column of integers, text or categories as ids."""
        import polars

        column = self.frame[str(label)]
        if column.dtype.is_integer():
            if str(column.dtype) in _BEYOND_NUMPY:
                return _number_text(column)
            return number_integers(column.fill_null(0).to_numpy(), column.is_null().to_numpy())
        if column.dtype not in (polars.String, polars.Categorical, polars.Enum, polars.Null):
            raise not_an_id(argument, label, column.dtype.base_type())
        # Faster by pyarrow, if it is there.
        found = number_arrow(column.to_arrow()) if find_spec("pyarrow") else None
        return _number_text(column) if found is None else found

    def values(self, label: Label) -> NDArray[np.float64]:
        """Return a numeric column as float64, nulls as NaN."""
        column = self.frame[str(label)]
        try:
            table = open_polars(column, None)
        except ArgumentError:
            table = None
        if table is None:
            raise not_a_measure(label, column.dtype.base_type())
        return table.read(slice(0, table.n))[:, 0]


def polars_events(table: object) -> PolarsEvents | None:
    """Return a frame as a table of events, None for other polars objects."""
    import polars

    return PolarsEvents(table) if isinstance(table, polars.DataFrame) else None


def _number_text(column: "polars.Series") -> IdColumn:
    import polars

    parts = column.cast(polars.String).to_frame().iter_slices(_EVENTS_AT_A_TIME)
    return number_cells(chain.from_iterable(part.to_series().to_list() for part in parts))
