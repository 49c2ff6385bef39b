"""Compressed rows with each item once: the loops of `data/distinct_items.py` and `data/sorted_entries.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def find_unclean(begin: NDArray[Any], items: NDArray[Any], last_row: NDArray[Any], found: NDArray[np.bool]) -> None:
    """Set found[0] if an item lies outside the columns or is twice in a row.

    `last_row` has one place per column and holds -1; it is written to.
    """
    d = len(last_row)
    for r in range(len(begin) - 1):
        for e in range(begin[r], begin[r + 1]):
            item = items[e]
            if item < 0 or item >= d or last_row[item] == r:
                found[0] = True
                return
            last_row[item] = r


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


def place_entries(
    rows: IntArray, columns: IntArray, weights: FloatArray, free: IntArray, items: NDArray[Any], values: FloatArray
) -> None:
    """Write every entry to the next free place of its row; without room for values, only the columns."""
    for e in range(len(rows)):
        at = free[rows[e]]
        free[rows[e]] = at + 1
        items[at] = columns[e]
        if len(values):
            values[at] = weights[e]
