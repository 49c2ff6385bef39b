"""Rows of items that are there or not: the loops of `mechanisms/item_rows.py` where no row holds values.

Most rows are short, and a loop for each of them would cost more than what it adds up: where possible, loops run on
over the items of many rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

TURNS = 4
"""Items are counted by turns: neighbours are often in one group, and no count should wait for the last."""


def write_set_norms(
    begin: NDArray[Any], items: NDArray[Any], weights: NDArray[Any], upto: NDArray[np.uint64], norms: IntArray
) -> None:
    """Write every row's squared norm, the sum of the squared weights of its items.

    A norm is the difference of two sums modulo 2^64 and itself far below: no other row leaves a trace in it.  `upto`
    holds the sums for as many items as it has room for, less one, at a time: so it stays in cache.
    """
    total = before = np.uint64(0)
    room = len(upto) - 1
    r = 0
    for first in range(begin[0], begin[-1], room):
        upto[0] = total
        tile = items[first : min(first + room, begin[-1])]
        for t in range(len(tile)):
            weight = np.uint64(weights[tile[t]])
            total += weight * weight
            upto[t + 1] = total
        ends = begin[r + 1 :]
        of_tile = norms[r:]
        for k in range(len(ends)):
            if ends[k] > first + room:
                break
            after = upto[np.uint64(ends[k] - first)]
            of_tile[k] = np.int64(after - before)
            before = after
            r += 1
    norms[r:] = 0  # empty rows at the end, or no items at all


def count_items(items: NDArray[Any], counts: NDArray[np.int32]) -> None:
    """Add 1 to the count of every item, from two places at a time: neither waits for the other."""
    half = len(items) // 2
    first = items[:half]
    second = items[half:]
    for t in range(half):
        counts[first[t]] += 1
        counts[second[t]] += 1
    for c in second[half:]:
        counts[c] += 1


def add_clipped_sets(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: NDArray[Any],
    norms: IntArray,
    long: IntArray,
    radius: float,
    sums: NDArray[Any],
) -> None:
    """Add to `sums` what changes when the `long` rows are scaled down to the radius: what is left, less what was."""
    for r in long:
        shorter = radius / np.floor(np.sqrt(np.float64(norms[r])) + 2.0) * (1.0 - 2.0**-50)
        for c in items[begin[r] : begin[r + 1]]:
            sums[c] += np.int32(np.float64(weights[c]) * shorter) - np.int32(weights[c])


def add_clipped_alike(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: NDArray[Any],
    norms: IntArray,
    long: IntArray,
    radius: float,
    sums: NDArray[Any],
) -> None:
    """As `add_clipped_sets` where all weights are the same, and so is what changes in all items of a row."""
    for r in long:
        shorter = radius / np.floor(np.sqrt(np.float64(norms[r])) + 2.0) * (1.0 - 2.0**-50)
        change = np.int32(np.float64(weights[0]) * shorter) - np.int32(weights[0])
        for c in items[begin[r] : begin[r + 1]]:
            sums[c] += change


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
    by_turns = np.empty((TURNS, len(sums)), np.int64)
    row = np.empty(len(sums), np.int64)
    for r in long:
        by_turns[:] = 0
        held = items[begin[r] : begin[r + 1]]
        for t in range(len(held)):
            by_turns[t % TURNS, group[held[t]]] += 1
        norm = np.int64(0)
        for g in range(len(sums)):
            row[g] = by_turns[:, g].sum()
            sums[g] -= row[g] * np.int64(weights[g])
            row[g] = min(row[g] * np.int64(weights[g]), largest)
            norm += row[g] * row[g]
        clipped = norm > squared_radius
        shorter = radius / np.floor(np.sqrt(np.float64(norm)) + 2.0) * (1.0 - 2.0**-50) if clipped else 1.0
        for g in range(len(sums)):
            sums[g] += np.int64(np.float64(row[g]) * shorter) if clipped else row[g]
