"""Rows to lattice vectors, added up by norm cell: the loop of `mechanisms/norm_cells.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BUCKET_SHIFT = 45
"""Norms that agree in their leading bits share a bucket: 128 buckets per doubling."""


def add_up_cells(
    block: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    center: FloatArray,
    factor: FloatArray,
    squared: bool,
    edges: FloatArray,
    lowest_bucket: int,
    first_cells: NDArray[np.int32],
    steps: FloatArray,
    squared_bounds: IntArray,
    counts: IntArray,
    sums: IntArray,
) -> None:
    """Add every row's lattice vector to its cell of `sums`, and 1 to its cell of `counts`.

    Lattice vectors must fit in 32 bits.  Eight rows go side by side, each adding its squares from the left.
    A norm's bucket says where the search for its cell begins.
    """
    n, d = block.shape
    last = len(edges) - 1
    y = np.zeros((8, d))
    norms = np.empty(8)
    bits = norms.view(np.int64)
    q = np.empty(d, np.int32)
    for begin in range(0, n, 8):
        rows = min(8, n - begin)
        for r in range(rows):
            for c in range(d):
                x = block[begin + r, c]
                x = low[c] if x < low[c] else x
                x = high[c] if x > high[c] else x
                x = stand_in[c] if x != x else x  # NaN
                x = (x - center[c]) * factor[c]
                y[r, c] = 0.0 if x != x else x
        if squared:
            for r in range(rows):
                for c in range(d):
                    y[r, c] = y[r, c] * y[r, c]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for c in range(d):
            s0 += y[0, c] * y[0, c]
            s1 += y[1, c] * y[1, c]
            s2 += y[2, c] * y[2, c]
            s3 += y[3, c] * y[3, c]
            s4 += y[4, c] * y[4, c]
            s5 += y[5, c] * y[5, c]
            s6 += y[6, c] * y[6, c]
            s7 += y[7, c] * y[7, c]
        norms[0], norms[1], norms[2], norms[3] = np.sqrt(s0), np.sqrt(s1), np.sqrt(s2), np.sqrt(s3)
        norms[4], norms[5], norms[6], norms[7] = np.sqrt(s4), np.sqrt(s5), np.sqrt(s6), np.sqrt(s7)
        for r in range(rows):
            norm = norms[r]
            bucket = min(max((bits[r] >> BUCKET_SHIFT) - lowest_bucket, 0), len(first_cells) - 1)
            cell = first_cells[bucket]
            while cell < last and edges[cell] < norm:  # the first edge that is not below the norm, or the last
                cell += 1
            counts[cell] += 1
            if not np.isfinite(norm):
                continue
            shrink = edges[last] / norm if norm > edges[last] else 1.0
            times = shrink / steps[cell]
            length = np.int64(0)
            for c in range(d):
                q[c] = np.int32(np.rint(y[r, c] * times))
                length += np.int64(q[c]) * np.int64(q[c])
            if length <= squared_bounds[cell]:
                for c in range(d):
                    sums[cell, c] += q[c]
