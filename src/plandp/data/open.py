"""The way in: from whatever holds the table to rows that can be folded."""

import os
from collections.abc import Callable, Collection

import numpy as np

from plandp.data.array import open_array
from plandp.data.arrow_table import open_arrow
from plandp.data.blocks import TableRows
from plandp.data.files import open_file
from plandp.data.labels import BeforeValues, find_positions, nothing_before, select
from plandp.data.lists import list_array, list_width
from plandp.data.open_engine import open_engine
from plandp.data.pandas_frame import open_pandas
from plandp.data.polars_frame import open_polars
from plandp.data.row_index import RowIndex, open_numbered
from plandp.data.rows import Rows
from plandp.data.scipy_matrix import is_scipy_matrix
from plandp.data.table import Table, refuse_empty
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

_OPENERS: dict[str, Callable[[object, Collection[Label] | None], Table | None]] = {
    "pandas": open_pandas,
    "polars": open_polars,
    "pyarrow": open_arrow,
}


def open_rows(
    data: object,
    *,
    columns: Collection[Label] | None = None,
    row_index: RowIndex = None,
    in_order: bool = False,
    before_values: BeforeValues = nothing_before,
    progress: bool = False,
) -> Rows:
    """Return `data` as rows that can be folded, with the asked columns in the asked order, numbered as asked.

    Only types, shapes and labels decide what is accepted; no value is looked at, and `data` is never changed.
    `before_values` is called once, with the labels, when all of that was accepted and before a value is parsed; only
    the number of rows of a file may be known later.  A source without order is refused where rows must be `in_order`.
    """
    elsewhere = open_engine(data, columns=columns, row_index=row_index, in_order=in_order, before_values=before_values)
    if elsewhere is not None:
        return elsewhere

    def opened(columns: Collection[Label] | None, before_values: BeforeValues) -> Rows:
        with np.errstate(all="ignore"):
            table = _open_table(data, columns, before_values, progress)
        refuse_empty(n=table.n, d=len(table.labels))
        return TableRows(table, progress=progress)

    return open_numbered(opened, columns, row_index, before_values)


def _open_table(data: object, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool) -> Table:
    if isinstance(data, str | os.PathLike):
        return open_file(data, columns, before_values=before_values, progress=progress)
    if isinstance(data, list | tuple):
        width = list_width(data)
        refuse_empty(n=len(data), d=width)
        labels = tuple(range(width))
        before_values(select(labels, find_positions(labels, columns)))
        return open_array(list_array(data), columns)
    table = _open_in_memory(data, columns)
    refuse_empty(n=table.n, d=len(table.labels))
    before_values(table.labels)
    return table


def _open_in_memory(data: object, columns: Collection[Label] | None) -> Table:
    """Return a container whose values are read where they lie, row by row, when rows are folded."""
    if isinstance(data, np.ndarray):
        return open_array(data, columns)
    # Subclasses count too, and no package is imported that the data did not come from.
    modules = {base.__module__ for base in type(data).__mro__}
    for package, opener in _OPENERS.items():
        if any(module.split(".")[0] == package for module in modules):
            table = opener(data, columns)
            if table is not None:
                return table
    if is_scipy_matrix(data):
        raise ArgumentError(
            "data",
            "a sparse matrix holds 0/1 data or counts; pass kind='binary' or kind='nonnegative', or data.toarray()",
        )
    raise ArgumentError(
        "data",
        f"a {type(data).__name__} is not accepted; pass a NumPy array, a list of rows, a pandas or polars "
        "DataFrame or Series (collect a LazyFrame first), a pyarrow Table or RecordBatch, or the path of a file",
    )
