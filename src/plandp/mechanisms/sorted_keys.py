"""Lattice keys in order: where there is no compiler to count them anew in every round, each count is looked up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SortedKeys:
    """The lattice cells of all values, every column in order (d, m).  Not private, never to leave the library."""

    columns: NDArray[Any]
    missing: NDArray[np.int64]  # per column; their keys are the largest

    @classmethod
    def of(cls, keys: NDArray[Any], missing: NDArray[np.int64]) -> "SortedKeys":
        """Put keys (m, d) in order, where they lie if they lie by columns."""
        columns = np.ascontiguousarray(keys.T)
        columns.sort(axis=1, kind="stable")  # by their digits where they are short, which is faster
        return cls(columns=columns, missing=missing)

    def twice_below(self, thresholds: FloatArray) -> NDArray[np.int64]:
        """2·#{key < threshold} + #{missing} for every column, as `LatticeKeys` has it."""
        d, m = self.columns.shape
        keys, wanted, first = self.columns.reshape(-1), thresholds.astype(self.columns.dtype), np.arange(d) * m
        at, left = first.copy(), m  # of so many keys from here on it is not known whether they lie below
        while left:  # in all columns at once
            half = (left + 1) // 2
            np.add(at, half, out=at, where=keys[at + (half - 1)] < wanted)
            left -= half
        return np.asarray(2 * np.minimum(at - first, m - self.missing) + self.missing)
