"""The norms of recentred rows, one number per row: to be asked for ranks.  Reads data, pays nothing, stays inside."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.recentred import write_norms
from plandp.mechanisms.recentred import Recentred

FloatArray = NDArray[np.float64]

TILE = 2**17  # values worked on at a time: they stay in cache


@dataclass(frozen=True, kw_only=True, eq=False)
class RowNorms:
    """Maps a block to the norms of its recentred rows, (rows, 1): each a function of that row alone."""

    view: Recentred

    def __call__(self, block: FloatArray, /) -> FloatArray:
        """A new array with one number for every row of the block."""
        view, norms = self.view, np.empty(len(block))
        loop = compiled(write_norms)
        if loop is None:
            rows = max(1, TILE // block.shape[1])
            for begin in range(0, len(block), rows):
                y = view(block[begin : begin + rows])
                # accumulate adds each row's squares one by one from the left: the one order all kernels share
                norms[begin : begin + rows] = np.sqrt(np.add.accumulate(y * y, axis=1)[:, -1])
        else:
            stand_in = view.center if view.missing is None else view.missing
            loop(block, view.low, view.high, stand_in, view.center, view.factor, norms)
        return norms[:, None]
