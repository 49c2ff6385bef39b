"""What a variance estimator is to plan-classic (Listing 1: estimateStd; appendix F)."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.quantiles import Quantile
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SpreadSearch:
    """What an estimator goes by: what is public or released, how it finds quantiles, and the door that it pays at."""

    center: FloatArray | None  # released before, unless spreads come first
    finest: FloatArray  # the smallest spread that can be told, in the units of the data
    quantile: Quantile
    design: Design
    noise: MeteredNoise


class SpreadEstimator(Protocol):
    """Estimates σ̂ of every column, in units of error_scale, at design.split.spread-zCDP for replacing one row."""

    @property
    def costs(self) -> bool:
        """Whether it reads data, and so has a share of the budget."""
        ...

    @property
    def needs_center(self) -> bool:
        """Whether it starts from the released centres."""
        ...

    def rank_error(self, finest: FloatArray, quantile: Quantile, design: Design, *, failure: float) -> float:
        """Public: the rank error to expect over the numbers that are ranked; 0 where none are."""
        ...

    def __call__(self, rows: Rows, search: SpreadSearch) -> FloatArray:
        """σ̂ in units of error_scale, any float: the caller brings it within `finest` and half the bounds' width."""
        ...
