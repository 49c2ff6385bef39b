"""Rows of values to integer vectors, their norms and their clipped sums: the loops of `mechanisms/item_rows.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TURNS = 4
"""Rows are counted by turns: those next to each other are often in one cell, and no count should wait for the last."""


def count_cells(norms: IntArray, shift: int, lowest: int, counts: IntArray) -> None:
    """Add 1 to the cell of every squared norm: its float without the last `shift` bits, counted from the lowest cell.

    `counts` has a line for each of the `TURNS`.
    """
    last = counts.shape[1] - 1
    for r in range(len(norms)):
        counts[r % TURNS, min(max((np.float64(norms[r]).view(np.int64) >> shift) - lowest, 0), last)] += 1


def write_norms(
    begin: NDArray[Any],
    items: NDArray[Any],
    values: NDArray[Any],
    high: FloatArray,
    weights: FloatArray,
    squared: bool,
    largest: float,
    norms: IntArray,
) -> None:
    """Write every row's squared norm."""
    for r in range(len(norms)):
        norm = np.int64(0)
        for t in range(begin[r], begin[r + 1]):
            c = items[t]
            x = np.float64(values[t])
            x = high[c] if x > high[c] else x
            x = x * x if squared else x
            x = np.rint(x * weights[c])
            q = np.int64(x if x < largest else largest)
            norm += q * q
        norms[r] = norm


def add_clipped(
    begin: NDArray[Any],
    items: NDArray[Any],
    values: NDArray[Any],
    high: FloatArray,
    weights: FloatArray,
    squared: bool,
    largest: float,
    norms: IntArray,
    squared_radius: int,
    radius: float,
    sums: IntArray,
) -> None:
    """Add every row's integer vector to `sums`, scaled down where its squared norm exceeds the squared radius."""
    for r in range(len(norms)):
        clipped = norms[r] > squared_radius
        shorter = radius / np.floor(np.sqrt(np.float64(norms[r])) + 2.0) * (1.0 - 2.0**-50) if clipped else 1.0
        for t in range(begin[r], begin[r + 1]):
            c = items[t]
            x = np.float64(values[t])
            x = high[c] if x > high[c] else x
            x = x * x if squared else x
            x = np.rint(x * weights[c])
            q = np.int64(x if x < largest else largest)
            sums[c] += np.int64(np.float64(q) * shorter) if clipped else q


def add_grouped(
    begin: NDArray[Any],
    items: NDArray[Any],
    values: NDArray[Any],
    high: FloatArray,
    weights: FloatArray,
    group: NDArray[np.int64],
    largest: float,
    squared_radius: int,
    radius: float,
    sums: IntArray,
) -> None:
    """As `add_clipped` for the row's sums over groups of columns, each sum at most `largest`."""
    most = np.int64(largest)
    row = np.empty(len(sums), np.int64)
    for r in range(len(begin) - 1):
        row[:] = 0
        for t in range(begin[r], begin[r + 1]):
            c = items[t]
            x = np.float64(values[t])
            x = high[c] if x > high[c] else x
            x = np.rint(x * weights[c])
            q = np.int64(x if x < largest else largest)
            row[group[c]] = min(row[group[c]] + q, most)
        norm = np.int64(0)
        for g in range(len(sums)):
            norm += row[g] * row[g]
        clipped = norm > squared_radius
        shorter = radius / np.floor(np.sqrt(np.float64(norm)) + 2.0) * (1.0 - 2.0**-50) if clipped else 1.0
        for g in range(len(sums)):
            sums[g] += np.int64(np.float64(row[g]) * shorter) if clipped else row[g]
