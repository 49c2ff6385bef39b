"""How many values of every column lie between released edges: the loops of `mechanisms/rank_histogram.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROWS = 64
"""Rows whose places are found before they are counted: they stay in cache."""


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
                keys[c] = key_or_nan(
                    values[r, begin + c],
                    low[begin + c],
                    high[begin + c],
                    stand_in[begin + c],
                    step[begin + c],
                    cells[begin + c],
                )
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


def count_evenly(
    values: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    step: FloatArray,
    cells: FloatArray,
    begin: FloatArray,
    per_bin: FloatArray,
    counts: IntArray,
    absent: IntArray,
) -> None:
    """The same for edges begin + 1·width, begin + 2·width, …, width a power of two and `per_bin` its inverse.

    Nothing is searched: all is exact in whole numbers, of which keys less `begin` hold fewer than 53 bits.
    """
    n, d = values.shape
    last = counts.shape[1] - 1.0
    few = np.empty((min(ROWS, n), d + 8), np.int32)  # rows that do not share their lines of the cache
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        for r in range(rows):
            row, line = values[first + r], few[r]
            for c in range(d):
                key = key_or_nan(row[c], low[c], high[c], stand_in[c], step[c], cells[c])
                place = (key - begin[c]) * per_bin[c]  # its fraction is cut off
                place = place if place > 0.0 else 0.0
                place = place if place < last else last
                line[c] = np.int32(-1.0 if key != key else place)
        for c in range(d):
            line_of_counts = counts[c]
            for r in range(rows):
                at = few[r, c]
                if at >= 0:
                    line_of_counts[np.uint64(at)] += 1
                else:
                    absent[c] += 1


def key_or_nan(x: float, low: float, high: float, stand_in: float, step: float, cells: float) -> float:
    """Return the lattice cell of a value, 0 to cells - 1, or NaN where it is missing."""
    x = low if x < low else x
    x = high if x > high else x
    x = stand_in if x != x else x  # NaN
    key: float = np.floor((x - low) / step)
    return cells - 1.0 if key >= cells else key
