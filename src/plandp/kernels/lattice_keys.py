"""Values to lattice cells and counts of them: the loops of `mechanisms/lattice_counts.py`."""

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
    keys: NDArray[Any],
    absent: NDArray[np.int64],
) -> None:
    """Write the lattice cell of every value to `keys`; what stays NaN is absent, and gets the key `cells`."""
    n, d = block.shape
    for r in range(n):
        for c in range(d):
            x = block[r, c]
            x = low[c] if x < low[c] else x
            x = high[c] if x > high[c] else x
            x = stand_in[c] if x != x else x  # NaN
            lost = x != x
            key = np.floor((x - low[c]) / step[c])
            key = key if key < cells[c] - 1.0 else cells[c] - 1.0
            keys[r, c] = cells[c] if lost else key
            absent[c] += lost


def count_below(keys: NDArray[Any], wanted: NDArray[Any], below: NDArray[np.int64]) -> None:
    """Add the number of keys below `wanted` to `below`, for every column."""
    m, d = keys.shape
    part = np.empty(d, np.int32)  # half as wide as `below`: twice as fast
    for first in range(0, m, 2**20):
        part[:] = 0
        for r in range(first, min(first + 2**20, m)):
            for c in range(d):
                part[c] += np.int32(keys[r, c] < wanted[c])
        for c in range(d):
            below[c] += part[c]
