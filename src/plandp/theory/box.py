"""What the public bounds alone say about centre and spread."""

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Columns

FloatArray = NDArray[np.float64]


def box_center(columns: Columns) -> FloatArray:
    """The middle of the bounds: nothing in the box is further from it than half the width."""
    return np.asarray(columns.low + columns.width / 2.0)


def box_spread(columns: Columns) -> FloatArray:
    """Half the width, in units of error_scale: no spread around the middle is larger."""
    return np.asarray(columns.width / 2.0 / columns.error_scale)


def no_wider_than_box(center: FloatArray, spread: FloatArray, columns: Columns) -> tuple[FloatArray, FloatArray]:
    """Where the spread around the centre exceeds half the width, the middle of the box is the better centre.

    Balanced 0/1 columns are the common case: around 0 or 1 their spread is .71, around the middle .5.
    """
    widest = box_spread(columns)
    wider = spread > widest
    return np.where(wider, box_center(columns), center), np.minimum(spread, widest)
