"""Rows to differences of pairs of rows: the loop of `classic/pairs.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def add_to_pairs(
    block: FloatArray,
    places: IntArray,
    used: int,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    middle: FloatArray,
    unit: FloatArray,
    differences: FloatArray,
) -> None:
    """Add every row at an odd place to the difference of its pair, and take it off at an even one, in units.

    Each of two numbers is added to 0 first, so that which row is read first does not show.
    """
    n, d = block.shape
    for r in range(n):
        if places[r] >= used:
            continue
        row, difference = block[r], differences[places[r] // 2]
        sign = 1.0 if places[r] % 2 else -1.0
        for c in range(d):
            x = row[c]
            x = low[c] if x < low[c] else x
            x = high[c] if x > high[c] else x
            x = stand_in[c] if x != x else x  # NaN
            difference[c] += sign * ((x - middle[c]) / unit[c])
