"""Entries in any order, sorted into compressed rows by counting."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.stored_rows import StoredRows, narrowest, presence
from plandp.kernels.clean_items import count_entries, place_entries
from plandp.kernels.compiler import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Entries = tuple[NDArray[Any], NDArray[Any], FloatArray]
"""Rows, columns (int32 or int64) and values of some entries, equally many of each."""


def sort_by_row(entries: Callable[[], Iterator[Entries]], *, n: int, d: int, binary: bool) -> StoredRows:
    """Return the entries as compressed rows, each row's in the order they come in; no two are added up.

    What lies outside the n rows or the d columns is left out, and zeros and NaN are.
    """
    begin = np.zeros(n + 1, np.int64)
    count = compiled(count_entries) or _count_entries
    for rows, columns, weights in entries():
        count(rows, columns, weights, d, begin[1:])
    np.cumsum(begin, out=begin)
    items = np.empty(int(begin[-1]), narrowest(d))
    values = np.empty(0 if binary else len(items))
    free = begin[:-1].copy()
    put = compiled(place_entries) or _place_entries
    for rows, columns, weights in entries():
        put(rows, columns, weights, d, free, items, values)
    return StoredRows(begin=begin, items=items, values=None if binary else values, writable=True)


def _kept(rows: NDArray[Any], columns: NDArray[Any], weights: FloatArray, n: int, d: int) -> NDArray[np.bool]:
    kept: NDArray[np.bool] = (rows >= 0) & (rows < n) & (columns >= 0) & (columns < d) & presence(weights)
    return kept


def _count_entries(rows: NDArray[Any], columns: NDArray[Any], weights: FloatArray, d: int, counts: IntArray) -> None:
    """What the compiled loop does, in NumPy."""
    np.add.at(counts, rows[_kept(rows, columns, weights, len(counts), d)], 1)


def _place_entries(
    rows: NDArray[Any],
    columns: NDArray[Any],
    weights: FloatArray,
    d: int,
    free: IntArray,
    items: NDArray[Any],
    values: FloatArray,
) -> None:
    """What the compiled loop does, in NumPy."""
    kept = np.flatnonzero(_kept(rows, columns, weights, len(free), d))
    kept = kept[np.argsort(rows[kept], kind="stable")]
    row = rows[kept]
    at = free[row] + np.arange(len(row)) - np.searchsorted(row, row)
    items[at] = columns[kept]
    if len(values):
        values[at] = weights[kept]
    np.add.at(free, row, 1)
