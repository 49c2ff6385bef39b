"""Arrow columns of numbers as floats, each value converted on its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NAN = np.float64(np.nan).view(np.int64)


def is_arrow_number(dtype: Any) -> bool:
    """Whether numbers of this Arrow type are read: bool, integers, floats, decimals, and null (no value at all)."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    types = pyarrow.types
    machine = types.is_floating(dtype) or types.is_integer(dtype) or types.is_boolean(dtype) or types.is_null(dtype)
    return bool(machine) or is_arrow_decimal(dtype)


def is_arrow_decimal(dtype: Any) -> bool:
    """Whether columns of this Arrow type hold decimals that are read: those of no more than so many decimal places."""
    import pyarrow

    # with others, which no file has, a value could be beyond float64
    return bool(pyarrow.types.is_decimal(dtype)) and 0 <= dtype.scale <= dtype.precision


def refuse_damaged(batch: Any) -> None:
    """Raise where a record batch promises more values than it holds, whatever its values are."""
    import pyarrow

    if any(map(_has_decimals, set(batch.schema.types))):
        columns = [_with_bytes(column) for column in batch.columns]
        batch = pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names)
    batch.validate(full=True)


def _has_decimals(dtype: Any) -> bool:
    return is_arrow_decimal(getattr(dtype, "value_type", dtype))


def _with_bytes(column: Any) -> Any:
    """Return decimals, in lists too, as bytes, which may be anything: one of too many digits is a value too."""
    import pyarrow
    from pyarrow import types

    dtype = column.type
    if is_arrow_decimal(dtype):
        return column.view(pyarrow.binary(dtype.byte_width))
    fixed, large = types.is_fixed_size_list(dtype), types.is_large_list(dtype)
    if not (fixed or large or types.is_list(dtype)) or not is_arrow_decimal(dtype.value_type):
        return column
    held = pyarrow.binary(dtype.value_type.byte_width)
    lists = pyarrow.list_(held, dtype.list_size) if fixed else (pyarrow.large_list if large else pyarrow.list_)(held)
    return column.view(lists)


def stored_type(dtypes: Sequence[Any]) -> np.dtype[Any] | None:
    """The machine type of numbers that columns of these Arrow types are stored as, if it is one for all."""
    import pyarrow

    types = pyarrow.types
    if len(dtypes) == 0 or any(dtype != dtypes[0] for dtype in dtypes):
        return None
    if types.is_float32(dtypes[0]) or types.is_float64(dtypes[0]) or types.is_integer(dtypes[0]):
        found: np.dtype[Any] = np.dtype(dtypes[0].to_pandas_dtype())
        return found
    return None


def addresses_of(columns: Sequence[Any], kind: np.dtype[Any]) -> list[int] | None:
    """Where chunked columns of numbers lie in memory, if all lie in one piece without nulls and can be read there."""
    size, found = kind.itemsize, []
    for column in columns:
        if column.num_chunks != 1 or column.null_count:
            return None
        chunk = column.chunk(0)
        values = chunk.buffers()[1]
        if values is None or not values.is_cpu or values.address % size:
            return None
        found.append(values.address + size * chunk.offset)
    return found


@np.errstate(all="ignore")  # a NaN that signals is a value like any other
def arrow_floats(column: Any) -> NDArray[np.float64]:
    """Return an Arrow column as float64, nulls as NaN, each value converted on its own."""
    return np.asarray(arrow_numbers(column), dtype=np.float64)


def arrow_numbers(column: Any) -> NDArray[Any]:
    """Return an Arrow column as floats of its own width, or float64, nulls as NaN."""
    import pyarrow

    if pyarrow.types.is_floating(column.type) and not column.null_count:
        return _as_stored(column)
    floats = np.empty(len(column))
    write_floats(column, floats)
    return floats


@np.errstate(all="ignore")
def write_floats(column: Any, floats: NDArray[np.float64]) -> None:
    """Write an Arrow column to `floats`, nulls as NaN, each value converted on its own.

    Arrow does the same, but takes five to fourteen times as long where there are nulls, or bits.
    """
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        begin = 0
        for chunk in column.chunks:
            write_floats(chunk, floats[begin : begin + len(chunk)])
            begin += len(chunk)
        return
    dtype, types = column.type, pyarrow.types
    if is_arrow_decimal(dtype):
        # As text they are rounded once, to the nearest, as elsewhere: a cast would be off by a bit or two.
        floats[:] = _as_stored(column.cast(pyarrow.large_string()).cast(pyarrow.float64()))
        return
    if column.null_count == len(column):  # then there may be no buffers
        floats[:] = np.nan
        return
    valid, values = column.buffers()
    first, last = column.offset, column.offset + len(column)
    if types.is_boolean(dtype):
        floats[:] = _bits(values, first, last)
    else:
        kind = np.dtype(dtype.to_pandas_dtype())
        floats[:] = np.frombuffer(values, kind, len(column), first * kind.itemsize)
    if column.null_count:
        bits = floats.view(np.int64)
        absent = (_bits(valid, first, last).view(np.int8) - np.int8(1)).astype(np.int64)  # all bits, or none
        bits |= absent
        absent &= ~_NAN
        bits ^= absent


def _as_stored(column: Any) -> NDArray[Any]:
    import pyarrow

    chunked = isinstance(column, pyarrow.ChunkedArray)
    numbers: NDArray[Any] = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return numbers


def _bits(stored: Any, first: int, last: int) -> NDArray[np.uint8]:
    """Some of the bits of a buffer, each as a number."""
    held = np.frombuffer(stored, np.uint8)[first // 8 : -(-last // 8)]
    return np.unpackbits(held, bitorder="little")[first % 8 : first % 8 + last - first]
