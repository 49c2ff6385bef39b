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

EIGHT = 8
"""Columns, and rows, that are mapped together, their values laid side by side for each row: a line of the cache."""

ABREAST = 4
"""Numbers that an instruction takes: of eight at once more were lost in adding up than won elsewhere."""

WHOLE = 6755399441055744.0
"""1.5 · 2⁵²: a number below 2⁵¹ that is added to it is rounded to a whole one, as rint does."""

WHOLE_BITS = 0x4338000000000000
"""The bits of that float: those of whole numbers added to it are so many more."""


def lines_of_zeros(lines: int) -> FloatArray:
    """Eight zeros each, which begin with a line of the cache: what lies across two takes longer."""
    room = np.zeros(lines * EIGHT + EIGHT)
    begin = -room.ctypes.data % (8 * EIGHT) // 8
    return room[begin : begin + lines * EIGHT]


def map_eight(
    values: NDArray[Any],
    begins: IntArray,
    first: int,
    ahead: int,
    center: FloatArray,
    factor: FloatArray,
    c: int,
    norm: FloatArray,
    r: int,
    y: FloatArray,
    to: int,
) -> None:
    """Write y of eight rows from `first` on, of eight columns from `c` on, to y[to:], row by row.

    Squares are added to norm[r], norm[r + 1], …, one column after the other.  Memory is asked for rows `ahead`.
    """
    for k in range(EIGHT):
        for i in range(c, c + EIGHT):
            x = (np.float64(values[begins[i] + first + k]) - center[i]) * factor[i]
            y[to + EIGHT * k + i - c] = x
            norm[r + k] += x * x


def map_eight_within(
    values: NDArray[Any],
    begins: IntArray,
    first: int,
    ahead: int,
    center: FloatArray,
    factor: FloatArray,
    c: int,
    norm: FloatArray,
    r: int,
    y: FloatArray,
    to: int,
    low: FloatArray,
    high: FloatArray,
    stand_in: FloatArray,
    squared: bool,
) -> None:
    """Do what `map_eight` does, by the public rule for all values: clipped to the box, NaN replaced, and `squared`."""
    for k in range(EIGHT):
        for i in range(c, c + EIGHT):
            x = np.float64(values[begins[i] + first + k])
            x = low[i] if x < low[i] else x
            x = high[i] if x > high[i] else x
            x = stand_in[i] if x != x else x  # NaN
            x = (x - center[i]) * factor[i]
            x = x * x if squared else x
            y[to + EIGHT * k + i - c] = x
            norm[r + k] += x * x


def add_eight(sums: NDArray[np.uint64], cell: int, values: FloatArray, place: int, times: float, plus: float) -> None:
    """Add the bits of value · times + plus to sums[cell], and so on for the seven after it."""
    for k in range(EIGHT):
        sums[cell + k] += np.float64(values[place + k] * times + plus).view(np.uint64)


def map_eight_instruction(
    _: Any,
    values: Any,
    begins: Any,
    first: Any,
    ahead: Any,
    center: Any,
    factor: Any,
    c: Any,
    norm: Any,
    r: Any,
    y: Any,
    to: Any,
) -> Any:
    """`map_eight` for Numba's compiler, which does not see by itself that rows can be turned in registers."""
    from numba.core import types

    return types.void(values, begins, first, ahead, center, factor, c, norm, r, y, to), _instruct_mapping


def map_eight_within_instruction(
    _: Any,
    values: Any,
    begins: Any,
    first: Any,
    ahead: Any,
    center: Any,
    factor: Any,
    c: Any,
    norm: Any,
    r: Any,
    y: Any,
    to: Any,
    low: Any,
    high: Any,
    stand_in: Any,
    squared: Any,
) -> Any:
    """`map_eight_within` for Numba's compiler."""
    from numba.core import types

    kinds = values, begins, first, ahead, center, factor, c, norm, r, y, to, low, high, stand_in, squared
    return types.void(*kinds), _instruct_mapping


def add_eight_instruction(_: Any, sums: Any, cell: Any, values: Any, place: Any, times: Any, plus: Any) -> Any:
    """`add_eight` for Numba's compiler, which does not see by itself that several can be added abreast."""
    from numba.core import types

    return types.void(sums, cell, values, place, times, plus), _instruct_adding


def _instruct_mapping(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Four rows at a time: no fast-math flags, so that each operation rounds as Python's."""
    from llvmlite import ir  # type: ignore[import-untyped]

    number, short, byte = ir.IntType(64), ir.IntType(32), ir.IntType(8)
    four = ir.VectorType(ir.DoubleType(), ABREAST)

    def array(argument: int) -> Any:
        return context.make_array(signature.args[argument])(context, builder, arguments[argument]).data

    def after(start: Any, *steps: Any) -> Any:
        for step in steps:
            start = builder.gep(start, [number(step) if isinstance(step, int) else step])
        return start

    def of_columns(argument: int) -> list[Any]:
        start = after(array(argument), c)
        return [_four_times(builder, builder.load(after(start, i))) for i in range(EIGHT)]

    def clipped(x: Any, i: int) -> Any:
        x = builder.select(builder.fcmp_ordered("<", x, low[i]), low[i], x)
        x = builder.select(builder.fcmp_ordered(">", x, high[i]), high[i], x)
        return builder.select(builder.fcmp_unordered("uno", x, x), stand_in[i], x)

    first, ahead, c, r, to = (arguments[k] for k in (2, 3, 6, 8, 10))
    values, begins, norm, y = map(array, (0, 1, 7, 9))
    kept = ir.VectorType(values.type.pointee, ABREAST)
    aligned = context.get_abi_sizeof(values.type.pointee)
    within = len(arguments) > 11
    center, factor = of_columns(4), of_columns(5)
    low, high, stand_in = (of_columns(argument) for argument in (11, 12, 13)) if within else ([], [], [])
    starts = [after(values, builder.load(after(begins, c, i)), first) for i in range(EIGHT)]
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), short, short, short])
    ask = builder.module.declare_intrinsic("llvm.prefetch", (byte.as_pointer(),), kind)
    for start in starts:  # to read, not into the nearest cache, data
        builder.call(ask, [builder.bitcast(after(start, ahead), byte.as_pointer()), short(0), short(2), short(1)])
    for row in range(0, EIGHT, ABREAST):
        squares = builder.bitcast(after(norm, r, row), four.as_pointer())
        total, mapped = builder.load(squares, align=8), []
        for i, start in enumerate(starts):
            x = builder.load(builder.bitcast(after(start, row), kept.as_pointer()), align=aligned)
            x = _floats(builder, x, signature.args[0].dtype)
            x = clipped(x, i) if within else x
            x = builder.fmul(builder.fsub(x, center[i]), factor[i])
            x = builder.select(arguments[14], builder.fmul(x, x), x) if within else x
            total = builder.fadd(total, builder.fmul(x, x))
            mapped.append(x)
        builder.store(total, squares, align=8)
        for left in range(0, EIGHT, ABREAST):
            for k, line in enumerate(_turned(builder, mapped[left : left + ABREAST])):
                out = after(y, to, EIGHT * (row + k) + left)
                builder.store(line, builder.bitcast(out, four.as_pointer()), align=8)
    return context.get_dummy_value()


def _instruct_adding(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Four numbers at a time: no fast-math flags, so that the product is rounded before it is added to."""
    from llvmlite import ir

    floats, integers = ir.VectorType(ir.DoubleType(), ABREAST), ir.VectorType(ir.IntType(64), ABREAST)
    times, plus = _four_times(builder, arguments[4]), _four_times(builder, arguments[5])

    def four(array: int, k: int, kind: Any) -> Any:
        data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
        start = builder.gep(builder.gep(data, [arguments[array + 1]]), [ir.IntType(64)(k)])
        return builder.bitcast(start, kind.as_pointer())

    for k in range(0, EIGHT, ABREAST):
        product = builder.fmul(builder.load(four(2, k, floats), align=8), times)
        bits = builder.bitcast(builder.fadd(product, plus), integers)
        to = four(0, k, integers)
        builder.store(builder.add(builder.load(to, align=8), bits), to, align=8)
    return context.get_dummy_value()


def _floats(builder: Any, four: Any, kind: Any) -> Any:
    """Four numbers of any kind as float64, each the nearest."""
    from llvmlite import ir
    from numba.core import types

    wanted = ir.VectorType(ir.DoubleType(), ABREAST)
    if isinstance(kind, types.Float):
        return four if kind.bitwidth == 64 else builder.fpext(four, wanted)
    return (builder.sitofp if kind.signed else builder.uitofp)(four, wanted)


def _four_times(builder: Any, number: Any) -> Any:
    from llvmlite import ir

    nothing = ir.Constant(ir.VectorType(number.type, ABREAST), ir.Undefined)
    return _picked(builder, builder.insert_element(nothing, number, ir.IntType(32)(0)), nothing, (0,) * ABREAST)


def _turned(builder: Any, columns: Any) -> tuple[Any, ...]:
    """Four rows of four columns."""
    even, odd, low, high = (0, 4, 2, 6), (1, 5, 3, 7), (0, 1, 4, 5), (2, 3, 6, 7)
    evens, odds = ([_picked(builder, columns[k], columns[k + 1], which) for k in (0, 2)] for which in (even, odd))
    return tuple(_picked(builder, one, other, half) for half in (low, high) for one, other in (evens, odds))


def _picked(builder: Any, one: Any, other: Any, places: tuple[int, ...]) -> Any:
    from llvmlite import ir

    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), list(places)))


def add_up_columns(
    values: NDArray[Any],
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

    Values may be of any machine type.  Column after column is read, so that norms are added up from the left in any
    case.  Lattice vectors must fit in 32 bits.  Bits of floats are added up modulo 2⁶⁴, and those of 1.5 · 2⁵² taken
    off in the end.  Rows whose norm is below `reach` lie within the box and have no NaN.
    """
    d, last = len(begins), len(edges) - 1
    groups = -(-d // EIGHT)
    strip = max(EIGHT, min(MOST_ROWS, VALUES_AT_A_TIME // d) // EIGHT * EIGHT)
    margin = (d + 8) * 2.0**-52  # twice what d additions can lose
    # columns beyond the last are the last one again, clipped to 0 and times 0: their sums are not looked at
    starts = np.full(groups * EIGHT, begins[d - 1])
    starts[:d] = begins
    box = np.zeros((5, groups * EIGHT))
    box[0, :d], box[1, :d], box[2, :d], box[3, :d], box[4, :d] = low, high, stand_in, center, factor
    least, most, instead, middle, unit = box[0], box[1], box[2], box[3], box[4]
    y = lines_of_zeros(groups * strip).reshape(groups, strip * EIGHT)
    found = lines_of_zeros(groups * len(edges)).view(np.uint64).reshape(groups, len(edges) * EIGHT)
    in_cell = np.zeros(len(edges), np.uint64)  # unsigned numbers come round at 2⁶⁴
    room = np.empty((2, strip))
    cells = np.empty(strip, np.int64)
    bare = sums.view(np.uint64)
    clean = True
    for begin in range(first, first + count, strip):
        rows = min(strip, first + count - begin)
        eights = rows - rows % EIGHT
        norm, times = room[0], room[1]
        bits = norm.view(np.int64)
        for _ in range(2):
            norm[:] = 0.0
            # while rows stay in the box; where these do not, they are mapped anew
            without_clipping = clean and not squared
            for group in range(groups):
                c, line = group * EIGHT, y[group]
                if without_clipping:
                    for r in range(0, eights, EIGHT):
                        map_eight(values, starts, begin + r, strip, middle, unit, c, norm, r, line, r * EIGHT)
                else:
                    for r in range(0, eights, EIGHT):
                        map_eight_within(
                            values,
                            starts,
                            begin + r,
                            strip,
                            middle,
                            unit,
                            c,
                            norm,
                            r,
                            line,
                            r * EIGHT,
                            least,
                            most,
                            instead,
                            squared,
                        )
            for r in range(eights, rows):
                for c in range(d):
                    x = np.float64(values[begins[c] + begin + r])
                    x = low[c] if x < low[c] else x
                    x = high[c] if x > high[c] else x
                    x = stand_in[c] if x != x else x  # NaN
                    x = (x - center[c]) * factor[c]
                    x = x * x if squared else x
                    y[c // EIGHT, r * EIGHT + c % EIGHT] = x
                    norm[r] += x * x
            clean = True
            for r in range(rows):
                norm[r] = np.sqrt(norm[r])
                clean = clean and norm[r] * (1.0 + margin) < reach
            if clean or not without_clipping:
                break
        for r in range(rows):
            cell = first_cells[min(max((bits[r] >> BUCKET_SHIFT) - lowest_bucket, 0), len(first_cells) - 1)]
            while cell < last and edges[cell] < norm[r]:  # the first edge that is not below the norm, or the last
                cell += 1
            counts[cell] += 1
            in_cell[cell] += np.uint64(1)
            cells[r] = cell * EIGHT
            times[r] = edges[last] / norm[r] * finer[cell] if norm[r] > edges[last] else finer[cell]
            if not np.isfinite(norm[r]):
                times[r] = 0.0
                y[:, EIGHT * r : EIGHT * (r + 1)] = 0.0
        for group in range(groups):
            to, line = found[group], y[group]
            for r in range(rows):
                add_eight(to, cells[r], line, EIGHT * r, times[r], WHOLE)
        for r in range(rows):
            cell = cells[r] // EIGHT
            longest = norm[r] * times[r] * (1.0 + margin) + (0.5 * np.sqrt(d) + 1.0)  # rounding adds √d/2 at most
            if not longest * longest < squared_bounds[cell]:
                exact = np.int64(0)
                for c in range(d):
                    x = y[c // EIGHT, EIGHT * r + c % EIGHT]
                    whole = np.float64(x * times[r] + WHOLE).view(np.int64)
                    exact += np.int64(np.int32(whole)) * np.int64(np.int32(whole))  # its last 32 bits are the number
                if exact > squared_bounds[cell]:
                    for c in range(d):  # taken back; never seen
                        x = y[c // EIGHT, EIGHT * r + c % EIGHT]
                        whole_bits = np.float64(x * times[r] + WHOLE).view(np.uint64)
                        found[c // EIGHT, cell * EIGHT + c % EIGHT] -= whole_bits - np.uint64(WHOLE_BITS)
    for cell in range(len(edges)):
        if in_cell[cell]:
            for c in range(d):
                bits_more = in_cell[cell] * np.uint64(WHOLE_BITS)
                bare[cell, c] += found[c // EIGHT, cell * EIGHT + c % EIGHT] - bits_more
