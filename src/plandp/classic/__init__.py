"""Algorithm 1 of the paper as it is stated there, with parts that can be exchanged (`plandp.methods.plan_classic`)."""

from plandp.classic.direct import Direct
from plandp.classic.equal import Equal
from plandp.classic.item_variance import EqualItems, ItemVariance
from plandp.classic.naive import SumOfSquares
from plandp.classic.pairs import Pairs
from plandp.classic.regularisers import PlusMean, TwicePlusMean, Unregularised
from plandp.classic.small_spread import FinerSearch, RescaledBySmallest, SmallestThatMatters, UnitNoise
from plandp.classic.universe import Concentrated, ItemsAsPrinted, LongestRow
from plandp.mechanisms.quantiles import BinarySearch, ExponentialMechanism

__all__ = [
    "BinarySearch",
    "Concentrated",
    "Direct",
    "Equal",
    "EqualItems",
    "ExponentialMechanism",
    "FinerSearch",
    "ItemVariance",
    "ItemsAsPrinted",
    "LongestRow",
    "Pairs",
    "PlusMean",
    "RescaledBySmallest",
    "SmallestThatMatters",
    "SumOfSquares",
    "TwicePlusMean",
    "UnitNoise",
    "Unregularised",
]
