"""Compressed rows with each item once: the loops of `data/distinct_items.py` and `data/sorted_entries.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

AT_A_TIME = 2**12
"""So many items are compared before their count is added to a wider one: narrow counts go several at a time."""


def find_unclean(begin: NDArray[Any], items: NDArray[Any], last_row: NDArray[Any], found: NDArray[np.bool]) -> None:
    """Set found[0] if an item lies outside the columns or is twice in a row.

    `last_row` has one place per column and holds -1; it is written to.
    """
    d = len(last_row)
    end = begin[-1]
    stored = items[begin[0] : end]
    if len(stored) == 0:
        return
    # Most matrices are sorted: then items fall only from one row to the next, which takes no look at `last_row`.
    least = most = stored[0]
    falls = np.int64(0)
    for first in range(0, len(stored) - 1, AT_A_TIME):
        before = stored[first : min(first + AT_A_TIME, len(stored) - 1)]
        after = stored[first + 1 :]
        lower = np.int32(0)
        for e in range(len(before)):
            lower += np.int32(after[e] <= before[e])
            least = min(least, after[e])
            most = max(most, after[e])
        falls += np.int64(lower)
    if least < 0 or most >= d:
        found[0] = True
        return
    for r in range(1, len(begin) - 1):
        e = begin[r]
        if begin[r - 1] < e < end:
            falls -= items[e] <= items[e - 1]
    if falls == 0:
        return
    for r in range(len(begin) - 1):
        for e in range(begin[r], begin[r + 1]):
            if last_row[items[e]] == r:
                found[0] = True
                return
            last_row[items[e]] = r


def clean_rows(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: FloatArray,
    place: NDArray[Any],
    where: IntArray,
    new_begin: IntArray,
    new_items: NDArray[Any],
    new_weights: FloatArray,
) -> None:
    """Write each row's items, renamed by `place`, once each, with the sum of their weights in stored order.

    Weights that are zero or NaN, items outside `place` or placed at -1, and sums that are not above zero are left out.
    `where` holds -1 for every new item, before and after.  The new arrays may share memory with the old ones, at the
    same place or before it.
    """
    at = new_begin[0]
    for r in range(len(begin) - 1):
        first = at
        for e in range(begin[r], begin[r + 1]):
            item = items[e]
            weight = weights[e]
            if item < 0 or item >= len(place) or weight != weight or weight == 0.0:
                continue
            new_item = place[item]
            if new_item < 0:
                continue
            seen = where[new_item]
            if seen < 0:
                where[new_item] = at
                new_items[at] = new_item
                new_weights[at] = weight
                at += 1
            else:
                new_weights[seen] += weight
        end = at
        at = first
        for e in range(first, end):
            new_item = new_items[e]
            where[new_item] = -1
            if new_weights[e] > 0.0:
                new_items[at] = new_item
                new_weights[at] = new_weights[e]
                at += 1
        new_begin[r + 1] = at


def count_entries(rows: NDArray[Any], columns: NDArray[Any], weights: FloatArray, d: int, counts: IntArray) -> None:
    """Add 1 to the count of its row for every entry within the rows and d columns that is neither zero nor NaN."""
    for e in range(len(rows)):
        row = rows[e]
        weight = weights[e]
        if 0 <= row < len(counts) and 0 <= columns[e] < d and weight == weight and weight != 0.0:
            counts[row] += 1


def place_entries(
    rows: NDArray[Any],
    columns: NDArray[Any],
    weights: FloatArray,
    d: int,
    free: IntArray,
    items: NDArray[Any],
    values: FloatArray,
) -> None:
    """Write every entry that `count_entries` counts to the next free place of its row; the values if there is room."""
    for e in range(len(rows)):
        row = rows[e]
        column = columns[e]
        weight = weights[e]
        if 0 <= row < len(free) and 0 <= column < d and weight == weight and weight != 0.0:
            at = free[row]
            free[row] = at + 1
            items[at] = column
            if len(values):
                values[at] = weight
