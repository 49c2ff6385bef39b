"""Where does a tail of k rows begin, given noisy counts of rows up to a threshold?  (line 6's quantile, soft.)

Near the place x* where the tail has the wanted size, the logarithm of the number of rows above e^x is modelled as
a falling parabola in x: steep for norms that concentrate, straight for heavy tails.  All counts speak on one curve.
One more shape assumes nothing but that more rows than wanted lie above any point before x*, and fewer after it:
it takes over where norms sit on a few values.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.tail_curves import (
    FORGOTTEN,
    HALF,
    LEAST_DENSITY,
    LEAST_EXPONENT,
    ONE,
    PER_ROOT_TWO_PI,
    REACH,
    SMALLEST,
    TWO_PI,
    ZERO,
    exponential,
    find_wanted_cell,
    learn_from_count,
    logarithm,
)

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

# every pair is a shape: -d ln(rows above)/d ln(norm) at x*, from heavy tails to d = 10^5, and its own slope, in
# steepness²: 0 for power laws, about 1/z² at z Gaussian deviations
STEEPNESSES, CURVATURES = np.geomspace(1.5, 400.0, 14), np.array([0.0, 0.06, 0.2, 0.5])
STEEPNESS, CURVATURE = (
    np.ravel(part).astype(np.float32) for part in np.meshgrid(STEEPNESSES, CURVATURES, indexing="ij")
)
BEND = (CURVATURE * STEEPNESS**2 / 2).astype(np.float32)
TOP = (STEEPNESS / np.maximum(2 * BEND, 1e-9)).astype(np.float32)  # no parabola goes on past its top
SHAPES = np.stack([STEEPNESS, BEND, TOP])
ANY_SHAPE = 0.002  # prior chance that no parabola fits: small, since where none does all fit very badly
AND_ANY_SHAPE = np.append(STEEPNESSES, np.inf)  # no way is inward of it
LOST_OF_ANY_SHAPE = 0.5
MISFIT = np.float32(0.2)  # a parabola is trusted to this part of the rows above, and less in the bulk, far from x*
TELLING = 1.5  # standard deviations of noise: fewer rows cannot be told from none
MIDDLES: FloatArray = np.arange(0.5, 64.0)  # of the intervals over which a density is added up
ALL_WANTED = 1e-9  # instead of ln(rows / tail) = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """Where a norm is expected before any count: knots of ln(norm) and the prior mass between them."""

    knots: FloatArray
    mass: FloatArray

    @classmethod
    def up_to(cls, highest: float, *, lowest: float, near: float) -> "Guess":
        """Nothing is known but the range; 70% of the prior lies within e^near of its upper end.

        With too few rows to tell, a norm then comes out too large, which costs noise, and not too small, which
        would clip everything.
        """
        top, bottom = float(np.log(highest)), float(np.log(lowest))
        return cls(knots=np.array([bottom, max(bottom, top - near), top]), mass=np.array([0.3, 0.7]))

    def over(self, edges: FloatArray) -> FloatArray:
        """Prior mass of every cell, given the cells' upper edges."""
        upto = np.interp(np.log(edges), self.knots, np.concatenate([[0.0], np.cumsum(self.mass)]))
        return np.asarray(np.maximum(np.diff(upto, prepend=0.0), 1e-12))


@dataclass(frozen=True, kw_only=True)
class NoisyCount:
    """A released count of the rows up to the upper edge of `cell`, and the standard deviation of its noise."""

    cell: int
    count: float
    noise_std: float


@dataclass(frozen=True, kw_only=True, eq=False)
class TailPosterior:
    """Log-weights of every cell whose upper edge may be x*, per shape; `tail` rows are wanted above x*."""

    position: FloatArray  # ln of the upper edges, of all cells; evenly spaced
    tail: float
    begin: int  # the first cell that may still be x*
    log_weight: SingleArray  # (shapes + 1, cells from `begin` on): the last shape is any; single is plenty

    @classmethod
    def before(cls, edges: FloatArray, *, prior: FloatArray, tail: float) -> "TailPosterior":
        """What is known before any count."""
        shapes = np.append(np.full(len(STEEPNESS), (1.0 - ANY_SHAPE) / len(STEEPNESS)), ANY_SHAPE)
        log_weight = (np.log(prior) + np.log(shapes)[:, None]).astype(np.float32)
        return cls(position=np.log(edges), tail=tail, begin=0, log_weight=log_weight)

    def next_cell(self, noise_std: float) -> int:
        """The cell to ask about with noise of this size; never the last, whose count is no news.

        That is where about `tail` rows are left, or, for a noisy count, the place further in where the number of
        rows above can still be told from the noise: the curve leads from there to x*.
        """
        spacing = (self.position[-1] - self.position[0]) / (len(self.position) - 1)  # edges are geometric
        inward = np.log(max(TELLING * noise_std / self.tail, 1.0)) / AND_ANY_SHAPE
        mass, found = np.zeros(len(self.position)), np.empty(1, np.int64)
        find = compiled(find_wanted_cell) or _find_wanted_cell
        find(self.log_weight, (inward / spacing).astype(np.int64), self.begin, mass, found)
        return min(int(found[0]), max(len(self.position) - 2, 0))

    def quantile_cell(self, share: float) -> int:
        """The cell whose upper edge is nearest to this quantile of the posterior of x*."""
        return self.begin + _quantile(self._weight().sum(axis=0, dtype=np.float64), share)

    def lost_beyond(self) -> float:
        """The share 1 - e^x*/norm that rows beyond x* are expected to lose: 1/(a + 1) for a power law of index a."""
        weight = self._weight().sum(axis=1, dtype=np.float64)
        return float(weight @ np.append(1.0 / (STEEPNESS + 1.0), LOST_OF_ANY_SHAPE) / weight.sum())

    def updated(self, seen: NoisyCount, *, rows: int) -> "TailPosterior":
        """Learn from a noisy count."""
        above, σ, tail = rows - seen.count, seen.noise_std, self.tail
        # single precision is plenty beside MISFIT, and much faster; its squares are neither 0 nor infinite
        noise_std, told = min(max(σ, 1e-9), 1e15), min(max(above, -1e18), 1e18)
        numbers = math.log(tail), math.log(rows), told, min(max(told, noise_std), rows), noise_std**2
        inside = min(max(above, -4.0 * σ), rows + 4.0 * σ)
        log_weight, kept = np.empty_like(self.log_weight), np.empty(2, np.int64)
        learn = compiled(learn_from_count) or _learn_from_count
        learn(
            self.log_weight,
            self.position,
            self.begin,
            seen.cell,
            SHAPES,
            MISFIT,
            np.array(numbers, np.float32),
            np.array((inside, tail, rows, max(math.log(rows / tail), ALL_WANTED), σ)),
            MIDDLES,
            log_weight,
            kept,
        )
        first, last = kept.tolist()
        return TailPosterior(
            position=self.position,
            tail=tail,
            begin=self.begin + first,
            log_weight=np.ascontiguousarray(log_weight[:, first : last + 1]),
        )

    def after(self, counts: tuple[NoisyCount, ...], *, rows: int) -> "TailPosterior":
        """Learn from all these counts."""
        posterior = self
        for seen in counts:
            posterior = posterior.updated(seen, rows=rows)
        return posterior

    def _weight(self) -> SingleArray:
        return np.asarray(np.exp(self.log_weight - self.log_weight.max()))


def _learn_from_count(
    log_weight: SingleArray,
    position: FloatArray,
    begin: int,
    seen: int,
    shapes: SingleArray,
    misfit: np.float32,
    numbers: SingleArray,
    rows: FloatArray,
    middles: FloatArray,
    updated: SingleArray,
    kept: NDArray[np.int64],
) -> None:
    """What the compiled loop does, in NumPy."""
    cells = log_weight.shape[1]
    log_tail, log_all, told, most, noise_variance = numbers
    steepness, bend, top = shapes[:, :, None]
    beyond = (position[begin : begin + cells] - position[seen]).astype(np.float32)
    inward = np.minimum(beyond, top)
    log_rows = np.minimum((steepness - bend * inward) * inward + log_tail, log_all)
    expected = exponential(np.maximum(log_rows, SMALLEST))
    off = (np.maximum(log_rows - log_tail, ZERO) + ONE) * misfit * np.minimum(expected, most)
    variance = off * off + noise_variance
    apart = told - expected
    updated[:-1] = log_weight[:-1] - HALF * (apart * apart / variance + logarithm(variance * TWO_PI))
    fewer, more = _said_of_any_shape(rows, middles)
    updated[-1] = log_weight[-1] + np.where(np.arange(cells) + begin <= seen, fewer, more)
    best = updated.max(axis=0)
    possible = np.flatnonzero(~(best < best.max() - FORGOTTEN))  # never none: the best is not below itself
    kept[0], kept[1] = possible[0], possible[-1]


def _said_of_any_shape(rows: FloatArray, middles: FloatArray) -> tuple[np.float32, np.float32]:
    """Log-densities of the noisy number of rows above a threshold after x* and before it.

    After: uniform on [0, tail].  Before: log-uniform on [tail, rows] (a uniform one would clip several times too many
    rows).  Both are added up where the noise has its mass only.
    """
    above, tail, every, log_ratio, noise_std = rows
    said = []
    for least, most, share in ((np.float64(0.0), tail, 1.0), (tail, every, log_ratio)):
        low = max(least, min(above, most) - REACH * noise_std)
        high = min(most, max(above, least) + REACH * noise_std)
        width = max(high - low, 0.0) / len(middles)
        nearest = (min(max(above, low), high) - above) / noise_std
        at_best = max(-0.5 * nearest * nearest, LEAST_EXPONENT)
        points = low + middles * width
        away = (points - above) / noise_std
        exponent = np.maximum(-0.5 * away * away - at_best, LEAST_EXPONENT).astype(np.float32)
        each = exponential(np.minimum(np.maximum(exponent, SMALLEST), ZERO)) / (tail if least == 0.0 else points)
        # added from the left, as the loop does
        density = np.add.accumulate(each)[-1] * width / noise_std * PER_ROOT_TWO_PI / share
        said.append(np.float32(at_best) + logarithm(np.float32(max(density, LEAST_DENSITY))))
    fewer, more = said
    return fewer, more


def _find_wanted_cell(
    log_weight: SingleArray, inward: NDArray[np.int64], begin: int, mass: FloatArray, found: NDArray[np.int64]
) -> None:
    """What the compiled loop does, in NumPy."""
    every = exponential(np.maximum(log_weight - log_weight.max(), SMALLEST))
    weight = np.zeros((len(inward), every.shape[1]), np.float32)
    weight[-1] = every[-1]
    alike = (len(every) - 1) // (len(inward) - 1)
    for each in range(alike):
        weight[:-1] += every[each:-1:alike]
    place = np.maximum(begin + np.arange(every.shape[1]) - inward[:, None], 0)
    mass += np.bincount(place.ravel(), weight.ravel(), len(mass))
    found[0] = _quantile(mass, 0.5)


def _quantile(mass: FloatArray, share: float) -> int:
    """The cell of the quantile, or the one below when its upper edge is nearer."""
    upto = np.cumsum(mass)
    wanted = share * upto[-1]
    cell = int(np.searchsorted(upto, wanted))
    before = upto[cell] - mass[cell]
    return cell - 1 if cell > 0 and wanted - before < 0.5 * mass[cell] else cell
