"""Rows to recentred rows: the loop of `mechanisms/rotated.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def write_recentred(
    block: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    center: FloatArray,
    factor: FloatArray,
    recentred: FloatArray,
) -> None:
    """Write every row, recentred as in `mechanisms/recentred.py`, to the first columns of `recentred`."""
    n, d = block.shape
    for r in range(n):
        row, out = block[r], recentred[r]
        for c in range(d):
            x = row[c]
            x = low[c] if x < low[c] else x
            x = high[c] if x > high[c] else x
            x = stand_in[c] if x != x else x  # NaN
            x = (x - center[c]) * factor[c]
            out[c] = 0.0 if x != x else x
