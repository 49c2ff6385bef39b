"""Lists of rows as arrays."""

from array import array
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError

_NUMBERS = (int, float, np.number, np.bool, type(None))
_NO_NUMBERS = (np.complexfloating, np.timedelta64)


def list_width(data: Sequence[object]) -> int:
    """Return how many columns a list of rows has; rows that cannot be, by their lengths and types, are refused.

    The types of the cells are public, like the dtype of an array; no number is looked at.
    """
    if any(_is_vector(row) for row in data):  # of equal length they could be either
        raise ArgumentError(
            "data",
            "a list of one-dimensional arrays may hold rows, or parts of one column; pass numpy.vstack(data) for rows, "
            "numpy.concatenate(data) for one column",
        )
    widths = {_length(row) for row in data}
    if len(widths) != 1 or None in widths:
        raise _no_rows()
    kinds = {type(cell) for row in data if isinstance(row, list | tuple) for cell in row}
    if any(issubclass(kind, list | tuple) for kind in kinds):
        raise _no_rows()
    if not all(_may_be_number(kind) for kind in kinds):
        raise _not_a_number()
    (width,) = widths
    assert width is not None
    return width


def list_array(data: Sequence[object]) -> NDArray[Any]:
    """Return a list of equally long rows of numbers as an array; None is missing.

    No number can raise, however large.
    """
    try:
        cells = np.asarray(data)
    except (ValueError, TypeError, OverflowError):  # raised again below, since its text could carry values
        cells = None
    if cells is None or cells.ndim != 2:
        raise _no_rows()
    if cells.dtype.kind == "O":  # None, or integers beyond 64 bits
        numbers = np.array([_cell(item) for item in cells.flat], dtype=np.float64)
        return numbers.reshape(cells.shape)
    if cells.dtype.kind not in "biuf":  # not named: the width of a text dtype is the length of the longest cell
        raise _not_a_number()
    return cells


def _is_vector(row: object) -> bool:
    """Whether this is a one-dimensional array, of whatever package: a Series, a column of Arrow, a tensor."""
    if isinstance(row, array):
        return True
    if not hasattr(type(row), "__array__"):
        return False
    dimensions = getattr(row, "ndim", None)  # columns of Arrow tell none, and tables of polars and Arrow a shape alone
    return len(getattr(row, "shape", (0,))) == 1 if dimensions is None else dimensions == 1


def _length(row: object) -> int | None:
    if isinstance(row, str | bytes | Mapping | Set):
        return None
    try:
        return len(row)  # type: ignore[arg-type]  # what has no length is no row
    except TypeError:
        return None


def _may_be_number(kind: type) -> bool:
    # What NumPy can take for an array may be one number.
    return (issubclass(kind, _NUMBERS) and not issubclass(kind, _NO_NUMBERS)) or issubclass(kind, np.ndarray)


def _cell(item: object) -> float:
    if item is None:
        return float("nan")
    if isinstance(item, int | float | np.number | np.bool) and not isinstance(item, np.complexfloating):
        try:
            return float(item)
        except OverflowError:
            return float("inf") if item > 0 else float("-inf")
    raise _not_a_number()


def _no_rows() -> ArgumentError:
    return ArgumentError(
        "data", "a list must hold rows of equal length, such as [[1, 2], [3, 4]]; or pass a NumPy array"
    )


def _not_a_number() -> ArgumentError:
    return ArgumentError("data", "a cell of the list is not a number; use numbers, and None where one is missing")
