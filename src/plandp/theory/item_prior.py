"""Empirical Bayes with known noise: a prior of all means at once, learned from released sums.  Post-processing.

The prior is the non-parametric maximum likelihood one on a grid (Kiefer–Wolfowitz, by expectation–maximisation), the
answer per coordinate the one of least expected |error|^p under its posterior.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.theory.stretch import log_gaussian_norm

FloatArray = NDArray[np.float64]

CLEAR = 12.0  # standard deviations above zero: there is nothing to learn from the others
GRID_POINTS = 100
EM_ROUNDS = 60
LEARN_FROM = 4000  # coordinates are enough to learn a prior of one number
FEWEST = 20  # so few teach nothing
NEVER_RULED_OUT = 1e-12  # prior mass of every grid point
TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Shrunk:
    """Means that learned from each other, and how far off they are expected to be."""

    mean: FloatArray
    error_std: FloatArray  # root mean square error under the posterior
    moment: FloatArray  # expected |error|^p under the posterior


def shrunk(noisy: FloatArray, noise_std: FloatArray, *, error_norm: float) -> Shrunk:
    """The means ≥ 0 of least expected |error|^p, given noisy_i = mean_i + N(0, noise_std_i²)."""
    mean, error_std = noisy.copy(), noise_std.copy()
    moment = np.exp(error_norm * (log_gaussian_norm(error_norm) + np.log(noise_std)))
    unclear = np.flatnonzero(noisy < CLEAR * noise_std)
    if len(unclear) >= FEWEST:
        z, τ = noisy[unclear], noise_std[unclear]
        grid = np.append(0.0, np.geomspace(τ.min() / 50.0, max(z.max() + 4.0 * τ.max(), τ.min()), GRID_POINTS))
        some = np.argsort(z, kind="stable")[:: -(-len(z) // LEARN_FROM)]  # all sizes of mean are represented
        prior = _learned_prior(_likelihood(z[some], τ[some], grid)) + NEVER_RULED_OUT
        for part in _parts(len(z)):
            posterior = _likelihood(z[part], τ[part], grid) * prior
            posterior /= posterior.sum(axis=1, keepdims=True)
            answer = _best_answer(posterior, grid, error_norm)
            off = np.abs(answer[:, None] - grid)
            mean[unclear[part]] = answer
            error_std[unclear[part]] = np.sqrt((posterior * off**2).sum(axis=1))
            moment[unclear[part]] = (posterior * off**error_norm).sum(axis=1)
    return Shrunk(mean=mean, error_std=error_std, moment=moment)


def _parts(count: int) -> Iterator[slice]:
    return (slice(begin, begin + LEARN_FROM) for begin in range(0, count, LEARN_FROM))


def _likelihood(z: FloatArray, τ: FloatArray, grid: FloatArray) -> FloatArray:
    # relative to the best mean ≥ 0, so that nothing underflows altogether
    best = 0.5 * (np.minimum(z, 0.0) / τ) ** 2
    return np.asarray(np.maximum(np.exp(best[:, None] - 0.5 * ((z[:, None] - grid) / τ[:, None]) ** 2), TINY))


def _learned_prior(likelihood: FloatArray) -> FloatArray:
    count, points = likelihood.shape
    prior = np.full(points, 1.0 / points)
    for _ in range(EM_ROUNDS):
        prior = prior * ((1.0 / (likelihood @ prior)) @ likelihood) / count
        prior /= prior.sum()
    return prior


def _best_answer(posterior: FloatArray, grid: FloatArray, error_norm: float) -> FloatArray:
    if error_norm == 2.0:
        return np.asarray(posterior @ grid)
    if error_norm == 1.0:
        return _median(posterior, grid)
    risk = posterior @ np.abs(grid[:, None] - grid) ** error_norm
    return np.asarray(grid[risk.argmin(axis=1)])


def _median(posterior: FloatArray, grid: FloatArray) -> FloatArray:
    """The posterior median, on a straight line between grid points."""
    upto = np.cumsum(posterior, axis=1)
    point = np.minimum((upto < 0.5).sum(axis=1), len(grid) - 1)
    each = np.arange(len(posterior))
    after = upto[each, point]
    before = np.where(point > 0, upto[each, point - 1], 0.0)
    left = np.where(point > 0, grid[point - 1], 0.0)
    return np.asarray(left + (0.5 - before) / np.maximum(after - before, TINY) * (grid[point] - left))
