"""pandas frames as tables of events."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_events import is_arrow_id, number_arrow
from plandp.data.event_table import not_a_measure
from plandp.data.id_column import IdColumn, not_an_id, number_categories, number_cells, number_integers
from plandp.data.labels import offer
from plandp.data.pandas_frame import is_pandas_number, open_pandas
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

    def offer(self, asked: Collection[Label]) -> str:
        """The names of the first columns."""
        return offer(self.labels)

    def refuse_ids(self, label: Label, argument: str) -> None:
        """Refuse a column that is not of integers, text, categories of these, or objects."""
        dtype = self._column(label).dtype
        if not _is_id(dtype):
            raise not_an_id(argument, label, _shown(dtype))

    def refuse_values(self, label: Label) -> None:
        """Refuse a column that is not numeric."""
        dtype = self._column(label).dtype
        if not is_pandas_number(dtype):
            raise not_a_measure(label, _shown(dtype))

    def ids(self, label: Label) -> IdColumn:
        """Return a column of integers, text, categories or objects as ids."""
        return _number(self._column(label).array)

    def values(self, label: Label) -> NDArray[np.float64]:
        """Return a numeric column as float64, nulls as NaN."""
        table = open_pandas(self._column(label).to_frame("values"), None)
        assert table is not None
        return table.read(slice(0, table.n))[:, 0]

    def _column(self, label: Label) -> Any:
        return self.frame.iloc[:, self.labels.index(label)]


def pandas_events(table: object) -> PandasEvents | None:
    """Return a frame as a table of events, None for other pandas objects."""
    import pandas

    return PandasEvents(table) if isinstance(table, pandas.DataFrame) else None


def _is_id(dtype: Any) -> bool:
    """Whether columns of this dtype are ids."""
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        return _is_id(dtype.categories.dtype)
    if isinstance(dtype, pandas.ArrowDtype):
        return is_arrow_id(dtype.pyarrow_dtype)
    plain = getattr(dtype, "numpy_dtype", dtype)  # nullable integers have one
    return isinstance(dtype, pandas.StringDtype) or (isinstance(plain, np.dtype) and plain.kind in "iuO")


def _number(column: Any) -> IdColumn:
    """Return a pandas array as ids; its dtype is one of these."""
    import pandas

    dtype = column.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return number_categories(column.codes, _number(dtype.categories.array))
    if isinstance(dtype, pandas.ArrowDtype):
        return number_arrow(column.__arrow_array__())
    if isinstance(dtype, pandas.StringDtype):
        if dtype.storage == "pyarrow":
            return number_arrow(column.__arrow_array__())
        return number_cells(column.to_numpy(dtype=object))
    plain = getattr(dtype, "numpy_dtype", dtype)
    if plain == np.dtype(object):
        return number_cells(column.to_numpy(dtype=object))
    return number_integers(column.to_numpy(dtype=plain, na_value=0), column.isna())


def _shown(dtype: Any) -> str:
    # The dtype's own text would list the categories.
    import pandas

    return f"category of {dtype.categories.dtype}" if isinstance(dtype, pandas.CategoricalDtype) else str(dtype)
