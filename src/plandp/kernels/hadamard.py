"""The fast Walsh–Hadamard transform of rows: the loops of `mechanisms/rotated.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def rotate_rows(rows: FloatArray, signs: FloatArray, scale: float) -> None:
    """Replace every row by scale · H·S_k … H·S_1 · row, S a diagonal of signs, H the Hadamard matrix of ±1.

    The length of a row is a power of two.  Butterflies go in one fixed order, so that a row's bits do not depend on
    the rows beside it.  Several levels are done while their numbers are at hand: the same sums, fewer loads.

    Indices are unsigned: of others the compiler would test the sign, which takes as long as adding.
    """
    n, d = rows.shape
    row = np.empty(d)  # copied here and back, or the compiler could not tell it from the signs
    for r in range(n):
        for c in range(d):
            row[c] = rows[r, c]
        for k in range(len(signs)):
            for c in range(d):
                row[c] *= signs[k, c]
            half = 1
            if d >= 8:
                add_eights(row)
                half = 8
            while 4 * half <= d:
                add_quarters(row, half)
                half *= 4
            while half < d:
                add_halves(row, half)
                half *= 2
        for c in range(d):
            rows[r, c] = row[c] * scale


def add_eights(row: FloatArray) -> None:
    """The first three levels: butterflies of numbers that are 1, then 2, then 4 apart."""
    for begin in range(0, len(row), 8):
        c = np.uint64(begin)
        a0, a1, a2, a3 = row[c], row[c + np.uint64(1)], row[c + np.uint64(2)], row[c + np.uint64(3)]
        a4, a5, a6, a7 = (
            row[c + np.uint64(4)],
            row[c + np.uint64(5)],
            row[c + np.uint64(6)],
            row[c + np.uint64(7)],
        )
        b0, b1, b2, b3, b4, b5, b6, b7 = a0 + a1, a0 - a1, a2 + a3, a2 - a3, a4 + a5, a4 - a5, a6 + a7, a6 - a7
        a0, a1, a2, a3, a4, a5, a6, a7 = b0 + b2, b1 + b3, b0 - b2, b1 - b3, b4 + b6, b5 + b7, b4 - b6, b5 - b7
        row[c], row[c + np.uint64(4)] = a0 + a4, a0 - a4
        row[c + np.uint64(1)], row[c + np.uint64(5)] = a1 + a5, a1 - a5
        row[c + np.uint64(2)], row[c + np.uint64(6)] = a2 + a6, a2 - a6
        row[c + np.uint64(3)], row[c + np.uint64(7)] = a3 + a7, a3 - a7


def add_quarters(row: FloatArray, half: int) -> None:
    """Two levels: butterflies of numbers that are `half`, then 2·half apart."""
    for begin in range(0, len(row), 4 * half):
        first = np.uint64(begin)
        second, third, fourth = np.uint64(begin + half), np.uint64(begin + 2 * half), np.uint64(begin + 3 * half)
        for place in range(half):
            c = np.uint64(place)
            a, b, e, f = row[first + c], row[second + c], row[third + c], row[fourth + c]
            p, q, s, t = a + b, a - b, e + f, e - f
            row[first + c], row[second + c], row[third + c], row[fourth + c] = p + s, q + t, p - s, q - t


def add_halves(row: FloatArray, half: int) -> None:
    """One level: butterflies of numbers that are `half` apart."""
    for begin in range(0, len(row), 2 * half):
        first, second = np.uint64(begin), np.uint64(begin + half)
        for place in range(half):
            c = np.uint64(place)
            a, b = row[first + c], row[second + c]
            row[first + c], row[second + c] = a + b, a - b
