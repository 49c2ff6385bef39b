"""Norms of recentred rows: the loop of `mechanisms/row_norms.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def write_norms(
    block: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    center: FloatArray,
    factor: FloatArray,
    norms: FloatArray,
) -> None:
    """Write the norm of every row to `norms`, its squares added from the left, as in `kernels/norm_cells.py`."""
    n, d = block.shape
    for r in range(n):
        total = 0.0
        for c in range(d):
            x = block[r, c]
            x = low[c] if x < low[c] else x
            x = high[c] if x > high[c] else x
            x = stand_in[c] if x != x else x  # NaN
            x = (x - center[c]) * factor[c]
            x = 0.0 if x != x else x
            total += x * x
        norms[r] = np.sqrt(total)
