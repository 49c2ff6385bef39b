"""Arrow columns of numbers as floats, each value converted on its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNED = 8
"""Bytes of a float64, and where it may begin."""


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


def addresses_of(columns: Sequence[Any]) -> list[int] | None:
    """Where chunked columns lie in memory, if all are float64 in one piece without nulls and can be read there."""
    import pyarrow

    float64, found = pyarrow.float64(), []
    for column in columns:
        if column.type != float64 or column.num_chunks != 1 or column.null_count:
            return None
        chunk = column.chunk(0)
        values = chunk.buffers()[1]
        if values is None or not values.is_cpu or values.address % ALIGNED:
            return None
        found.append(values.address + ALIGNED * chunk.offset)
    return found


def arrow_floats(column: Any) -> NDArray[np.float64]:
    """Return an Arrow column as float64, nulls as NaN, each value converted on its own."""
    return np.asarray(arrow_numbers(column), dtype=np.float64)


def arrow_numbers(column: Any) -> NDArray[Any]:
    """Return an Arrow column as floats of its own width, or float64, nulls as NaN."""
    import pyarrow

    floats = column
    if not pyarrow.types.is_floating(column.type):  # those are widened by NumPy, halves included
        # As text decimals are rounded once, to the nearest, as elsewhere: a cast would be off by a bit or two.
        plain = column.cast(pyarrow.large_string()) if is_arrow_decimal(column.type) else column
        floats = plain.cast(pyarrow.float64(), safe=False)  # a safe cast would refuse integers beyond 2**53
    numbers: NDArray[Any] = (
        floats.to_numpy() if isinstance(floats, pyarrow.ChunkedArray) else floats.to_numpy(zero_copy_only=False)
    )
    return numbers
