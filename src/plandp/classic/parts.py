"""The parts that Algorithm 1 is put together from, those of the paper's evaluation unless said otherwise."""

from dataclasses import dataclass, field, fields

from plandp.classic.item_variance import ItemSpread, ItemVariance
from plandp.classic.pairs import Pairs
from plandp.classic.regularisers import PlusMean, Regulariser
from plandp.classic.small_spread import SmallestThatMatters, SmallSpread
from plandp.classic.spread import SpreadEstimator
from plandp.classic.universe import Concentrated, LongestRow, Universe
from plandp.errors import ArgumentError
from plandp.mechanisms.quantiles import ExponentialMechanism, Quantile

_MARKS = {  # what tells a part of its kind
    "quantile": ("__call__", "rank_error"),
    "spread": ("__call__", "needs_center"),
    "small_spread": ("prepared", "finest"),
    "item_spread": ("__call__", "costs", "expected", "is_told"),
}

_LEAST = 2.0**-500  # of a failure probability: ranks and cells over a third of it are still floats


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What can be exchanged in plan-classic; `item_` parts are for items that are there or not.

    `failure_probability` is the β of Listing 1, a third of which goes into the rank error k of line 3.
    """

    quantile: Quantile = field(default_factory=ExponentialMechanism)
    spread: SpreadEstimator = field(default_factory=Pairs)
    regulariser: Regulariser = field(default_factory=PlusMean)
    universe: Universe = field(default_factory=Concentrated)
    small_spread: SmallSpread = field(default_factory=SmallestThatMatters)
    item_spread: ItemSpread = field(default_factory=ItemVariance)
    item_universe: Universe = field(default_factory=LongestRow)
    failure_probability: float = 0.1

    def __post_init__(self) -> None:
        if not isinstance(self.failure_probability, float) or not _LEAST <= self.failure_probability < 1.0:
            raise ArgumentError("failure_probability", "must be a number from 2**-500 to below 1")
        for part in fields(self)[:-1]:
            marks = _MARKS.get(part.name, ("__call__",))
            given = getattr(self, part.name)
            if isinstance(given, type) or not all(hasattr(given, mark) for mark in marks):
                raise ArgumentError(part.name, "must be a part from plandp.classic")
        if self.small_spread.needs_spread and self.spread.needs_center:
            raise ArgumentError("small_spread", "needs spreads before centres, and this `spread` needs centres first")
