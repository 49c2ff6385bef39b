"""PLAN without scaling (paper, "Generic Bounds"): all spreads are taken to be the same, at no cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.classic.spread import SpreadSearch
from plandp.data.rows import Rows
from plandp.mechanisms.quantiles import Quantile
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Equal:
    """σ̂ = 1 in units of error_scale for every column (paper, "Generic Bounds"): no stretch."""

    costs = False
    needs_center = False

    def rank_error(self, finest: FloatArray, quantile: Quantile, design: Design, *, failure: float) -> float:
        """None is ranked."""
        return 0.0

    def __call__(self, rows: Rows, search: SpreadSearch) -> FloatArray:
        """Ones: nothing is read and nothing is paid."""
        return np.ones(search.design.d)
