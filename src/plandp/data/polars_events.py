"""Polars frames as tables of events."""

from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_events import is_arrow_id, number_arrow
from plandp.data.event_table import not_a_measure
from plandp.data.id_column import IdColumn, not_an_id, number_cells, number_integers
from plandp.data.labels import offer
from plandp.data.polars_frame import is_polars_number, open_polars
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

    def offer(self, asked: Collection[Label]) -> str:
        """The names of the first columns."""
        return offer(self.labels)

    def refuse_ids(self, label: Label, argument: str) -> None:
        """Refuse a column that is not of integers, text or categories."""
        import polars

        dtype = self.frame.schema[str(label)]
        if not dtype.is_integer() and dtype not in (polars.String, polars.Categorical, polars.Enum, polars.Null):
            raise not_an_id(argument, label, dtype.base_type())

    def refuse_values(self, label: Label) -> None:
        """Refuse a column that is not numeric."""
        dtype = self.frame.schema[str(label)]
        if not is_polars_number(dtype):
            raise not_a_measure(label, dtype.base_type())

    def ids(self, label: Label) -> IdColumn:
        """Return a column of integers, text or categories as ids."""
        column = self.frame[str(label)]
        if column.dtype.is_integer():
            if str(column.dtype) in _BEYOND_NUMPY:
                return _number_text(column)
            return number_integers(column.fill_null(0).to_numpy(), column.is_null().to_numpy())
        # Faster by pyarrow, if it is there.
        arrow = column.to_arrow() if find_spec("pyarrow") else None
        return number_arrow(arrow) if arrow is not None and is_arrow_id(arrow.type) else _number_text(column)

    def values(self, label: Label) -> NDArray[np.float64]:
        """Return a numeric column as float64, nulls as NaN."""
        table = open_polars(self.frame[str(label)], None)
        assert table is not None
        return table.read(slice(0, table.n))[:, 0]


def polars_events(table: object) -> PolarsEvents | None:
    """Return a frame as a table of events, None for other polars objects."""
    import polars

    return PolarsEvents(table) if isinstance(table, polars.DataFrame) else None


def _number_text(column: "polars.Series") -> IdColumn:
    import polars

    parts = column.cast(polars.String).to_frame().iter_slices(_EVENTS_AT_A_TIME)
    return number_cells(chain.from_iterable(part.to_series().to_list() for part in parts))
