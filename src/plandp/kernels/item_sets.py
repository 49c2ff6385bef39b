"""Rows of items that are there or not: the loops of `mechanisms/item_rows.py` where no row holds values.

Most rows are short, and a loop for each of them would cost more than what it adds up: where possible, loops run on
over the items of many rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def write_set_norms(
    begin: NDArray[Any], items: NDArray[Any], squares: NDArray[np.uint64], upto: NDArray[np.uint64], norms: IntArray
) -> None:
    """Write every row's squared norm, the sum of the squared weights of its items.

    A norm is the difference of two sums modulo 2^64 and itself far below: no other row leaves a trace in it.  `upto`
    holds the sums for as many items as it has room for, less one, at a time: so it stays in cache.
    """
    total = before = np.uint64(0)
    rows = len(norms)
    r = 0
    for first in range(begin[0], begin[rows], len(upto) - 1):
        last = min(first + len(upto) - 1, begin[rows])
        upto[0] = total
        tile = items[first:last]
        for t in range(len(tile)):
            total += squares[tile[t]]
            upto[t + 1] = total
        while r < rows and begin[r + 1] <= last:
            after = upto[begin[r + 1] - first]
            norms[r] = np.int64(after - before)
            before = after
            r += 1
    norms[r:] = 0  # empty rows at the end, or no items at all


def count_items(items: NDArray[Any], counts: IntArray) -> None:
    """Add 1 to the count of every item."""
    for c in items:
        counts[c] += 1


def add_clipped_sets(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: NDArray[np.int32],
    norms: IntArray,
    long: IntArray,
    radius: float,
    sums: IntArray,
) -> None:
    """Add to `sums` what changes when the `long` rows are scaled down to the radius: what is left, less what was."""
    for r in long:
        shorter = radius / np.floor(np.sqrt(np.float64(norms[r])) + 2.0) * (1.0 - 2.0**-50)
        for c in items[begin[r] : begin[r + 1]]:
            sums[c] += np.int64(np.float64(weights[c]) * shorter) - np.int64(weights[c])


def add_grouped_sets(
    begin: NDArray[Any],
    items: NDArray[Any],
    group: NDArray[np.uint8],
    weights: NDArray[np.int32],
    long: IntArray,
    largest: int,
    squared_radius: int,
    radius: float,
    sums: IntArray,
) -> None:
    """As `add_clipped_sets` for the row's sums over groups of columns that share a weight, each at most `largest`.

    Only the `long` rows can have more.
    """
    row = np.empty(len(sums), np.int64)
    for r in long:
        row[:] = 0
        for c in items[begin[r] : begin[r + 1]]:
            row[group[c]] += 1
        norm = np.int64(0)
        for g in range(len(sums)):
            sums[g] -= row[g] * np.int64(weights[g])
            row[g] = min(row[g] * np.int64(weights[g]), largest)
            norm += row[g] * row[g]
        clipped = norm > squared_radius
        shorter = radius / np.floor(np.sqrt(np.float64(norm)) + 2.0) * (1.0 - 2.0**-50) if clipped else 1.0
        for g in range(len(sums)):
            sums[g] += np.int64(np.float64(row[g]) * shorter) if clipped else row[g]
