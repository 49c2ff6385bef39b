"""Lists of rows as arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError


def list_array(data: Sequence[object]) -> NDArray[Any]:
    """Return a list of equally long rows of numbers as an array; None is missing.

    The types of the cells are public, like the dtype of an array; no number can raise, however large.
    """
    try:
        array = np.asarray(data)
    except (ValueError, TypeError, OverflowError):  # raised again below, since its text could carry values
        array = None
    if array is None or array.ndim != 2:
        raise ArgumentError(
            "data", "a list must hold rows of equal length, such as [[1, 2], [3, 4]]; or pass a NumPy array"
        )
    if array.dtype.kind == "O":  # None, or integers beyond 64 bits
        numbers = np.array([_cell(item) for item in array.flat], dtype=np.float64)
        return numbers.reshape(array.shape)
    if array.dtype.kind not in "biuf":  # not named: the width of a text dtype is the length of the longest cell
        raise _not_a_number()
    return array


def _cell(item: object) -> float:
    if item is None:
        return float("nan")
    if isinstance(item, int | float | np.number | np.bool) and not isinstance(item, np.complexfloating):
        try:
            return float(item)
        except OverflowError:
            return float("inf") if item > 0 else float("-inf")
    raise _not_a_number()


def _not_a_number() -> ArgumentError:
    return ArgumentError("data", "a cell of the list is not a number; use numbers, and None where one is missing")
