"""SciPy's lists and dictionaries of cells, which are Python objects: each is read on its own, and none can raise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NOWHERE = -1
_REAL = (int, float, np.integer, np.floating, np.bool)
_PLAIN = frozenset({int, float, bool, np.float64, np.float32, np.int64, np.int32, np.bool})
"""Types of which NumPy makes, all at once, the numbers that `_number` makes."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coordinates:
    """A matrix as the row, column and value of each cell, by SciPy's names."""

    row: NDArray[np.int64]
    col: NDArray[np.int64]
    data: NDArray[np.float64]
    shape: tuple[int, int]
    format: str = "coo"


def from_lists(matrix: Any) -> Coordinates:
    """Return a matrix in lists; what only one of the two lists of a row has is not there."""
    columns: list[object] = []
    values: list[object] = []
    lengths: list[int] = []
    for row, numbers in zip(matrix.rows, matrix.data, strict=False):
        length = min(len(row), len(numbers)) if type(row) is list and type(numbers) is list else 0
        columns += row[:length] if length else ()
        values += numbers[:length] if length else ()
        lengths.append(length)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return Coordinates(row=rows, col=_places(columns), data=_numbers(values), shape=matrix.shape)


def from_dictionary(matrix: Any) -> Coordinates:
    """Return a matrix in a dictionary."""
    places = list(matrix.keys())
    rows, columns = _places([row for row, _ in places]), _places([column for _, column in places])
    return Coordinates(row=rows, col=columns, data=_numbers(list(matrix.values())), shape=matrix.shape)


def _places(indices: Sequence[Any]) -> NDArray[np.int64]:
    if set(map(type, indices)) <= {int}:
        try:
            return np.array(indices, np.int64)
        except OverflowError:
            pass
    return np.array([_place(place) for place in indices], np.int64)


def _place(place: Any) -> int:
    """Return an index, one outside for what is none; no matrix has 2**63 rows or columns."""
    try:
        return index(place) if 0 <= index(place) < 2**63 else _NOWHERE
    except TypeError:
        return _NOWHERE


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    if set(map(type, values)) <= _PLAIN:
        try:
            return np.array(values, np.float64)
        except OverflowError:
            pass
    return np.array([_number(value) for value in values], np.float64)


def _number(value: Any) -> float:
    """Return the nearest float64, NaN for what is no real number."""
    try:
        return float(value) if isinstance(value, _REAL) else nan
    except OverflowError:  # an integer of Python
        return inf if value > 0 else -inf
    except (TypeError, ValueError):  # a span of time, which is an np.integer
        return nan
