"""Columns that lie one after the other, or anywhere in memory, laid side by side as rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from plandp.data.table import ColumnTable, RowChoice
from plandp.kernels.compiler import Loop, compiled
from plandp.kernels.side_by_side import lay_rows

FloatArray = NDArray[np.float64]

COMPILED = 2**18
"""Fewer values are not worth a compiler."""

CONSECUTIVE = np.empty(0, np.int64)

FLOAT = np.dtype(np.float64)

_LONGEST = 8
"""Bytes of the longest number that a loop reads: of more than float64 it would be rounded twice."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnsInMemory:
    """Columns of one machine type, each of which lies in one piece, for compiled loops."""

    values: NDArray[Any]  # from the first column in memory to the last; what lies between columns is never read
    begins: NDArray[np.int64]  # of the columns in it
    owners: object  # what must live as long
    loop: Loop

    @property
    def plain(self) -> bool:
        """Whether they are float64."""
        return self.values.dtype == FLOAT

    def each(self, n: int) -> Iterator[NDArray[Any]]:
        """Return the first `n` numbers of every column, as they lie."""
        return (self.values[begin : begin + n] for begin in self.begins.tolist())

    def rows(self, chosen: RowChoice) -> FloatArray:
        """Return these rows, which must be within the columns, and those plain."""
        first, indices = (chosen.start, CONSECUTIVE) if isinstance(chosen, slice) else (0, chosen)
        count = chosen.stop - chosen.start if isinstance(chosen, slice) else len(chosen)
        rows = np.empty((count, len(self.begins)))
        self.loop(self.values, self.begins, first, indices, rows, 0)
        return rows


def worth_a_loop(values: int) -> bool:
    """Whether so many values are laid side by side by a compiled loop."""
    return values >= COMPILED and compiled(lay_rows) is not None


def is_machine_type(dtype: np.dtype[Any]) -> bool:
    """Whether loops read numbers of this type as they are stored; not flags, whose bytes need not be 0 or 1."""
    return dtype.kind in "iuf" and dtype.itemsize <= _LONGEST and dtype != np.float16 and dtype.isnative


def columns_of_array(array: NDArray[Any], positions: Sequence[int] | None) -> ColumnsInMemory | None:
    """Return the columns of an array of which each lies in one piece; None for other arrays, and without a compiler."""
    n, d = array.shape
    down, across = array.strides
    in_pieces = across < 0 or across % array.itemsize or not array.flags.aligned or down != array.itemsize
    if not is_machine_type(array.dtype) or in_pieces or n * d < COMPILED:
        return None
    loop = compiled(lay_rows)
    if loop is None:
        return None
    apart = across // array.itemsize
    values = as_strided(array, shape=((d - 1) * apart + n,), strides=(array.itemsize,), writeable=False)
    begins = np.arange(d, dtype=np.int64) * apart
    return ColumnsInMemory(
        values=values, begins=begins if positions is None else begins[list(positions)], owners=array, loop=loop
    )


def columns_in_memory(columns: Sequence[NDArray[Any]], *, of: int = 0) -> ColumnsInMemory | None:
    """Return columns of numbers, each value converted on its own; None where they are few, or without a compiler.

    Or where all that they are taken of, so many values, are few.
    """
    if not worth_a_loop(of or len(columns[0]) * len(columns)):
        return None
    floats = [np.require(column, np.float64, ["C", "A"]) for column in columns]
    return columns_at([column.ctypes.data for column in floats], len(floats[0]), (floats, columns))


def columns_at(
    addresses: Sequence[int], length: int, owners: object, kind: np.dtype[Any] = FLOAT
) -> ColumnsInMemory | None:
    """Return columns of so many numbers, whose first ones lie there, as long as their owners live."""
    loop = compiled(lay_rows)
    if loop is None:
        return None
    begins = np.array(addresses, np.int64)
    size, first = kind.itemsize, int(begins.min())
    span = _Span(first, (int(begins.max()) - first) // size + length, kind)
    return ColumnsInMemory(values=np.asarray(span), begins=(begins - first) // size, owners=owners, loop=loop)


def converted(table: ColumnTable, rows: slice, room: FloatArray) -> ColumnsInMemory:
    """Return these rows of the columns as float64, which lie in `room`; there must be a compiler."""
    count = rows.stop - rows.start
    table.write_columns(rows, room[:, :count])
    begin, apart = room.ctypes.data, room.strides[0]
    columns = columns_at([begin + place * apart for place in range(len(room))], count, room)
    assert columns is not None
    return columns


def side_by_side(columns: Sequence[NDArray[Any]], *, of: int = 0) -> FloatArray:
    """Return columns of numbers as rows of float64, each value converted on its own.

    Of a table of so many values a loop is compiled as if it were read whole, so that which loops are compiled does not
    tell which way its rows were read, since that can follow from nulls.
    """
    rows = np.empty((len(columns[0]), len(columns)))
    lay_side_by_side(columns, rows, place=0, of=of)
    return rows


def lay_side_by_side(columns: Sequence[NDArray[Any]], rows: FloatArray, *, place: int, of: int = 0) -> None:
    """Write columns of numbers to `rows`, from the column `place` on, each value converted on its own."""
    fast = columns_in_memory(columns, of=of)
    if fast is None:
        stacked = np.empty((len(columns), len(rows)))
        for number, column in enumerate(columns):
            stacked[number] = column
        rows[:, place : place + len(columns)] = stacked.T
    else:
        fast.loop(fast.values, fast.begins, 0, CONSECUTIVE, rows, place)


class _Span:
    """Memory from one address on, as an array: most of it may belong to nobody, and must not be read."""

    def __init__(self, address: int, count: int, kind: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": kind.str,
            "shape": (count,),
            "data": (address, True),
        }
