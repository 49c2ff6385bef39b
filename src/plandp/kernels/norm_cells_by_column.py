"""Columns to lattice vectors, added up by norm cell: the loop of `kernels/norm_cells.py` for columns as they lie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BUCKET_SHIFT = 45
"""Norms that agree in their leading bits share a bucket, as in `kernels/norm_cells.py`."""

MOST_ROWS = 1024
"""Rows that are worked on at a time, at most."""

VALUES_AT_A_TIME = 2**16
"""Values that are worked on at a time: they stay in cache."""

TOGETHER = 4
"""Columns that are mapped together, their values laid side by side for each row: as many as are added at once."""

PER_LINE = 8
"""Values in a line of the cache."""

WHOLE = 6755399441055744.0
"""1.5 · 2⁵²: a number below 2⁵¹ that is added to it is rounded to a whole one, as rint does."""

WHOLE_BITS = 0x4338000000000000
"""The bits of that float: those of whole numbers added to it are so many more."""


def ask_memory(values: FloatArray, place: int) -> None:
    """As in `kernels/norm_cells.py`: loops call nothing of another file, or kept machine code could be out of date."""


def add_four(
    sums: NDArray[np.uint64], cell: np.uint64, values: FloatArray, place: np.uint64, times: float, plus: float
) -> None:
    """Add the bits of value · times + plus to sums[cell], and so on for the three after it; compiled, all at once."""
    for k in range(TOGETHER):
        sums[int(cell) + k] += np.float64(values[int(place) + k] * times + plus).view(np.uint64)


def add_four_instruction(_: Any, sums: Any, cell: Any, values: Any, place: Any, times: Any, plus: Any) -> Any:
    """`add_four` for Numba's compiler, which does not see by itself that four can be added abreast."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types

    floats, integers = ir.VectorType(ir.DoubleType(), 4), ir.VectorType(ir.IntType(64), 4)

    def instruct(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def address(array: int, what: Any) -> Any:
            data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(data, [arguments[array + 1]]), what.as_pointer())

        def four_times(number: Any) -> Any:
            vector = ir.Constant(floats, ir.Undefined)
            for k in range(4):
                vector = builder.insert_element(vector, number, ir.IntType(32)(k))
            return vector

        # no fast-math flags: the product is rounded before it is added to, as Python does
        product = builder.fmul(builder.load(address(2, floats), align=8), four_times(arguments[4]))
        bits = builder.bitcast(builder.fadd(product, four_times(arguments[5])), integers)
        to = address(0, integers)
        builder.store(builder.add(builder.load(to, align=8), bits), to, align=8)
        return context.get_dummy_value()

    return types.void(sums, cell, values, place, times, plus), instruct


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
    finer: FloatArray,
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
    groups = -(-d // (2 * TOGETHER)) * 2  # they are added in pairs
    strip = max(1, min(MOST_ROWS, VALUES_AT_A_TIME // d))
    margin = (d + 8) * 2.0**-52  # twice what d additions can lose
    y = np.zeros((groups, strip * TOGETHER))  # columns beyond the last stay zero
    room = np.empty((2, strip))
    cells = np.empty(strip, np.uint64)
    found = np.zeros((groups, len(edges) * TOGETHER), np.uint64)  # unsigned numbers come round at 2⁶⁴
    in_cell = np.zeros(len(edges), np.uint64)
    bare = sums.view(np.uint64)
    clean = True
    for begin in range(first, first + count, strip):
        rows = min(strip, first + count - begin)
        norm, times = room[0, :rows], room[1, :rows]
        bits = norm.view(np.int64)
        for _ in range(2):
            norm[:] = 0.0
            # while rows stay in the box; where these do not, they are mapped anew
            without_clipping = d // TOGETHER if clean else 0
            for group in range(without_clipping):
                c, line = group * TOGETHER, y[group]
                for each in range(c + 1, c + TOGETHER):  # the next strip's; the first of each group is asked for below
                    for r in range(0, rows, PER_LINE):
                        ask_memory(values, begins[each] + begin + rows + r)  # beyond the end is no harm
                c0, c1, c2, c3 = begins[c] + begin, begins[c + 1] + begin, begins[c + 2] + begin, begins[c + 3] + begin
                v0, v1 = values[c0 : c0 + rows], values[c1 : c1 + rows]
                v2, v3 = values[c2 : c2 + rows], values[c3 : c3 + rows]
                m0, m1, m2, m3 = center[c], center[c + 1], center[c + 2], center[c + 3]
                u0, u1, u2, u3 = factor[c], factor[c + 1], factor[c + 2], factor[c + 3]
                for r in range(rows):
                    x0, x1, x2, x3 = (v0[r] - m0) * u0, (v1[r] - m1) * u1, (v2[r] - m2) * u2, (v3[r] - m3) * u3
                    if squared:
                        x0, x1, x2, x3 = x0 * x0, x1 * x1, x2 * x2, x3 * x3
                    line[TOGETHER * r] = x0
                    line[TOGETHER * r + 1] = x1
                    line[TOGETHER * r + 2] = x2
                    line[TOGETHER * r + 3] = x3
                    norm[r] = norm[r] + x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3
            for c in range(without_clipping * TOGETHER, d):
                part, line = values[begins[c] + begin : begins[c] + begin + rows], y[c // TOGETHER, c % TOGETHER :]
                middle, per_unit, least, most, instead = center[c], factor[c], low[c], high[c], stand_in[c]
                for r in range(0, rows if c % TOGETHER else 0, PER_LINE):
                    ask_memory(values, begins[c] + begin + rows + r)
                for r in range(rows):
                    x = part[r]
                    x = least if x < least else x
                    x = most if x > most else x
                    x = instead if x != x else x  # NaN
                    x = (x - middle) * per_unit
                    x = x * x if squared else x
                    line[TOGETHER * r] = x
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
            times[r] = edges[last] / norm[r] * finer[cell] if norm[r] > edges[last] else finer[cell]
            if not np.isfinite(norm[r]):
                times[r] = 0.0
                y[:, TOGETHER * r : TOGETHER * (r + 1)] = 0.0
        for group in range(0, groups, 2):
            for c in range(group * TOGETHER, min((group + 2) * TOGETHER, d), TOGETHER):
                for r in range(0, rows, PER_LINE):
                    ask_memory(values, begins[c] + begin + rows + r)
            to, line, to_other, other = found[group], y[group], found[group + 1], y[group + 1]
            for r in range(rows):
                cell_of_row, times_of_row, at = cells[r], times[r], np.uint64(TOGETHER * r)
                add_four(to, cell_of_row, line, at, times_of_row, WHOLE)
                add_four(to_other, cell_of_row, other, at, times_of_row, WHOLE)
        for r in range(rows):
            cell = np.int64(cells[r]) // TOGETHER
            longest = norm[r] * times[r] * (1.0 + margin) + (0.5 * np.sqrt(d) + 1.0)  # rounding adds √d/2 at most
            if not longest * longest < squared_bounds[cell]:
                exact = np.int64(0)
                for c in range(d):
                    x = y[c // TOGETHER, TOGETHER * r + c % TOGETHER]
                    whole = np.float64(x * times[r] + WHOLE).view(np.int64)
                    exact += np.int64(np.int32(whole)) * np.int64(np.int32(whole))  # its last 32 bits are the number
                if exact > squared_bounds[cell]:
                    for c in range(d):  # taken back; never seen
                        x = y[c // TOGETHER, TOGETHER * r + c % TOGETHER]
                        whole_bits = np.float64(x * times[r] + WHOLE).view(np.uint64)
                        found[c // TOGETHER, cell * TOGETHER + c % TOGETHER] -= whole_bits - np.uint64(WHOLE_BITS)
    for cell in range(len(edges)):
        if in_cell[cell]:
            for c in range(d):
                bits_more = in_cell[cell] * np.uint64(WHOLE_BITS)
                bare[cell, c] += found[c // TOGETHER, cell * TOGETHER + c % TOGETHER] - bits_more
