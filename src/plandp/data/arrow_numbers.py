"""Arrow columns of numbers as floats, each value converted on its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_arrow_number(dtype: object) -> bool:
    """Whether columns of this Arrow type are read: bool, integers, floats, and null (no value at all)."""
    from pyarrow import types  # type: ignore[import-untyped]  # pyarrow ships no types

    return bool(types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype) or types.is_null(dtype))


def lies_in_memory(column: Any) -> bool:
    """Whether a chunked column is float64 in one piece without nulls, so that it can be read where it lies."""
    import pyarrow

    return bool(column.type == pyarrow.float64() and column.num_chunks == 1 and column.null_count == 0)


def arrow_floats(column: Any) -> NDArray[np.float64]:
    """Return an Arrow column as float64, nulls as NaN, each value converted on its own."""
    return np.asarray(arrow_numbers(column), dtype=np.float64)


def arrow_numbers(column: Any) -> NDArray[Any]:
    """Return an Arrow column as floats of its own width, or float64, nulls as NaN."""
    import pyarrow

    # A safe cast would refuse integers beyond 2**53.  Floats are widened by NumPy, halves included.
    floats = column if pyarrow.types.is_floating(column.type) else column.cast(pyarrow.float64(), safe=False)
    numbers: NDArray[Any] = (
        floats.to_numpy() if isinstance(floats, pyarrow.ChunkedArray) else floats.to_numpy(zero_copy_only=False)
    )
    return numbers
