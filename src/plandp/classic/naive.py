"""Variance from the noisy sum of squares (variance appendix): what too wide bounds make useless."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.classic.spread import SpreadSearch
from plandp.data.rows import Rows
from plandp.mechanisms.quantiles import Quantile
from plandp.mechanisms.recentred import Recentred
from plandp.terms.design import Design
from plandp.theory.box import box_center, box_spread

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SquareSums:
    """Block function: Σ rint(points·u²), u the distance from the middle of the bounds over half their width."""

    view: Recentred
    points: int  # of a value at the bounds: no value adds less than 0 or more than this

    def __call__(self, block: FloatArray, /) -> tuple[IntArray]:
        """Add up the block, value by value."""
        u = self.view(block)
        whole = np.rint(self.points * (u * u))
        return (np.clip(whole, 0.0, float(self.points)).astype(np.int64).sum(axis=0),)


@dataclass(frozen=True, kw_only=True)
class SumOfSquares:
    """σ̂² = Σx²/n - μ̃², x within ±M around the middle of the bounds: the naive estimator of variance appendix.

    A replaced row moves each column's Σx² by at most M², all d columns by √d·M² in ℓ2.  A missing value counts as the
    released centre, or as the public value for it.
    """

    costs = True
    needs_center = True

    def rank_error(self, finest: FloatArray, quantile: Quantile, design: Design, *, failure: float) -> float:
        """None is ranked."""
        return 0.0

    def __call__(self, rows: Rows, search: SpreadSearch) -> FloatArray:
        """The root of what is left of the noisy second moment, 0 where that is negative.

        Guarantee: design.split.spread-zCDP when one row is replaced.  In steps of M²/points each column's integer sum
        moves by at most `points`, so D = d·points².
        """
        design, center = search.design, search.center
        assert center is not None
        columns, n = design.columns, design.n
        middle, half = box_center(columns), columns.width / 2.0
        view = Recentred(
            low=columns.low,
            high=columns.high,
            missing=center if columns.missing is None else columns.missing,
            center=middle,
            factor=1.0 / half,
        )
        points = min(design.lattice_points, (1 << 62) // n)
        (sums,) = rows.fold(SquareSums(view=view, points=points))
        noisy = search.noise.release(
            sums, squared_sensitivity=design.d * points**2, rho=design.split.spread, step="spread"
        )
        moment = noisy.astype(np.float64) / points / n
        return np.sqrt(np.maximum(moment - ((center - middle) / half) ** 2, 0.0)) * box_spread(columns)
