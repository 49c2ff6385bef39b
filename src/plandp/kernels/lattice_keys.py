"""Values to lattice cells, column by column: the loop of `mechanisms/lattice_counts.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def write_keys(
    block: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    step: FloatArray,
    cells: FloatArray,
    begin: int,
    keys: NDArray[Any],
    absent: NDArray[np.int64],
) -> None:
    """Write the lattice cell of every value to keys[column, begin + row]; what stays NaN is absent, and last."""
    n, d = block.shape
    high_tile = min(max(2**15 // d, 16), 256)
    tile = np.empty((high_tile, d), keys.dtype)
    for first in range(0, n, high_tile):
        rows = min(high_tile, n - first)
        for r in range(rows):
            for c in range(d):
                x = block[first + r, c]
                x = low[c] if x < low[c] else x
                x = high[c] if x > high[c] else x
                x = stand_in[c] if x != x else x  # NaN
                lost = x != x
                key = np.floor((x - low[c]) / step[c])
                key = key if key < cells[c] - 1.0 else cells[c] - 1.0
                tile[r, c] = cells[c] if lost else key
                absent[c] += lost
        for c in range(d):
            for r in range(rows):
                keys[c, begin + first + r] = tile[r, c]


def count_below(keys: NDArray[Any], wanted: NDArray[Any], below: NDArray[np.int64]) -> None:
    """Write the number of keys below `wanted` to `below`, for every column of sorted keys."""
    d, m = keys.shape
    halvings = 0
    while m >> halvings:
        halvings += 1
    for c in range(d):
        low, high = 0, m
        for _ in range(halvings):
            middle = (low + high) // 2
            if low < high and keys[c, middle] < wanted[c]:
                low = middle + 1
            else:
                high = middle
        below[c] = low
