"""Rows of items that are there or not: the loops of `mechanisms/item_rows.py` where no row holds values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.item_rows import CELL_SHIFT

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def count_set_norms(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: NDArray[np.int32],
    alike: bool,
    lowest_cell: int,
    counts: IntArray,
) -> None:
    """Add 1 to the cell of every row's squared norm; `alike` says that all weights are the first."""
    as_float = np.empty(1)
    bits = as_float.view(np.int64)
    one = np.int64(weights[0])
    for r in range(len(begin) - 1):
        norm = one * one * np.int64(begin[r + 1] - begin[r])
        if not alike:
            norm = np.int64(0)
            for t in range(begin[r], begin[r + 1]):
                q = np.int64(weights[items[t]])
                norm += q * q
        as_float[0] = norm
        counts[min(max((bits[0] >> CELL_SHIFT) - lowest_cell, 0), len(counts) - 1)] += 1


def add_clipped_sets(
    begin: NDArray[Any],
    items: NDArray[Any],
    weights: NDArray[np.int32],
    alike: bool,
    squared_radius: int,
    radius: float,
    seen: NDArray[np.int32],
    sums: IntArray,
) -> None:
    """Count the items of rows within the radius in `seen`, and add the others, scaled down to it, to `sums`."""
    one = np.int64(weights[0])
    for r in range(len(begin) - 1):
        norm = one * one * np.int64(begin[r + 1] - begin[r])
        if not alike:
            norm = np.int64(0)
            for t in range(begin[r], begin[r + 1]):
                q = np.int64(weights[items[t]])
                norm += q * q
        if norm <= squared_radius:
            for t in range(begin[r], begin[r + 1]):
                seen[items[t]] += 1
        else:
            shorter = radius / np.floor(np.sqrt(np.float64(norm)) + 2.0) * (1.0 - 2.0**-50)
            for t in range(begin[r], begin[r + 1]):
                sums[items[t]] += np.int64(np.float64(weights[items[t]]) * shorter)


def add_grouped_sets(
    begin: NDArray[Any],
    items: NDArray[Any],
    group: NDArray[np.uint8],
    weights: NDArray[np.int32],
    largest: int,
    squared_radius: int,
    radius: float,
    sums: IntArray,
) -> None:
    """As `add_clipped_sets` for the row's sums over groups of columns that share a weight, each at most `largest`."""
    row = np.empty(len(sums), np.int64)
    for r in range(len(begin) - 1):
        row[:] = 0
        for t in range(begin[r], begin[r + 1]):
            row[group[items[t]]] += 1
        norm = np.int64(0)
        for g in range(len(sums)):
            row[g] = min(row[g] * np.int64(weights[g]), largest)
            norm += row[g] * row[g]
        clipped = norm > squared_radius
        shorter = radius / np.floor(np.sqrt(np.float64(norm)) + 2.0) * (1.0 - 2.0**-50) if clipped else 1.0
        for g in range(len(sums)):
            sums[g] += np.int64(np.float64(row[g]) * shorter) if clipped else row[g]
