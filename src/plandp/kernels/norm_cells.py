"""Rows to lattice vectors, added up by norm cell: the loop of `mechanisms/norm_cells.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BUCKET_SHIFT = 45
"""Norms that agree in their leading bits share a bucket: 128 buckets per doubling."""

TOGETHER = 2
"""Rows that are mapped together, so that centres and factors are read once for both, before they are added."""

AHEAD = 4096
"""Values, or a row: so far ahead memory is asked for what comes next, which it fetches while numbers are added."""

PER_LINE = 8
"""Values in a line of the cache."""

WHOLE = 6755399441055744.0
"""1.5 · 2⁵²: a number below 2⁵¹ that is added to it is rounded to a whole one, as rint does."""

WHOLE_BITS = 0x4338000000000000
"""The bits of that float: those of whole numbers added to it are so many more."""


def plus_square(total: float, value: float) -> float:
    """Return total + value²; compiled, a loop of these is added up in whatever order is fastest."""
    return total + value * value


def ask_memory(values: FloatArray, place: int) -> None:
    """Compiled, have the line of the cache that holds values[place] fetched in the background; else do nothing."""


def add_up_cells(
    block: FloatArray,
    chosen: IntArray,
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
    finer: FloatArray,
    squared_bounds: IntArray,
    counts: IntArray,
    sums: IntArray,
) -> None:
    """Add every row's lattice vector to its cell of `sums`, and 1 to its cell of `counts`; or those of `chosen` rows.

    Lattice vectors must fit in 32 bits.  A norm is added up from the left where another order could give another
    cell; elsewhere any order tells the cell.  A norm's bucket says where the search for its cell begins.  A row whose
    norm is below `reach` lies within the box and has no NaN.
    """
    n, d = block.shape
    last = np.uint64(len(edges) - 1)
    margin = (d + 8) * 2.0**-52  # twice what the order of so many additions can change
    ahead = TOGETHER * max(1, AHEAD // (TOGETHER * d))
    values = block.reshape(n * d)
    count = len(chosen) if len(chosen) else n
    y = np.empty(TOGETHER * d)
    norms = np.empty(TOGETHER)
    bits = norms.view(np.int64)
    middle, unit = center.copy(), factor.copy()  # aligned: a tenth of the time
    rounding = 0.5 * np.sqrt(d) + 1.0  # to nearest makes no vector longer by more
    added = np.zeros(len(edges), np.uint64)
    # unsigned numbers come round at 2⁶⁴, of others a compiler may believe that they do not
    bare = sums.reshape(len(edges) * d).view(np.uint64)
    width = np.uint64(d)  # places are unsigned too: others could be negative, and looking whether they are takes time
    clean = True
    for begin in range(0, count, TOGETHER):
        # no views of arrays in here, since counting who holds them takes as long as adding up a short row
        rows = min(TOGETHER, count - begin)
        end = begin + rows - 1  # the last of an odd number of rows is mapped twice
        first = np.uint64((chosen[begin] if len(chosen) else begin) * d)
        second = np.uint64((chosen[end] if len(chosen) else end) * d)
        if clean:  # as the rows before; where these are not, they are mapped anew
            total = other = 0.0
            for i in range(d):
                at = np.uint64(i)
                a = (values[first + at] - middle[at]) * unit[at]
                b = (values[second + at] - middle[at]) * unit[at]
                a = a * a if squared else a
                b = b * b if squared else b
                y[at] = a
                y[width + at] = b
                total = plus_square(total, a)
                other = plus_square(other, b)
            norms[0], norms[1] = np.sqrt(total), np.sqrt(other)
            clean = norms[0] * (1.0 + margin) < reach and norms[1] * (1.0 + margin) < reach
            mapped = clean
        else:
            mapped = False
        if not mapped:
            clean = True
            for r in range(rows):
                begins, row = (second if r else first), np.uint64(r) * width
                total = 0.0
                for i in range(d):
                    x = values[begins + np.uint64(i)]
                    x = low[i] if x < low[i] else x
                    x = high[i] if x > high[i] else x
                    x = stand_in[i] if x != x else x  # NaN
                    x = (x - middle[i]) * unit[i]
                    x = x * x if squared else x
                    y[row + np.uint64(i)] = x
                    total = plus_square(total, x)
                norms[r] = np.sqrt(total)
                clean = clean and norms[r] * (1.0 + margin) < reach
        for r in range(rows):
            row = np.uint64(r) * width
            bucket = min(max((bits[r] >> BUCKET_SHIFT) - lowest_bucket, 0), len(first_cells) - 1)
            cell = np.uint64(first_cells[np.uint64(bucket)])
            while cell < last and edges[cell] < norms[r]:  # the first edge that is not below the norm, or the last
                cell += np.uint64(1)
            if not (
                norms[r] * (1.0 + margin) < edges[cell]
                and (cell == 0 or edges[cell - np.uint64(1)] < norms[r] * (1.0 - margin))
            ):
                total = 0.0
                for i in range(d):
                    total += y[row + np.uint64(i)] * y[row + np.uint64(i)]
                norms[r] = np.sqrt(total)
                cell = cell - np.uint64(1) if cell else cell
                while cell < last and edges[cell] < norms[r]:
                    cell += np.uint64(1)
            counts[cell] += 1
            if not np.isfinite(norms[r]):
                continue
            times = edges[last] / norms[r] * finer[cell] if norms[r] > edges[last] else finer[cell]
            to = cell * width
            later = begin + ahead + r  # of one row at a time: memory takes so many questions at once
            if later < count:
                soon = (chosen[later] if len(chosen) else later) * d
                for i in range(0, d, PER_LINE):
                    ask_memory(values, soon + i)
            for i in range(d):
                at = np.uint64(i)
                bare[to + at] += np.float64(y[row + at] * times + WHOLE).view(np.uint64)  # WHOLE_BITS more than it is
            added[cell] += np.uint64(1)
            longest = norms[r] * times * (1.0 + margin) + rounding
            if not longest * longest < squared_bounds[cell]:
                exact = np.int64(0)
                for i in range(d):
                    whole = np.float64(y[row + np.uint64(i)] * times + WHOLE).view(np.int64)
                    exact += np.int64(np.int32(whole)) * np.int64(np.int32(whole))  # its last 32 bits are the number
                if exact > squared_bounds[cell]:
                    for i in range(d):  # taken back; never seen
                        bare[to + np.uint64(i)] -= np.float64(y[row + np.uint64(i)] * times + WHOLE).view(np.uint64)
                    added[cell] -= np.uint64(1)
    for g in range(len(edges)):
        if added[g]:
            for c in range(d):
                bare[g * d + c] -= added[g] * np.uint64(WHOLE_BITS)  # what went over 2⁶⁴ comes back
