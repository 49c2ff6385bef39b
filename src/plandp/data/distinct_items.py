"""Rows in which each item is there once, within the columns, with a value that counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.stored_rows import ENTRIES_AT_A_TIME, StoredRows, cut_rows, floats, narrowest, presence
from plandp.kernels.clean_items import clean_rows, find_unclean
from plandp.kernels.compiler import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def distinct_items(rows: StoredRows, *, d: int, place: IntArray | None, binary: bool) -> StoredRows:
    """Return the rows by the rules of `open_sparse_rows`: as they are stored where nothing breaks a rule, else a copy.

    `place` says which of the d columns each stored column is, -1 for none; None: the same.
    """
    if place is None and _all_count(rows, binary=binary) and _all_distinct(rows, d):
        return StoredRows(
            begin=rows.begin, items=rows.items, values=None if binary else rows.values, writable=rows.writable
        )
    return _cleaned(rows, d=d, place=np.arange(d) if place is None else place, binary=binary)


def column_places(d: int, positions: tuple[int, ...] | None) -> NDArray[np.int64] | None:
    """Return which of the asked columns each column is, -1 for none of them."""
    if positions is None:
        return None
    place = np.full(d, -1, np.int64)
    place[list(positions)] = np.arange(len(positions))
    return place


def _all_count(rows: StoredRows, *, binary: bool) -> bool:
    """Whether every value is above zero; if binary, neither zero nor NaN."""
    if rows.values is None:
        return True
    end = int(rows.begin[-1])
    for first in range(int(rows.begin[0]), end, ENTRIES_AT_A_TIME):
        values = rows.values[first : min(first + ENTRIES_AT_A_TIME, end)]
        if values.dtype.itemsize > 8:
            values = floats(values)  # the least of what longer numbers can be is zero as float64
        # NaN is the least of all; most values are above zero, and the others seldom worth a second look
        if not (values.min() > 0 or (binary and np.all(presence(values)))):
            return False
    return True


def _all_distinct(rows: StoredRows, d: int) -> bool:
    last_row = np.full(d, -1, narrowest(len(rows.begin)))
    found = np.zeros(1, np.bool)
    (compiled(find_unclean) or _find_unclean)(rows.begin, rows.items, last_row, found)
    return not found[0]


def _find_unclean(begin: NDArray[Any], items: NDArray[Any], last_row: NDArray[Any], found: NDArray[np.bool]) -> None:
    """What the compiled loop does, some rows at a time in NumPy."""
    d = len(last_row)
    for first, last in cut_rows(begin, ENTRIES_AT_A_TIME):
        part = items[begin[first] : begin[last]]
        keys = np.repeat(np.arange(last - first) * d, np.diff(begin[first : last + 1])) + part
        if not np.all(keys[1:] > keys[:-1]):
            keys.sort()
        found[0] |= np.any((part < 0) | (part >= d)) or np.any(keys[1:] == keys[:-1])


def _cleaned(rows: StoredRows, *, d: int, place: IntArray, binary: bool) -> StoredRows:
    n = len(rows.begin) - 1
    entries = int(rows.begin[-1]) - int(rows.begin[0])
    begin = np.zeros(n + 1, np.int64)
    items = rows.items if rows.writable else np.empty(entries, narrowest(d))
    values = None if binary else rows.values if rows.writable else np.empty(entries)
    where = np.full(d, -1, np.int64)
    clean = compiled(clean_rows) or _clean_rows
    used = 0
    for first, last in cut_rows(rows.begin, ENTRIES_AT_A_TIME):
        start, end = int(rows.begin[first]), int(rows.begin[last])
        weights = rows.weights(start, end, binary=binary)
        new_weights = np.empty(end - start) if values is None else values[used:]
        old_begin = rows.begin[first : last + 1] - rows.begin[first]
        new_begin = np.zeros(last - first + 1, np.int64)
        clean(old_begin, rows.items[start:end], weights, place, where, new_begin, items[used:], new_weights)
        begin[first + 1 : last + 1] = new_begin[1:] + used
        used += int(new_begin[-1])
    return StoredRows(begin=begin, items=items[:used], values=None if values is None else values[:used], writable=True)


def _clean_rows(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: FloatArray,
    place: NDArray[Any],
    where: IntArray,
    new_begin: IntArray,
    new_items: NDArray[Any],
    new_weights: FloatArray,
) -> None:
    """What the compiled loop does, in NumPy."""
    row = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    counts = (items >= 0) & (items < len(place)) & (weights == weights) & (weights != 0.0)
    counts[counts] = place[items[counts]] >= 0
    row, item, weight = row[counts], place[items[counts]], weights[counts]
    _, first, cell = np.unique(row * len(where) + item, return_index=True, return_inverse=True)
    sums = np.bincount(cell, weight, minlength=len(first))  # each cell from its first weight to its last
    order = np.argsort(first)
    order = order[sums[order] > 0.0]
    kept = first[order]
    new_items[: len(kept)] = item[kept]
    new_weights[: len(kept)] = sums[order]
    new_begin[1:] = np.cumsum(np.bincount(row[kept], minlength=len(begin) - 1))
