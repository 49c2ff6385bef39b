"""Columns to rows: the loop of `data/side_by_side.py`."""

from typing import Any

from numpy.typing import NDArray

TILE = 8  # values of a column, and columns: as many as lie side by side in the cache


def turn(columns: NDArray[Any], rows: NDArray[Any]) -> None:
    """Write the transpose of `columns` to `rows`, tile by tile."""
    d, n = columns.shape
    for first in range(0, n, TILE):
        last = min(first + TILE, n)
        for left in range(0, d, TILE):
            right = min(left + TILE, d)
            for c in range(left, right):
                for r in range(first, last):
                    rows[r, c] = columns[c, r]
