"""Lattice keys in order: where there is no compiler to count them anew in every round, each count is looked up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

AT_A_TIME = 64
"""Rows that are turned at a time: they stay in cache."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SortedKeys:
    """The lattice cells of all values, every column in order (d, m).  Not private, never to leave the library."""

    columns: NDArray[Any]
    missing: NDArray[np.int64]  # per column; their keys are the largest

    @classmethod
    def of(cls, keys: NDArray[Any], missing: NDArray[np.int64]) -> "SortedKeys":
        """Put keys (m, d) in order."""
        columns = np.empty(keys.shape[::-1], keys.dtype)
        for begin in range(0, len(keys), AT_A_TIME):
            columns[:, begin : begin + AT_A_TIME] = keys[begin : begin + AT_A_TIME].T
        columns.sort(axis=1, kind="stable")  # by their digits where they are short, which is faster
        return cls(columns=columns, missing=missing)

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column, as `LatticeKeys` has it."""
        d, m = self.columns.shape
        wanted, each = thresholds.astype(self.columns.dtype), np.arange(d)
        below, beyond = np.zeros(d, np.int64), np.full(d, m, np.int64)
        for _ in range(m.bit_length()):  # halves what lies between them, in all columns at once
            middle = np.minimum((below + beyond) // 2, m - 1)
            smaller = (self.columns[each, middle] < wanted) & (below < beyond)
            below, beyond = np.where(smaller, middle + 1, below), np.where(smaller, beyond, middle)
        return np.asarray(2 * np.minimum(below, m - self.missing) + self.missing)
