"""The way in: from whatever holds the table to rows that can be folded."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable, two_dimensional
from plandp.data.blocks import TableRows
from plandp.data.labels import find_positions, select
from plandp.data.lists import list_array
from plandp.data.rows import Rows
from plandp.data.table import Table
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


def open_rows(data: object, *, columns: Sequence[Label] | None = None) -> Rows:
    """Return `data` as rows that can be folded, with the asked columns in the asked order.

    Only types, shapes and labels decide what is accepted; no value is looked at, and `data` is never changed.
    """
    with np.errstate(all="ignore"):
        table = _open_table(data, columns)
    if table.n == 0 or not table.labels:
        raise ArgumentError("data", f"a table of {table.n} rows × {len(table.labels)} columns has no mean")
    return TableRows(table)


def _open_table(data: object, columns: Sequence[Label] | None) -> Table:
    if isinstance(data, np.ndarray):
        return _array_table(data, columns)
    if isinstance(data, list | tuple):
        return _array_table(list_array(data), columns)
    raise ArgumentError("data", "unknown")


def _array_table(data: NDArray[Any], columns: Sequence[Label] | None) -> ArrayTable:
    array = two_dimensional(data)
    labels = tuple(range(array.shape[1]))
    positions = find_positions(labels, columns)
    return ArrayTable(array=array, labels=select(labels, positions), positions=positions)
