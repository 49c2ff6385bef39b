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
    for first in range(0, n, 32):
        for c in range(d):
            for r in range(first, min(first + 32, n)):
                x = block[r, c]
                x = low[c] if x < low[c] else x
                x = high[c] if x > high[c] else x
                x = stand_in[c] if x != x else x  # NaN
                if x != x:  # NaN
                    keys[c, begin + r] = keys.dtype.type(cells[c])
                    absent[c] += 1
                else:
                    key = np.floor((x - low[c]) / step[c])
                    keys[c, begin + r] = keys.dtype.type(min(key, cells[c] - 1.0))
