"""What a claim of privacy says about single events: as likely as y on one table, how likely at least on its neighbour?

The answer, a convex function of y, is all that the guessing game of the canaries needs to know about a claim.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

ORDERS = 1.0 + np.geomspace(0.01, 300.0, 60)  # any set of orders is sound, more of them are tighter
SMALLEST, LARGEST = 1e-8, 1.0 - 1e-6  # of the y that are looked at; below, the least likely is taken to be 0
POINTS = 400
HALVINGS = 44
ROUNDING = 1e-6  # more than floats lose here; the claim is made that much weaker


@dataclass(frozen=True, kw_only=True, eq=False)
class TradeOff:
    """Under some claim: the least probability on a neighbour of an event that has probability y; never above it."""

    y: list[float]
    least: list[float]
    slopes: list[float]

    @classmethod
    def through(cls, y: FloatArray, least: FloatArray) -> "TradeOff":
        """From values of the convex function at some y."""
        slopes = np.append(0.0, np.diff(least) / np.diff(y))
        return cls(y=y.tolist(), least=(least * (1.0 - ROUNDING)).tolist(), slopes=(slopes * (1.0 - ROUNDING)).tolist())

    def least_likely(self, y: float) -> float:
        """A chord of a convex function, made longer, lies below it."""
        place = bisect_right(self.y, y) - 1
        if place < 0:
            return 0.0
        return self.least[place] + self.slopes[place] * (y - self.y[place])


def _grid() -> FloatArray:
    first, last = (math.log(end / (1.0 - end)) for end in (SMALLEST, LARGEST))
    return np.asarray(1.0 / (1.0 + np.exp(-np.linspace(first, last, POINTS))))


def zcdp_trade_off(rho: float) -> TradeOff:
    """Of ρ-zCDP: no order of the Rényi divergence of yes and no, in either direction, exceeds its share α·ρ.

    The divergence is convex in both probabilities, so that the bound holds for averages over tables as well.
    """
    y = _grid()
    # the divergence falls as the second probability x rises to y: look for the smallest that is allowed, in logarithms
    low, high = np.log(y) - rho - 40.0 * math.sqrt(rho) - 5.0, np.log(y)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        refuted = _needed_rho(y, middle) > rho
        low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
    return TradeOff.through(y, np.exp(low))


def _needed_rho(y: FloatArray, log_x: FloatArray) -> FloatArray:
    """The largest Rényi divergence of one yes-or-no answer from another, in both directions, over its order."""
    order = ORDERS[:, None]
    yes, no = np.log(y), np.log1p(-y)
    other_yes, other_no = log_x, np.log1p(-np.exp(log_x))
    there = np.logaddexp(order * yes + (1.0 - order) * other_yes, order * no + (1.0 - order) * other_no)
    back = np.logaddexp(order * other_yes + (1.0 - order) * yes, order * other_no + (1.0 - order) * no)
    return np.asarray((np.maximum(there, back) / ((order - 1.0) * order)).max(axis=0))


def gaussian_trade_off(rho: float) -> TradeOff:
    """Of one sum with Gaussian noise for its sensitivity at this ρ, and of what is made from it.

    Two tables are then at most √(2ρ) standard deviations apart; on a fine lattice that is true of discrete noise too.
    """
    from scipy.special import ndtr, ndtri

    y = _grid()
    return TradeOff.through(y, ndtr(ndtri(y) - math.sqrt(2.0 * rho)))
