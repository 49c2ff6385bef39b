"""Rows to recentred rows and to their norms: the loops of `mechanisms/rotated.py` and `mechanisms/row_norms.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def recentred_value(x: float, low: float, high: float, stand_in: float, center: float, factor: float) -> float:
    """Return a value as `mechanisms/recentred.py` recentres it."""
    x = low if x < low else x
    x = high if x > high else x
    x = stand_in if x != x else x  # NaN
    x = (x - center) * factor
    return 0.0 if x != x else x


def write_recentred(
    block: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    center: FloatArray,
    factor: FloatArray,
    recentred: FloatArray,
) -> None:
    """Write every row, recentred, to the first columns of `recentred`."""
    n, d = block.shape
    for r in range(n):
        row, out = block[r], recentred[r]
        for c in range(d):
            out[c] = recentred_value(row[c], low[c], high[c], stand_in[c], center[c], factor[c])


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
            x = recentred_value(block[r, c], low[c], high[c], stand_in[c], center[c], factor[c])
            total += x * x
        norms[r] = np.sqrt(total)
