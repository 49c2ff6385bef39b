"""Arrow columns whose cells are whole rows: lists of numbers, and the vectors of Spark."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.list_columns import list_values
from plandp.data.rows import FloatBlock
from plandp.data.stored_rows import StoredRows
from plandp.data.table import float_block

_DENSE = 1
"""The type of a dense vector in Spark's encoding; 0 is a sparse one."""


def list_rows(column: Any, width: int) -> FloatBlock:
    """Return the first `width` places of lists of doubles as rows, by the rule of `list_values`."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    begin, lengths = _stretches(column)
    if len(lengths) and np.all(lengths == width):  # the numbers lie side by side already
        first = int(begin[0])
        return float_block(_floats(column.values.slice(first, width * len(lengths))).reshape(-1, width))
    return float_block(list_values(pyarrow.chunked_array([column]), slice(0, len(column)), width))


def vector_rows(column: Any, width: int) -> FloatBlock:
    """Return the first `width` places of vectors as rows; a null, and what lies beyond a vector's size, is missing."""
    stored, sizes = stored_vectors(column)
    rows = np.where(np.arange(width) < sizes[:, np.newaxis], 0.0, np.nan)
    within = (stored.items >= 0) & (stored.items < width)
    row = np.repeat(np.arange(len(rows)), np.diff(stored.begin))
    assert stored.values is not None
    rows[row[within], stored.items[within]] = stored.values[within]
    return rows


def stored_vectors(column: Any) -> tuple[StoredRows, NDArray[np.int64]]:
    """Return the entries of vectors as they are stored, and the size of each; a null has neither."""
    null = column.is_null().to_numpy(zero_copy_only=False)
    dense = column.field("type").fill_null(0).to_numpy(zero_copy_only=False) == _DENSE
    (first_place, places), (first_value, values) = (_stretches(column.field(name)) for name in ("indices", "values"))
    lengths = np.where(null, 0, np.maximum(np.where(dense, values, np.minimum(places, values)), 0))
    begin = np.append(0, np.cumsum(lengths))
    within = np.arange(begin[-1]) - np.repeat(begin[:-1], lengths)
    of_sparse = np.repeat(~dense, lengths)
    items = within.copy()
    stored = column.field("indices").values.to_numpy(zero_copy_only=False)
    items[of_sparse] = stored[(np.repeat(first_place, lengths) + within)[of_sparse]]
    weights = _floats(column.field("values").values)[np.repeat(first_value, lengths) + within]
    sizes = np.where(dense, lengths, column.field("size").fill_null(0).to_numpy(zero_copy_only=False))
    return StoredRows(begin=begin, items=items, values=weights, writable=True), np.where(null, 0, sizes)


def _floats(values: Any) -> NDArray[np.float64]:
    """Return an array of doubles, nulls as NaN."""
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _stretches(column: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins in `column.values`, and its length; a null has length -1."""
    ends = column.offsets.to_numpy().astype(np.int64)
    null = column.is_null().to_numpy(zero_copy_only=False)
    return ends[:-1], np.where(null, -1, np.diff(ends))
