"""How many values of every column lie between released edges: the loop of `mechanisms/rank_histogram.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def count_between(
    values: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    step: FloatArray,
    cells: FloatArray,
    edges: FloatArray,
    counts: IntArray,
    absent: IntArray,
) -> None:
    """Add to `counts` the keys of every column from each of its edges, 2^b - 1 sorted ones, up to the next."""
    n, d = values.shape
    bins = edges.shape[1] + 1
    tile = min(64, max(8, 4096 // bins))  # so many columns at a time: their edges and counts stay in cache
    keys, places = np.empty(tile), np.empty(tile, np.int64)
    for begin in range(0, d, tile):
        columns = min(tile, d - begin)
        for r in range(n):
            for c in range(columns):
                x = values[r, begin + c]
                x = low[begin + c] if x < low[begin + c] else x
                x = high[begin + c] if x > high[begin + c] else x
                x = stand_in[begin + c] if x != x else x  # NaN
                key = np.floor((x - low[begin + c]) / step[begin + c])
                keys[c] = cells[begin + c] - 1.0 if key >= cells[begin + c] else key
                places[c] = 0
            half = bins // 2
            while half:
                for c in range(columns):
                    places[c] += half * np.int64(edges[begin + c, places[c] + half - 1] <= keys[c])
                half //= 2
            for c in range(columns):
                there = np.int64(keys[c] == keys[c])
                counts[begin + c, places[c]] += there
                absent[begin + c] += 1 - there
