"""Columns to lattice vectors, added up by norm cell: the loop of `kernels/norm_cells.py` for columns as they lie."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BUCKET_SHIFT = 45
"""Norms that agree in their leading bits share a bucket, as in `kernels/norm_cells.py`."""

MOST_ROWS = 1024
"""Rows that are worked on at a time, at most."""

VALUES_AT_A_TIME = 2**15
"""Values that are worked on at a time: they stay in cache."""

TOGETHER = 8
"""Columns that are added up together: as many sums as lie side by side in the cache."""

WHOLE = 6755399441055744.0
"""1.5 · 2⁵²: a number below 2⁵¹ that is added to it is rounded to a whole one, as rint does."""

WHOLE_BITS = 0x4338000000000000
"""The bits of that float: those of whole numbers added to it are so many more."""


def ask_memory(values: FloatArray, place: int) -> None:
    """As in `kernels/norm_cells.py`: loops call nothing of another file, or kept machine code could be out of date."""


def add_up_columns(
    values: FloatArray,
    begins: IntArray,
    first: int,
    count: int,
    reach: float,
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
    """Do what `add_up_cells` does, with `count` rows from `first` on of the columns that begin at `begins`.

    Column after column is read, so that norms are added up from the left in any case.  Lattice vectors must fit in 32
    bits.  Bits of floats are added up modulo 2⁶⁴, and those of 1.5 · 2⁵² taken off in the end.  Rows whose norm is
    below `reach` lie within the box and have no NaN.
    """
    d, last = len(begins), len(edges) - 1
    groups = -(-d // TOGETHER)
    strip = max(1, min(MOST_ROWS, VALUES_AT_A_TIME // d))
    margin = (d + 8) * 2.0**-52  # twice what d additions can lose
    y = np.zeros((groups * TOGETHER, strip))  # columns beyond the last stay zero
    room = np.empty((2, strip))
    cells = np.empty(strip, np.uint64)
    found = np.zeros((groups, len(edges) * TOGETHER), np.uint64)  # unsigned numbers come round at 2⁶⁴
    in_cell = np.zeros(len(edges), np.uint64)
    bare = sums.view(np.uint64)
    finer = 1.0 / steps
    clean = True
    for begin in range(first, first + count, strip):
        rows = min(strip, first + count - begin)
        norm, times = room[0, :rows], room[1, :rows]
        bits = norm.view(np.int64)
        for _ in range(2):
            norm[:] = 0.0
            for c in range(d):
                part, line = values[begins[c] + begin : begins[c] + begin + rows], y[c, :rows]
                after = begins[c + 1] + begin if c + 1 < d else begins[0] + begin + rows
                for r in range(0, rows, TOGETHER):
                    ask_memory(values, after + r)  # what is read next; a place beyond the end is no harm
                middle, per_unit = center[c], factor[c]
                if clean:  # as the rows before; where these are not, they are mapped anew
                    for r in range(rows):
                        x = (part[r] - middle) * per_unit
                        x = x * x if squared else x
                        line[r] = x
                        norm[r] += x * x
                else:
                    least, most, instead = low[c], high[c], stand_in[c]
                    for r in range(rows):
                        x = part[r]
                        x = least if x < least else x
                        x = most if x > most else x
                        x = instead if x != x else x  # NaN
                        x = (x - middle) * per_unit
                        x = x * x if squared else x
                        line[r] = x
                        norm[r] += x * x
            mapped, clean = not clean, True
            for r in range(rows):
                clean = clean and np.sqrt(norm[r]) * (1.0 + margin) < reach
            if mapped or clean:
                break
        for r in range(rows):
            norm[r] = np.sqrt(norm[r])
            cell = first_cells[min(max((bits[r] >> BUCKET_SHIFT) - lowest_bucket, 0), len(first_cells) - 1)]
            while cell < last and edges[cell] < norm[r]:  # the first edge that is not below the norm, or the last
                cell += 1
            counts[cell] += 1
            in_cell[cell] += np.uint64(1)
            cells[r] = cell * TOGETHER
            times[r] = edges[last] / norm[r] / steps[cell] if norm[r] > edges[last] else finer[cell]
            if not np.isfinite(norm[r]):
                times[r] = 0.0
                y[:, r] = 0.0
        for group in range(groups):
            to, c = found[group], group * TOGETHER
            y0, y1, y2, y3 = y[c, :rows], y[c + 1, :rows], y[c + 2, :rows], y[c + 3, :rows]
            y4, y5, y6, y7 = y[c + 4, :rows], y[c + 5, :rows], y[c + 6, :rows], y[c + 7, :rows]
            for r in range(rows):
                at, t = cells[r], times[r]
                s0, s1, s2, s3 = y0[r] * t + WHOLE, y1[r] * t + WHOLE, y2[r] * t + WHOLE, y3[r] * t + WHOLE
                s4, s5, s6, s7 = y4[r] * t + WHOLE, y5[r] * t + WHOLE, y6[r] * t + WHOLE, y7[r] * t + WHOLE
                to[at] += np.float64(s0).view(np.uint64)
                to[at + np.uint64(1)] += np.float64(s1).view(np.uint64)
                to[at + np.uint64(2)] += np.float64(s2).view(np.uint64)
                to[at + np.uint64(3)] += np.float64(s3).view(np.uint64)
                to[at + np.uint64(4)] += np.float64(s4).view(np.uint64)
                to[at + np.uint64(5)] += np.float64(s5).view(np.uint64)
                to[at + np.uint64(6)] += np.float64(s6).view(np.uint64)
                to[at + np.uint64(7)] += np.float64(s7).view(np.uint64)
        for r in range(rows):
            cell = np.int64(cells[r]) // TOGETHER
            longest = norm[r] * times[r] * (1.0 + margin) + (0.5 * np.sqrt(d) + 1.0)  # rounding adds √d/2 at most
            if not longest * longest < squared_bounds[cell]:
                exact = np.int64(0)
                for c in range(d):
                    whole = np.float64(y[c, r] * times[r] + WHOLE).view(np.int64)
                    exact += np.int64(np.int32(whole)) * np.int64(np.int32(whole))  # its last 32 bits are the number
                if exact > squared_bounds[cell]:
                    for c in range(d):  # taken back; never seen
                        whole_bits = np.float64(y[c, r] * times[r] + WHOLE).view(np.uint64)
                        found[c // TOGETHER, cell * TOGETHER + c % TOGETHER] -= whole_bits - np.uint64(WHOLE_BITS)
    for cell in range(len(edges)):
        if in_cell[cell]:
            for c in range(d):
                bits_more = in_cell[cell] * np.uint64(WHOLE_BITS)
                bare[cell, c] += found[c // TOGETHER, cell * TOGETHER + c % TOGETHER] - bits_more
