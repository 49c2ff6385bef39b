"""Probabilistic bisection: where is the median, given noisy counts?  (PrivQuantile's search, made soft.)

The posterior of each coordinate is piecewise constant on a public lattice 0..cells; every noisy count splits
one piece and reweighs the two sides.  All coordinates are searched at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.median_posterior import split_pieces, write_thresholds

FloatArray = NDArray[np.float64]

FAR = 0.5  # prior chance that a threshold lies beyond all rows, where the count says everything
TINY = 1e-290
OFF_CENTER = 0.2  # thresholds are posterior quantiles between .4 and .6, spread by two irrational strides
KNOTS_PER_DEVIATION = 16
REACH = 9 * KNOTS_PER_DEVIATION  # from no rows, half of them and all, where the curve of the evidence bends
GOLDEN, SILVER = 0.6180339887498949, 0.41421356237309515


@dataclass(frozen=True, eq=False)
class MedianPosterior:
    """Piecewise-constant posterior of d medians: `edges` (d, pieces+1) on the lattice, `mass` (d, pieces)."""

    edges: FloatArray
    mass: FloatArray

    @classmethod
    def uniform(cls, cells: FloatArray) -> "MedianPosterior":
        """Nothing known: the median lies anywhere on the lattice 0..cells."""
        edges = np.stack([np.zeros_like(cells), cells], axis=1)
        return cls(edges, np.ones((len(cells), 1)))

    def next_threshold(self) -> FloatArray:
        """A lattice point strictly inside the range near the posterior median; a lone cell has an end asked again.

        Asking an end again keeps spikes (many rows on one value) from being lost.  So does staying away from the
        exact median: bounds and spikes like round numbers, and a first threshold that falls next to a spike
        would leave one count to tell the spike's cell from half of the range.
        """
        each = np.arange(len(self.mass))
        share = 0.5 + OFF_CENTER * ((self.mass.shape[1] * GOLDEN + each * SILVER) % 1.0 - 0.5)
        threshold = np.empty(len(self.mass))
        write = compiled(write_thresholds) or _write_thresholds
        write(self.edges, self.mass, share, TINY, threshold)
        return threshold

    def median(self) -> FloatArray:
        """The posterior median, a real number between lattice points."""
        share = np.full(len(self.mass), 0.5)
        return _inside(share, *_pieces(self.edges, self.mass, share))

    def updated(self, threshold: FloatArray, evidence: FloatArray) -> "MedianPosterior":
        """Split at `threshold` and reweigh: `evidence` = log p(answer | median below) - log p(answer | above)."""
        d, pieces = self.mass.shape
        edges, mass = np.empty((d, pieces + 2)), np.empty((d, pieces + 1))
        before, after = np.exp(np.minimum(evidence, 0.0)), np.exp(np.minimum(-evidence, 0.0))
        split = compiled(split_pieces) or _split_pieces
        split(self.edges, self.mass, threshold, before, after, edges, mass)
        return MedianPosterior(edges, mass)


def _inside(share: FloatArray, before: FloatArray, mass: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """The quantile `share` within the piece that holds it, whose mass is spread evenly."""
    part = np.minimum(np.maximum((share - before) / np.maximum(mass, TINY), 0.0), 1.0)
    return np.asarray(left + (right - left) * part)


def _pieces(edges: FloatArray, mass: FloatArray, share: FloatArray) -> tuple[FloatArray, ...]:
    """Of the piece that holds the quantile `share`: the mass before it, its mass, and where it begins and ends."""
    upto = np.cumsum(mass, axis=1)
    piece = np.minimum((upto < share[:, None]).sum(axis=1), mass.shape[1] - 1)
    each = np.arange(len(mass))
    return upto[each, piece] - mass[each, piece], mass[each, piece], edges[each, piece], edges[each, piece + 1]


def _write_thresholds(
    edges: FloatArray, mass: FloatArray, share: FloatArray, tiny: float, threshold: FloatArray
) -> None:
    """What the compiled loop does, in NumPy."""
    before, held, left, right = _pieces(edges, mass, share)
    point = np.maximum(np.floor(_inside(share, before, held, left, right)), left + 1.0)
    lower_end = (left > 0.0) & ((before >= 1.0 - before - held) | (right >= edges[:, -1]))
    threshold[:] = np.where(point < right, point, np.where(lower_end, left, right))


def _split_pieces(
    edges: FloatArray,
    mass: FloatArray,
    threshold: FloatArray,
    before: FloatArray,
    after: FloatArray,
    new_edges: FloatArray,
    new_mass: FloatArray,
) -> None:
    """What the compiled loop does, in NumPy."""
    d, pieces = mass.shape
    each = np.arange(d)
    at = (edges < threshold[:, None]).sum(axis=1)  # edges[at-1] < threshold <= edges[at]
    left, right = edges[each, at - 1], edges[each, at]
    share = (threshold - left) / (right - left)

    column = np.arange(pieces + 1)
    beyond = column >= at[:, None]
    new_edges[:, :-1] = edges
    np.copyto(new_edges[:, 1:], edges, where=beyond)
    new_edges[each, at] = threshold
    new_mass[:, :-1] = mass
    np.copyto(new_mass[:, 1:], mass, where=beyond[:, 1:])
    new_mass[each, at - 1] *= share
    new_mass[each, at] *= 1.0 - share
    new_mass *= np.where(beyond, after[:, None], before[:, None])
    new_mass /= np.add.accumulate(new_mass, axis=1)[:, -1:]  # added from the left, as the loop does


class MedianEvidence:
    """What a noisy count of `rows` rows below a threshold says: log p(count | median below it) - log p(count | above).

    Below: the true count is all rows, or uniform on [rows/2, rows], with even odds; above: the mirror image.  Read off
    a curve that is computed once, close to within .001 where less than e^±40 is said.
    """

    def __init__(self, *, rows: int, noise_std: float) -> None:
        near = noise_std * np.arange(-REACH, REACH + 1) / KNOTS_PER_DEVIATION
        counts = np.concatenate([near, 0.5 * rows + near, rows + near])
        # further out no count says more
        self._counts = np.unique(np.minimum(np.maximum(counts, -4.0 * noise_std), rows + 4.0 * noise_std))
        self._evidence = _median_evidence(self._counts, rows, noise_std)

    def __call__(self, count: FloatArray) -> FloatArray:
        """For each of these counts."""
        return np.interp(count, self._counts, self._evidence)


def _median_evidence(y: FloatArray, rows: int, noise_std: float) -> FloatArray:
    from scipy.special import ndtr  # here, since importing SciPy takes longer than importing plandp

    half = 0.5 * rows
    peak = FAR / (noise_std * np.sqrt(2.0 * np.pi))
    # below and above at once: `from_end` is 0 where all rows lie below the threshold, or above it
    from_half, from_end = np.stack([y - half, half - y]) / noise_std, np.stack([y - rows, -y]) / noise_std
    side = peak * np.exp(-0.5 * from_end**2) + (1.0 - FAR) / half * (ndtr(from_half) - ndtr(from_end))
    below, above = np.log(np.maximum(side, TINY))
    return np.asarray(below - above)
