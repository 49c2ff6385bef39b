"""The public grids that PrivQuantile searches: 2^T cells per column, T as the paper counts its steps."""

import math

import numpy as np
from numpy.typing import NDArray

from plandp.mechanisms.lattice import Lattice

FloatArray = NDArray[np.float64]

MOST_HALVINGS = 50  # of a range: beyond it float64 could not tell the cells apart


def search_lattice(low: FloatArray, high: FloatArray, step: FloatArray) -> Lattice:
    """2^T cells from low to high, none wider than `step` unless T would pass MOST_HALVINGS.

    T is the same for all columns: ⌈log2(range/step)⌉ where that is largest (the paper halves [-M, M] T times).
    """
    finest = float(((high - low) / step).max())
    halvings = min(max(1, math.ceil(math.log2(max(finest, 2.0)))), MOST_HALVINGS)
    cells = np.full(len(low), 2.0**halvings)
    return Lattice(low=low, high=high, step=(high - low) / cells, cells=cells)
