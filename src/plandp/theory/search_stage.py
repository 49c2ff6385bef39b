"""Some rounds of a search at a time: where they may ask, so that one pass over the rows answers all of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.median_posterior import move_thresholds
from plandp.theory.bisection import TINY, MedianPosterior

FloatArray = NDArray[np.float64]

MOST_POINTS, FEWEST_POINTS = 2**11, 2**4
IN_ALL = 2**22
"""Points of all columns: counts of values between them take 16 MiB, of which engines bring some at a time to one
process, and more only where columns have the fewest."""

ROUNDS_PER_DOUBLING, COARSE = 1.6, 6.6
"""Eleven rounds for 2,048 points, six for 256, one for 32: no search ends worse than one that asks anywhere (decision
12)."""


def stages(rounds: int, points: int) -> list[int]:
    """The rounds of every stage, as even as can be."""
    together = max(1, int(ROUNDS_PER_DOUBLING * np.log2(points) - COARSE))
    count = -(-rounds // together)
    return [rounds // count + (number < rounds % count) for number in range(count)]


def points_of(d: int) -> int:
    """How many points each of d columns has."""
    return min(max(IN_ALL // d, FEWEST_POINTS), MOST_POINTS)


@dataclass(frozen=True, eq=False)
class Stage:
    """Lattice points between which the posterior sees equal shares, `count` in every column: thresholds are among them.

    Where the posterior is narrow they are dense, so that a few rounds lose nothing by asking nowhere else.
    """

    begun: MedianPosterior
    upto: FloatArray  # mass up to the end of every piece
    count: int

    @classmethod
    def of(cls, posterior: MedianPosterior, count: int) -> "Stage":
        """The stage that begins where a search has come to."""
        return cls(posterior, np.cumsum(posterior.mass, axis=1), count)

    def nearest(self, threshold: FloatArray) -> FloatArray:
        """The point of every column that is nearest to its threshold, by the shares between them."""
        moved = threshold.copy()
        move = compiled(move_thresholds) or _move_thresholds
        move(self.begun.edges, self.begun.mass, self.upto, self.count, TINY, moved)
        return moved

    def points(self) -> FloatArray:
        """All points of every column (d, count), from the lowest on."""
        share = (np.arange(self.count) + 0.5) / self.count
        found = np.empty((len(self.upto), self.count))
        for edges, mass, upto, line in zip(self.begun.edges, self.begun.mass, self.upto, found, strict=True):
            piece = np.minimum(np.searchsorted(upto, share), len(mass) - 1)
            line[:] = _point(share, upto[piece], mass[piece], edges[piece], edges[piece + 1], edges[-1])
        return found


def _point(
    share: FloatArray, upto: FloatArray, mass: FloatArray, left: FloatArray, right: FloatArray, cells: FloatArray
) -> FloatArray:
    """The lattice point at the quantile `share`, which lies in a piece that holds `mass` and ends at `upto`."""
    part = np.minimum(np.maximum((share - (upto - mass)) / np.maximum(mass, TINY), 0.0), 1.0)
    return np.asarray(np.minimum(np.maximum(np.floor(left + (right - left) * part + 0.5), 1.0), cells - 1.0))


def _move_thresholds(
    edges: FloatArray, mass: FloatArray, upto: FloatArray, count: int, tiny: float, threshold: FloatArray
) -> None:
    """What the compiled loop does, in NumPy."""
    each, last = np.arange(len(mass)), mass.shape[1] - 1
    piece = np.minimum((edges[:, 1:] < threshold[:, None]).sum(axis=1), last)
    left, right = edges[each, piece], edges[each, piece + 1]
    before = upto[each, piece] - mass[each, piece]
    below = before + mass[each, piece] * ((threshold - left) / (right - left))
    share = (np.minimum(np.maximum(np.floor(below * count), 0.0), count - 1.0) + 0.5) / count
    piece = np.minimum((upto < share[:, None]).sum(axis=1), last)
    threshold[:] = _point(
        share, upto[each, piece], mass[each, piece], edges[each, piece], edges[each, piece + 1], edges[:, -1]
    )
