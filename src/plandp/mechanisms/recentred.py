"""Line 5 of Algorithm 1 for a block of rows: y = (x - center) · factor, by a public rule for every value."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Recentred:
    """Maps a block to y, value by value: NaN is `missing` (None: the centre), the rest is clipped to the box.

    Each y is a function of its own x and of public or released numbers only, always finite.
    """

    low: FloatArray
    high: FloatArray
    missing: FloatArray | None
    center: FloatArray
    factor: FloatArray  # 1 / (unit · stretch), positive and finite

    def __call__(self, block: FloatArray, /) -> FloatArray:
        """A new array of the block's shape; the block itself is left alone."""
        y = np.asarray(np.maximum(block, self.low))
        np.minimum(y, self.high, out=y)
        if self.missing is not None:
            y = np.where(np.isnan(y), self.missing, y)
        y -= self.center
        y *= self.factor
        y[np.isnan(y)] = 0.0
        return y

    def of_column(self, place: int) -> "Recentred":
        """The same for the values of one column, as a block of one dimension."""
        return Recentred(
            low=self.low[place, ...],
            high=self.high[place, ...],
            missing=None if self.missing is None else self.missing[place, ...],
            center=self.center[place, ...],
            factor=self.factor[place, ...],
        )
