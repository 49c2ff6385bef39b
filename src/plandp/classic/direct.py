"""Spread from one quantile of the column and its centre (variance appendix, "Gaussian Data")."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from plandp.classic.search_lattice import search_lattice
from plandp.classic.spread import SpreadSearch
from plandp.data.rows import Rows
from plandp.errors import ArgumentError
from plandp.mechanisms.quantiles import Quantile
from plandp.mechanisms.ranked import HeldKeys
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Direct:
    """σ̂ = PrivQuantile at `share` less the released centre: .841 is a standard deviation above a Gaussian's middle.

    The paper divides by nothing, for .75 and .9 too: its table's errors of about .33 and .28 are 1-Φ⁻¹(.75) and
    Φ⁻¹(.9)-1, what the missing factor makes, of σ and not of σ² as its caption says.  `normal` divides by Φ⁻¹(share).
    """

    share: float = 0.841
    normal: bool = False
    costs = True
    needs_center = True

    def __post_init__(self) -> None:
        if not isinstance(self.share, float) or not 0.5 < self.share < 1.0:
            raise ArgumentError("share", "must be a number above .5 and below 1")

    def rank_error(self, finest: FloatArray, quantile: Quantile, design: Design, *, failure: float) -> float:
        """Of one number per row."""
        columns = design.columns
        cells = float(search_lattice(columns.low, columns.high, finest).cells[0])
        rho = float(design.split.spread)
        return quantile.rank_error(cells=cells, columns=design.d, rho=rho, failure=failure) / design.n

    def __call__(self, rows: Rows, search: SpreadSearch) -> FloatArray:
        """The distance of the two quantiles.

        Guarantee: design.split.spread-zCDP when one row is replaced: each rank moves by at most 1, as for medians.
        """
        assert search.center is not None
        columns, rho = search.design.columns, search.design.split.spread
        ranked = HeldKeys.of_rows(rows, search_lattice(columns.low, columns.high, search.finest), columns.missing)
        upper = search.quantile(ranked, self.share, search.noise, rho=rho, step="spread")
        over = NormalDist().inv_cdf(self.share) if self.normal else 1.0
        return (upper - search.center) / columns.error_scale / over
