"""pandas frames with sparse columns: what they store is read column by column, and nothing is made dense."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from plandp.data.labels import find_positions, read_labels, select
from plandp.data.pandas_frame import is_pandas_number, pandas_floats
from plandp.data.sorted_entries import Entries, sort_by_row
from plandp.data.stored_rows import StoredRows, floats
from plandp.data.table import not_numeric
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparseFrame:
    """Some columns of a pandas frame, sparse ones and perhaps others; what is not stored is 0 or NaN."""

    columns: tuple[Any, ...]  # pandas arrays, equally long
    labels: tuple[Label, ...]
    n: int

    def stored_rows(self, *, binary: bool) -> StoredRows:
        """Return the columns as compressed rows."""
        return sort_by_row(self._entries, n=self.n, d=len(self.labels), binary=binary)

    def _entries(self) -> Iterator[Entries]:
        import pandas

        for place, column in enumerate(self.columns):
            if isinstance(column.dtype, pandas.SparseDtype):
                rows, values = column.sp_index.indices, floats(column.sp_values)
            else:
                rows, values = np.arange(self.n), floats(pandas_floats(column))
            yield rows, np.full(len(rows), place), values


def open_sparse_frame(data: object, columns: Collection[Label] | None) -> SparseFrame | None:
    """Return a pandas frame or series of which an asked column is sparse, None for all other objects.

    Labels and dtypes alone decide; what a sparse column does not store, its fill value, is a part of the dtype.
    """
    if not any(base.__module__.split(".")[0] == "pandas" for base in type(data).__mro__):
        return None
    import pandas

    frame = data.to_frame() if isinstance(data, pandas.Series) else data
    if not isinstance(frame, pandas.DataFrame):
        return None
    every_dtype = list(frame.dtypes)
    every_label = read_labels(frame.columns)
    positions = find_positions(every_label, columns)
    chosen = range(len(every_label)) if positions is None else positions
    dtypes = [every_dtype[position] for position in chosen]
    if not any(isinstance(dtype, pandas.SparseDtype) for dtype in dtypes):
        return None
    labels = select(every_label, positions)
    for label, dtype in zip(labels, dtypes, strict=True):
        _refuse(label, dtype)
    return SparseFrame(columns=tuple(frame.iloc[:, position].array for position in chosen), labels=labels, n=len(frame))


def _refuse(label: Label, dtype: Any) -> None:
    import pandas

    sparse = isinstance(dtype, pandas.SparseDtype)
    if not is_pandas_number(dtype.subtype if sparse else dtype):
        raise not_numeric(label, dtype)
    if sparse and not (pandas.isna(dtype.fill_value) or dtype.fill_value == 0):
        raise ArgumentError(
            "data",
            f"column {label!r} has dtype {dtype}, so that what is not stored is not 0; convert it with "
            ".sparse.to_dense()",
        )
