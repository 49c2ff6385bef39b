"""pandas frames as tables of events."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_events import number_arrow
from plandp.data.event_table import not_a_measure
from plandp.data.id_column import IdColumn, not_an_id, number_categories, number_cells, number_integers
from plandp.data.pandas_frame import open_pandas
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class PandasEvents:
    """A pandas frame with one row per event."""

    frame: "pandas.DataFrame"

    @property
    def labels(self) -> tuple[object, ...]:
        """The names of all columns."""
        return tuple(self.frame.columns)

    def ids(self, label: Label, argument: str) -> IdColumn:
        """Return a column of integers, text, categories or objects as ids."""
        column = self._column(label)
        found = _number(column.array)
        if found is None:
            raise not_an_id(argument, label, _shown(column.dtype))
        return found

    def values(self, label: Label) -> NDArray[np.float64]:
        """Return a numeric column as float64, nulls as NaN."""
        column = self._column(label)
        try:
            table = open_pandas(column.to_frame("values"), None)
        except ArgumentError:
            table = None
        if table is None:
            raise not_a_measure(label, _shown(column.dtype))
        return table.read(slice(0, table.n))[:, 0]

    def _column(self, label: Label) -> Any:
        return self.frame.iloc[:, self.labels.index(label)]


def pandas_events(table: object) -> PandasEvents | None:
    """Return a frame as a table of events, None for other pandas objects."""
    import pandas

    return PandasEvents(table) if isinstance(table, pandas.DataFrame) else None


def _number(column: Any) -> IdColumn | None:
    """Return a pandas array as ids; None if its dtype is neither integer nor text."""
    import pandas

    dtype = column.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        categories = _number(dtype.categories.array)
        return None if categories is None else number_categories(column.codes, categories)
    if isinstance(dtype, pandas.ArrowDtype):
        return number_arrow(column.__arrow_array__())
    if isinstance(dtype, pandas.StringDtype):
        if dtype.storage == "pyarrow":
            return number_arrow(column.__arrow_array__())
        return number_cells(column.to_numpy(dtype=object))
    plain = getattr(dtype, "numpy_dtype", dtype)  # nullable integers have one
    if plain == np.dtype(object):
        return number_cells(column.to_numpy(dtype=object))
    if isinstance(plain, np.dtype) and plain.kind in "iu":
        return number_integers(column.to_numpy(dtype=plain, na_value=0), column.isna())
    return None


def _shown(dtype: Any) -> str:
    # The dtype's own text would list the categories.
    import pandas

    return f"category of {dtype.categories.dtype}" if isinstance(dtype, pandas.CategoricalDtype) else str(dtype)
