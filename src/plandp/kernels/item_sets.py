"""Rows of items that are there or not: the loops of `mechanisms/item_rows.py` where no row holds values.

Most rows are short, and a loop for each of them would cost more than what it adds up: where possible, loops run on
over the items of many rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def write_set_norms(
    begin: NDArray[Any], items: NDArray[Any], weights: NDArray[np.int32], upto: NDArray[np.uint64], norms: IntArray
) -> None:
    """Write every row's squared norm; `upto` has room for one number more than there are items.

    A norm is the difference of two sums modulo 2^64 and itself far below: no other row leaves a trace in it.
    """
    total = np.uint64(0)
    upto[0] = total
    for t in range(len(items)):
        q = np.uint64(weights[items[t]])
        total += q * q
        upto[t + 1] = total
    for r in range(len(norms)):
        norms[r] = np.int64(upto[begin[r + 1]] - upto[begin[r]])


def add_clipped_sets(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: NDArray[np.int32],
    norms: IntArray,
    long: IntArray,
    radius: float,
    sums: IntArray,
) -> None:
    """Add every row's weights to `sums`; the `long` rows, in order, are those that are scaled down to the radius.

    Items of the others are counted, and weighted at last; there must be fewer than 2^31 rows.
    """
    seen = np.zeros(len(sums), np.int32)
    start = begin[0]
    for r in long:
        for c in items[start : begin[r]]:
            seen[c] += 1
        start = begin[r + 1]
        shorter = radius / np.floor(np.sqrt(np.float64(norms[r])) + 2.0) * (1.0 - 2.0**-50)
        for c in items[begin[r] : start]:
            sums[c] += np.int64(np.float64(weights[c]) * shorter)
    for c in items[start : begin[-1]]:
        seen[c] += 1
    for c in range(len(sums)):
        sums[c] += np.int64(weights[c]) * np.int64(seen[c])


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

    Only the `long` rows, in order, can have more; there must be fewer than 2^31 rows.
    """
    seen = np.zeros(len(group), np.int32)
    row = np.empty(len(sums), np.int64)
    start = begin[0]
    for r in long:
        for c in items[start : begin[r]]:
            seen[c] += 1
        start = begin[r + 1]
        row[:] = 0
        for c in items[begin[r] : start]:
            row[group[c]] += 1
        norm = np.int64(0)
        for g in range(len(sums)):
            row[g] = min(row[g] * np.int64(weights[g]), largest)
            norm += row[g] * row[g]
        clipped = norm > squared_radius
        shorter = radius / np.floor(np.sqrt(np.float64(norm)) + 2.0) * (1.0 - 2.0**-50) if clipped else 1.0
        for g in range(len(sums)):
            sums[g] += np.int64(np.float64(row[g]) * shorter) if clipped else row[g]
    for c in items[start : begin[-1]]:
        seen[c] += 1
    for g in range(len(sums)):
        total = np.int64(0)
        for c in range(len(seen)):
            total += np.int64(seen[c]) if group[c] == g else np.int64(0)
        sums[g] += total * np.int64(weights[g])
