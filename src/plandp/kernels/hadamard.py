"""The fast Walsh–Hadamard transform of rows: the loop of `mechanisms/rotated.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def rotate_rows(rows: FloatArray, signs: FloatArray, scale: float) -> None:
    """Replace every row by scale · H·S_k … H·S_1 · row, S a diagonal of signs, H the Hadamard matrix of ±1.

    The length of a row is a power of two.  Butterflies go in one fixed order, so that a row's bits do not depend on
    the rows beside it.
    """
    n, d = rows.shape
    for r in range(n):
        row = rows[r]
        for k in range(len(signs)):
            for c in range(d):
                row[c] = row[c] * signs[k, c]
            half = 1
            while half < d:
                for begin in range(0, d, 2 * half):
                    left, right = row[begin : begin + half], row[begin + half : begin + 2 * half]
                    for c in range(half):
                        a, b = left[c], right[c]
                        left[c] = a + b
                        right[c] = a - b
                half *= 2
        for c in range(d):
            row[c] = row[c] * scale
