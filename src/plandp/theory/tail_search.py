"""Where does a tail of k rows begin, given noisy counts of rows up to a threshold?  (line 6's quantile, soft.)

Near the place x* where the tail has the wanted size, the logarithm of the number of rows above e^x is modelled as
a falling parabola in x: steep for norms that concentrate, straight for heavy tails.  All counts speak on one curve.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

STEEPNESS = np.geomspace(1.5, 400.0, 14)  # -d ln(rows above)/d ln(norm) at x*: from heavy tails to d = 10^5
CURVATURE = np.array([0.0, 0.06, 0.2, 0.5])  # in steepness²: 0 for power laws, about 1/z² at z Gaussian deviations
TELLING = 1.5  # standard deviations of noise: fewer rows cannot be told from none
MISFIT = 0.2  # the parabola is trusted to this part of the rows above


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """Where a norm is expected before any count: knots of ln(norm) and the prior mass between them."""

    knots: FloatArray
    mass: FloatArray

    def over(self, edges: FloatArray) -> FloatArray:
        """Prior mass of every cell, given the cells' upper edges."""
        upto = np.interp(np.log(edges), self.knots, np.concatenate([[0.0], np.cumsum(self.mass)]))
        return np.asarray(np.maximum(np.diff(upto, prepend=0.0), 1e-12))


@dataclass(frozen=True, kw_only=True, eq=False)
class TailPosterior:
    """Log-weights of (cell whose upper edge is x*, steepness, curvature); `tail` rows are wanted above each edge."""

    position: FloatArray  # ln of the upper edges
    tail: FloatArray
    log_weight: FloatArray

    @classmethod
    def before(cls, edges: FloatArray, *, prior: FloatArray, tail: FloatArray) -> "TailPosterior":
        """What is known before any count."""
        shape = (len(edges), len(STEEPNESS), len(CURVATURE))
        log_weight = np.broadcast_to(np.log(prior)[:, None, None], shape)
        return cls(position=np.log(edges), tail=tail, log_weight=log_weight)

    def next_cell(self, noise_std: float) -> int:
        """The cell to ask about with noise of this size; never the last, whose count is no news.

        That is where about `tail` rows are left, or, for a noisy count, the place further in where the number of
        rows above can still be told from the noise: the curve leads from there to x*.
        """
        inward = np.log(np.maximum(TELLING * noise_std / self.tail, 1.0))[:, None] / STEEPNESS
        place = np.searchsorted(self.position, self.position[:, None] - inward)
        weight = self._weight().sum(axis=2)
        mass = np.bincount(place.ravel(), weight.ravel(), len(self.position)).astype(np.float64)
        return min(_median(mass), max(len(self.position) - 2, 0))

    def median_cell(self) -> int:
        """The cell whose upper edge is nearest to the posterior median of x*."""
        return _median(self._weight().sum(axis=(1, 2)))

    def _weight(self) -> FloatArray:
        return np.asarray(np.exp(self.log_weight - self.log_weight.max()))

    def updated(self, cell: int, count: float, *, rows: int, noise_std: float) -> "TailPosterior":
        """Learn from a noisy count of the rows up to the upper edge of `cell`."""
        steepness, curvature = (
            STEEPNESS[None, :, None],
            CURVATURE[None, None, :] * STEEPNESS[None, :, None] ** 2,
        )
        below = (self.position - self.position[cell])[:, None, None]  # how far x* lies above the threshold
        top = steepness / np.maximum(curvature, 1e-9)  # the parabola's top: it does not fall again below it
        below = np.minimum(below, top)
        above = np.exp(
            np.minimum(np.log(self.tail)[:, None, None] + steepness * below - curvature * below**2 / 2, np.log(rows))
        )
        variance = noise_std**2 + (MISFIT * np.minimum(above, rows - above)) ** 2
        log_weight = self.log_weight - (count - (rows - above)) ** 2 / (2.0 * variance) - np.log(variance) / 2.0
        return TailPosterior(position=self.position, tail=self.tail, log_weight=log_weight)


def _median(mass: FloatArray) -> int:
    """The cell of the median, or the one below when its upper edge is nearer."""
    upto = np.cumsum(mass)
    cell = int(np.searchsorted(upto, 0.5 * upto[-1]))
    before = upto[cell] - mass[cell]
    return cell - 1 if cell > 0 and 0.5 * upto[-1] - before < 0.5 * mass[cell] else cell
