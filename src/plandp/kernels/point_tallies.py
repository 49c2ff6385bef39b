"""Values counted between points of a lattice: the loop of `mechanisms/read_again.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

ROWS = 512
COLUMNS = 64
"""So many values are looked up at a time: they stay in cache, and so do the points of one column."""


def lattice_key(x: float, low: float, high: float, stand_in: float, step: float, cells: float) -> float:
    """As in `kernels/lattice_keys.py`: loops call nothing of another file, or kept code could be out of date."""
    x = low if x < low else x
    x = high if x > high else x
    x = stand_in if x != x else x  # NaN
    key: float = np.floor((x - low) / step)
    key = key if key < cells - 1.0 else cells - 1.0
    return cells if x != x else key


def tally_between(
    block: FloatArray,
    chosen: NDArray[np.int64],
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    step: FloatArray,
    cells: FloatArray,
    points: FloatArray,
    tally: NDArray[Any],
    absent: NDArray[np.int64],
) -> None:
    """Add 1 to tally[column, p] for every value, or for those of `chosen` rows, whose key is not below p of the points.

    Indices are unsigned: of others the compiler would test the sign, which takes longer than all the rest.
    """
    n, d = block.shape
    count, many = len(chosen) if len(chosen) else n, points.shape[1]
    keys = np.empty((ROWS, COLUMNS), np.float64)
    own, places = np.empty(ROWS, np.float64), np.empty(ROWS, np.int32)
    for first in range(0, count, ROWS):
        rows = min(ROWS, count - first)
        for left in range(0, d, COLUMNS):
            columns = min(COLUMNS, d - left)
            for r in range(rows):
                row = block[chosen[first + r] if len(chosen) else first + r]
                for c in range(columns):
                    at = left + c
                    key = lattice_key(row[at], low[at], high[at], stand_in[at], step[at], cells[at])
                    keys[r, c] = key
                    absent[at] += key == cells[at]
            for c in range(columns):
                line, tallied = points[left + c], tally[left + c]
                for r in range(rows):
                    own[r], places[r] = keys[r, c], 0
                size = many
                while size > 0:  # of all rows at once: the processor need not wait for one to begin the next
                    half = np.int32((size + 1) // 2)
                    for r in range(rows):
                        place = places[r]
                        not_below = line[np.uint32(place + half - np.int32(1))] <= own[r]
                        places[r] = place + half if not_below else place
                    size -= half
                for r in range(rows):
                    tallied[places[r]] += 1
