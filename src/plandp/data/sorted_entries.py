"""Entries in any order, sorted into compressed rows by counting."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from plandp.data.stored_rows import StoredRows, narrowest, presence
from plandp.kernels.clean_items import place_entries
from plandp.kernels.compiler import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Entries = tuple[IntArray, IntArray, FloatArray]
"""Rows, columns and values of some entries, equally many of each."""


def sort_by_row(entries: Callable[[], Iterator[Entries]], *, n: int, d: int, binary: bool) -> StoredRows:
    """Return the entries as compressed rows, each row's in the order they come in; no two are added up.

    What lies outside the n rows or the d columns is left out, and zeros and NaN are.
    """
    begin = np.zeros(n + 1, np.int64)
    for rows, _, _ in _kept(entries(), n=n, d=d):
        np.add.at(begin, rows + 1, 1)
    np.cumsum(begin, out=begin)
    items = np.empty(int(begin[-1]), narrowest(d))
    values = np.empty(0 if binary else len(items))
    free = begin[:-1].copy()
    put = compiled(place_entries) or _place_entries
    for rows, columns, weights in _kept(entries(), n=n, d=d):
        put(rows, columns, weights, free, items, values)
    return StoredRows(begin=begin, items=items, values=None if binary else values, writable=True)


def _kept(entries: Iterator[Entries], *, n: int, d: int) -> Iterator[Entries]:
    for rows, columns, values in entries:
        counts = (rows >= 0) & (rows < n) & (columns >= 0) & (columns < d) & presence(values)
        yield (rows, columns, values) if counts.all() else (rows[counts], columns[counts], values[counts])


def _place_entries(
    rows: IntArray,
    columns: IntArray,
    weights: FloatArray,
    free: IntArray,
    items: NDArray[np.integer],
    values: FloatArray,
) -> None:
    """What the compiled loop does, in NumPy."""
    order = np.argsort(rows, kind="stable")
    row = rows[order]
    at = free[row] + np.arange(len(row)) - np.searchsorted(row, row)
    items[at] = columns[order]
    if len(values):
        values[at] = weights[order]
    np.add.at(free, rows, 1)
