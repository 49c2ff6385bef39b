"""Columns that lie one after the other, laid side by side as rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.side_by_side import turn

COMPILED = 2**18
"""Fewer values are not worth a compiler."""


def side_by_side(columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Return columns of numbers as rows of float64, each value converted on its own."""
    rows = np.empty((len(columns[0]), len(columns)))
    lay_side_by_side(columns, rows)
    return rows


def lay_side_by_side(columns: Sequence[NDArray[Any]], rows: NDArray[np.float64]) -> None:
    """Write columns of numbers to `rows`, each value converted on its own."""
    stacked = np.empty((len(columns), len(rows)))
    for place, column in enumerate(columns):
        stacked[place] = column
    loop = compiled(turn) if stacked.size >= COMPILED else None
    if loop is None:
        rows[...] = stacked.T
    else:
        loop(stacked, rows)
