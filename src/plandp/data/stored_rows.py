"""Compressed rows as they are stored, before any of their items and values is trusted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENTRIES_AT_A_TIME = 2**16
"""About how many entries are read at a time on the way in: what is held besides the rows stays within the cache."""

MOST_ROWS = 2**30
"""No block has more rows: those who add up a block count in 32 bits."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoredRows:
    """Row r holds the entries begin[r] … begin[r+1]-1, which are within the arrays; nothing else is certain."""

    begin: NDArray[Any]  # (n + 1,), int32 or int64
    items: NDArray[Any]  # int32 or int64
    values: NDArray[Any] | None  # any real dtype; None: every value is one
    writable: bool  # whether the arrays are ours, not the caller's

    def weights(self, first: int, last: int, *, binary: bool) -> NDArray[np.float64]:
        """Return what the entries first … last-1 count as float64; if binary, one for all but zeros and NaN."""
        if self.values is None:
            return np.ones(last - first)
        values = floats(self.values[first:last])
        return presence(values).astype(np.float64) if binary else values


def floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return values as float64 in machine order, copied only where they must be."""
    return np.require(values, np.float64, ["C", "A"])


def presence(values: NDArray[Any]) -> NDArray[np.bool]:
    """Return which values are neither zero nor NaN."""
    counts: NDArray[np.bool] = (values != 0) & (values == values)
    return counts


def cut_rows(begin: NDArray[Any], entries: int, *, rows: int = MOST_ROWS) -> Iterator[tuple[int, int]]:
    """Cut rows into stretches of at most so many entries and rows; a row with more entries stands alone.

    No stretch has more rows than it may have entries, or than `rows`.
    """
    n, first = len(begin) - 1, 0
    while first < n:
        goal = begin.dtype.type(min(int(begin[first]) + entries, int(begin[-1])))  # of another type, all would be cast
        last = int(np.searchsorted(begin, goal, side="right")) - 1
        last = min(max(last, first + 1), first + min(entries, rows), n)
        yield first, last
        first = last


def narrowest(highest: int) -> type[np.int32] | type[np.int64]:
    """Return the narrower of the two integer types that can hold `highest`."""
    return np.int32 if highest < 2**31 else np.int64
