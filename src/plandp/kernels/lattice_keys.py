"""Values to lattice cells and counts of them: the loops of `mechanisms/lattice_counts.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

ROWS = 64
"""Rows of keys that are tallied at a time: they stay in cache."""

AHEAD = 512
"""Values, or a row: so far ahead memory is asked for what comes next."""

PER_LINE = 8
"""Values in a line of the cache."""


def ask_memory(values: FloatArray, place: int) -> None:
    """Compiled, have the line of the cache that holds values[place] fetched in the background; else do nothing."""


def lattice_key(x: float, low: float, high: float, stand_in: float, step: float, cells: float) -> float:
    """Return the lattice cell of a value, 0 to cells - 1; what stays NaN gets `cells`."""
    x = low if x < low else x
    x = high if x > high else x
    x = stand_in if x != x else x  # NaN
    key: float = np.floor((x - low) / step)
    key = key if key < cells - 1.0 else cells - 1.0
    return cells if x != x else key


def write_keys(
    block: FloatArray,
    chosen: NDArray[np.int64],
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    step: FloatArray,
    cells: FloatArray,
    keys: NDArray[Any],
    absent: NDArray[np.int64],
) -> None:
    """Write the lattice cells of every row, or of `chosen` ones, to `keys`; what stays NaN is absent: key `cells`."""
    n, d = block.shape
    values = block.reshape(n * d)
    count = len(chosen) if len(chosen) else n
    ahead = max(1, AHEAD // d)
    for r in range(count):
        row, line = block[chosen[r] if len(chosen) else r], keys[r]
        later = r + ahead
        if later < count:
            soon = (chosen[later] if len(chosen) else later) * d
            for c in range(0, d, PER_LINE):
                ask_memory(values, soon + c)
        for c in range(d):
            key = lattice_key(row[c], low[c], high[c], stand_in[c], step[c], cells[c])
            line[c] = key
            absent[c] += key == cells[c]


def count_below(keys: NDArray[Any], wanted: NDArray[Any], below: NDArray[np.int64]) -> None:
    """Add the number of keys below `wanted` to `below`, for every column."""
    m, d = keys.shape
    part = np.empty(d, np.uint16)  # as wide as most keys: sixteen of them are counted at once
    for first in range(0, m, 2**15):
        part[:] = 0
        for r in range(first, min(first + 2**15, m)):
            for c in range(d):
                part[c] += np.uint16(keys[r, c] < wanted[c])
        for c in range(d):
            below[c] += part[c]


def tally_values(
    block: FloatArray,
    chosen: NDArray[np.int64],
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    step: FloatArray,
    cells: FloatArray,
    tally: NDArray[np.int32],
    absent: NDArray[np.int64],
) -> None:
    """Add 1 to tally[column, key] for every value, or for those of `chosen` rows; keys are those of `write_keys`."""
    n, d = block.shape
    values = block.reshape(n * d)
    count = len(chosen) if len(chosen) else n
    ahead = max(1, AHEAD // d)
    few = np.empty((ROWS, d + 8), np.uint16)  # rows that do not share their lines of the cache
    for first in range(0, count, ROWS):
        rows = min(ROWS, count - first)
        for r in range(rows):
            row, keys = block[chosen[first + r] if len(chosen) else first + r], few[r]
            later = first + r + ahead
            if later < count:
                soon = (chosen[later] if len(chosen) else later) * d
                for c in range(0, d, PER_LINE):
                    ask_memory(values, soon + c)
            for c in range(d):
                key = lattice_key(row[c], low[c], high[c], stand_in[c], step[c], cells[c])
                keys[c] = key
                absent[c] += key == cells[c]
        for c in range(d):
            line = tally[c]
            for r in range(rows):
                line[few[r, c]] += 1


def tally_around(keys: NDArray[Any], base: NDArray[np.int32], below: NDArray[np.int32]) -> None:
    """Write to below[column, p] how many keys of the column are below base + p, for every p but the last."""
    m, d = keys.shape
    last = np.int32(below.shape[1] - 1)
    few = np.empty((ROWS, d + 8), np.uint16)
    below[:] = 0
    for first in range(0, m, ROWS):
        rows = min(ROWS, m - first)
        for r in range(rows):
            for c in range(d):
                place = np.int32(keys[first + r, c]) - base[c] + np.int32(1)
                place = place if place > 0 else np.int32(0)
                few[r, c] = place if place < last else last
        for c in range(d):
            line = below[c]
            for r in range(rows):
                line[few[r, c]] += 1
    for c in range(d):
        for p in range(last):
            below[c, p + 1] += below[c, p]
