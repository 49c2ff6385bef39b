"""Cells of a column and how far they are from a rank: the loop of `mechanisms/quantiles.py`."""

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def write_distances(
    keys: IntArray, cells: int, missing: int, wanted: int, penalties: IntArray, widths: IntArray
) -> None:
    """Write distances and numbers of cells, from the last of the sorted keys to the first.

    Between keys and of keys by turns, as in `mechanisms/quantiles.py`.
    """
    n = len(keys)
    there = n - missing
    up_to, after = n, cells  # keys up to and including those that equal this one; the key that follows it
    for i in range(n - 1, -1, -1):
        key, before = keys[i], keys[i - 1] if i > 0 else -1
        penalties[2 * i + 2] = abs(2 * min(i + 1, there) + missing - wanted)
        widths[2 * i + 2] = max(after - key - 1, 0)
        up_to = i + 1 if key < after else up_to
        penalties[2 * i + 1] = max(2 * i + missing - wanted, wanted - 2 * min(up_to, there) - missing, 0)
        widths[2 * i + 1] = (before < key) & (key < cells)
        after = key
    penalties[0] = abs(missing - wanted)
    widths[0] = max(after, 0)
