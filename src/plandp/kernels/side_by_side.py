"""Columns to rows: the loop of `data/side_by_side.py`."""

import numpy as np
from numpy.typing import NDArray

TOGETHER = 8
"""Columns that are laid side by side at a time: as many numbers as lie side by side in the cache."""

AHEAD = 16
"""Rows: so far ahead memory is asked for chosen ones, which lie scattered."""


def ask_memory(values: NDArray[np.float64], place: int) -> None:
    """As in `kernels/norm_cells.py`: loops call nothing of another file, or kept machine code could be out of date."""


def lay_rows(
    values: NDArray[np.float64],
    begins: NDArray[np.int64],
    first: int,
    chosen: NDArray[np.int64],
    rows: NDArray[np.float64],
    place: int,
) -> None:
    """Write columns that begin at `begins` of `values` to `rows`, from column `place` on: their rows from `first` on.

    Or, if there are any, the `chosen` ones of those.

    Indices are unsigned: of others the compiler would test the sign, which takes longer than all the rest.
    """
    n, d = rows.shape[0], len(begins)
    consecutive = len(chosen) == 0
    out = rows.reshape(rows.shape[0] * rows.shape[1])
    width = np.uint64(rows.shape[1])
    for left in range(0, d - TOGETHER + 1, TOGETHER):
        c0, c1, c2, c3 = begins[left], begins[left + 1], begins[left + 2], begins[left + 3]
        c4, c5, c6, c7 = begins[left + 4], begins[left + 5], begins[left + 6], begins[left + 7]
        at = np.uint64(place + left)
        for r in range(n):
            row = first + (r if consecutive else chosen[r])
            if not consecutive and r + AHEAD < n:
                soon = first + chosen[r + AHEAD]
                for c in range(left, left + TOGETHER):
                    ask_memory(values, begins[c] + soon)
            out[at] = values[np.uint64(c0 + row)]
            out[at + np.uint64(1)] = values[np.uint64(c1 + row)]
            out[at + np.uint64(2)] = values[np.uint64(c2 + row)]
            out[at + np.uint64(3)] = values[np.uint64(c3 + row)]
            out[at + np.uint64(4)] = values[np.uint64(c4 + row)]
            out[at + np.uint64(5)] = values[np.uint64(c5 + row)]
            out[at + np.uint64(6)] = values[np.uint64(c6 + row)]
            out[at + np.uint64(7)] = values[np.uint64(c7 + row)]
            at += width
    for c in range(d - d % TOGETHER, d):
        at = np.uint64(place + c)
        for r in range(n):
            out[at] = values[np.uint64(begins[c] + first + (r if consecutive else chosen[r]))]
            at += width
