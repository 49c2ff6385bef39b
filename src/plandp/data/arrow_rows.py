"""Arrow columns whose cells are whole rows: lists of numbers, and the vectors of Spark."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import FloatBlock
from plandp.data.stored_rows import StoredRows

DENSE_VECTOR = 1
"""The type in Spark's encoding of a vector; 0 is a sparse one."""


def list_rows(column: Any, d: int) -> FloatBlock:
    """Return lists of d numbers as rows, nulls as NaN; a list that is null or of another length is all missing."""
    begin, lengths = _stretches(column)
    flat = _floats(column.values)
    if len(lengths) and np.all(lengths == d):
        return flat[int(begin[0]) : int(begin[0]) + d * len(lengths)].reshape(-1, d)
    rows = np.full((len(lengths), d), np.nan)
    whole = lengths == d
    rows[whole] = flat[begin[whole, np.newaxis] + np.arange(d)]
    return rows


def vector_rows(column: Any, d: int) -> FloatBlock:
    """Return dense and sparse vectors of d numbers as rows; a vector that is null or of another size is missing."""
    block, whole = stored_vectors(column, d)
    rows = np.where(whole, 0.0, np.nan)[:, np.newaxis].repeat(d, axis=1)
    assert block.values is not None
    within = (block.items >= 0) & (block.items < d)
    rows[np.repeat(np.arange(len(rows)), np.diff(block.begin))[within], block.items[within]] = block.values[within]
    return rows


def stored_vectors(column: Any, d: int) -> tuple[StoredRows, NDArray[np.bool_]]:
    """Return the entries of every vector that is whole, as they are stored, and which are."""
    kinds = column.field("type").fill_null(0).to_numpy(zero_copy_only=False)
    sizes = column.field("size").fill_null(-1).to_numpy(zero_copy_only=False)
    (first_place, places), (first_value, values) = (_stretches(column.field(name)) for name in ("indices", "values"))
    dense = kinds == DENSE_VECTOR
    whole = column.is_valid().to_numpy(zero_copy_only=False) & np.where(
        dense, values == d, (sizes == d) & (places == values)
    )
    lengths = np.where(whole, values, 0)
    begin = np.append(0, np.cumsum(lengths))
    within = np.arange(begin[-1]) - np.repeat(begin[:-1], lengths)
    stored = column.field("indices").values.to_numpy(zero_copy_only=False)
    of_dense = np.repeat(dense, lengths)
    items = within.copy()
    items[~of_dense] = stored[(np.repeat(first_place, lengths) + within)[~of_dense]]
    weights = _floats(column.field("values").values)[np.repeat(first_value, lengths) + within]
    return StoredRows(begin=begin, items=items, values=weights, writable=True), whole


def _floats(values: Any) -> NDArray[np.float64]:
    """Return an array of doubles, nulls as NaN."""
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _stretches(column: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins in `column.values`, and its length; a null has length -1."""
    ends = column.offsets.to_numpy().astype(np.int64)
    null = column.is_null().to_numpy(zero_copy_only=False)
    return ends[:-1], np.where(null, -1, np.diff(ends))
