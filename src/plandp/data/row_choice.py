"""Rows that are chosen by their public numbers."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError


def refuse_indices(indices: NDArray[np.int64], n: int) -> None:
    """Refuse numbers that are not strictly increasing within 0 … n-1.

    A row that is taken twice would count twice, and the sensitivity in the proofs would be wrong.
    """
    if indices.size == 0 or indices[0] < 0 or indices[-1] >= n or np.any(np.diff(indices) < 1):
        raise ArgumentError("indices", f"row indices must be strictly increasing within 0 … {n - 1}")


def runs_in(indices: NDArray[np.int64]) -> list[slice]:
    """Return which of these strictly increasing numbers follow each other without a gap."""
    ends = [*(np.flatnonzero(np.diff(indices) > 1) + 1).tolist(), len(indices)]
    return [slice(begin, end) for begin, end in pairwise([0, *ends])]


def places_among(values: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each value among the strictly increasing numbers, -1 where it is none of them."""
    place = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
    return np.where(numbers[place] == values, place, -1)


def not_numbered() -> ArgumentError:
    """Return the refusal of a column of numbers in which not every chosen number was found exactly once."""
    return ArgumentError(
        "row_index", "the column does not hold each of the row numbers 0, 1, …, n-1 exactly once; number the rows anew"
    )
