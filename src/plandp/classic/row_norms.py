"""Lines 5–6: the norm of every stretched row as one column of numbers that can be ranked."""

import numpy as np
from numpy.typing import NDArray

from plandp.classic.search_lattice import search_lattice
from plandp.data.rows import Rows
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.ranked import HeldKeys
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.row_norms import RowNorms

FloatArray = NDArray[np.float64]

PER_TYPICAL = 2.0**10  # cells up to the typical norm: norms of many columns differ by a few percent only


def ranked_norms(norms: FloatArray, *, universe: float, typical: float) -> HeldKeys:
    """Norms on a grid from 0 to the universe; those beyond it are counted at its upper end."""
    return HeldKeys.of_values(norms[:, None], norm_lattice(universe=universe, typical=typical))


def norm_lattice(*, universe: float, typical: float) -> Lattice:
    """The grid that norms are ranked on."""
    return search_lattice(np.zeros(1), np.full(1, universe), np.full(1, typical / PER_TYPICAL))


def row_norms(rows: Rows, view: Recentred) -> FloatArray:
    """‖y‖₂ of every row, a function of that row alone.  Reads data, pays nothing, stays inside."""
    norms = RowNorms(view=view)
    return np.concatenate([norms(block)[:, 0] for block in rows.blocks()])
