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
SingleArray = NDArray[np.float32]  # plenty beside the noise, and several times as fast

CLEAR = 12.0  # standard deviations above zero: there is nothing to learn from the others
GRID_POINTS = 80
EM_ROUNDS = 60
LEARN_FROM = 2048  # coordinates are enough to learn a prior of one number
FEWEST = 20  # so few teach nothing
NEVER_RULED_OUT = 1e-12  # prior mass of every grid point
TINY = np.float32(1e-30)


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
        grid = np.append(0.0, np.geomspace(τ.min() / 20.0, max(z.max() + 4.0 * τ.max(), τ.min()), GRID_POINTS))
        some = np.argsort(z, kind="stable")[:: -(-len(z) // LEARN_FROM)]  # all sizes of mean are represented
        prior = _learned_prior(_likelihood(z[some], τ[some], grid)) + np.float32(NEVER_RULED_OUT)
        for part in _parts(len(z)):
            posterior = _likelihood(z[part], τ[part], grid) * prior
            posterior /= posterior.sum(axis=1, keepdims=True)
            answer = _best_answer(posterior, grid, error_norm)
            mean[unclear[part]] = answer
            error_std[unclear[part]] = np.sqrt(_expected(posterior, grid, answer, 2.0))
            moment[unclear[part]] = _expected(posterior, grid, answer, error_norm)
    return Shrunk(mean=mean, error_std=error_std, moment=moment)


def _parts(count: int) -> Iterator[slice]:
    return (slice(begin, begin + LEARN_FROM) for begin in range(0, count, LEARN_FROM))


def _likelihood(z: FloatArray, τ: FloatArray, grid: FloatArray) -> SingleArray:
    """Likelihood of every grid point, relative to that of the best mean ≥ 0, so that nothing underflows altogether."""
    relative = np.maximum(z, 0.0) / τ
    apart = relative.astype(np.float32)[:, None] - grid.astype(np.float32) * (1.0 / τ).astype(np.float32)[:, None]
    # (z - x)² = z² - 2zx + x²; below zero the part that all x share, z², is left out
    slope = (np.minimum(z, 0.0) / τ**2).astype(np.float32)[:, None] * grid.astype(np.float32)
    apart *= apart
    apart *= np.float32(-0.5)
    apart += slope
    np.exp(apart, out=apart)
    return np.maximum(apart, TINY, out=apart)


def _learned_prior(likelihood: SingleArray) -> SingleArray:
    points = likelihood.shape[1]
    prior: SingleArray = np.full(points, 1.0 / points, np.float32)
    for _ in range(EM_ROUNDS):
        prior *= (np.float32(1.0) / (likelihood @ prior)) @ likelihood
        prior /= prior.sum()
    return prior


def _expected(posterior: SingleArray, grid: FloatArray, answer: FloatArray, power: float) -> FloatArray:
    """Expected |error|^power of the answers."""
    if power == 2.0:
        first, second = _moments(posterior, grid)
        return np.maximum(second - 2.0 * answer * first + answer**2, 0.0)
    unit = float(grid[-1])  # single precision then neither overflows nor underflows
    off = np.abs((answer / unit).astype(np.float32)[:, None] - (grid / unit).astype(np.float32))
    if power != 1.0:
        off **= np.float32(power)
    off *= posterior
    return np.asarray(off.sum(axis=1) * unit**power)


def _moments(posterior: SingleArray, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
    unit = float(grid[-1])
    points = np.stack([grid / unit, (grid / unit) ** 2], axis=1).astype(np.float32)
    first, second = (posterior @ points).astype(np.float64).T
    return first * unit, second * unit**2


def _best_answer(posterior: SingleArray, grid: FloatArray, error_norm: float) -> FloatArray:
    if error_norm == 2.0:
        return _moments(posterior, grid)[0]
    if error_norm == 1.0:
        return _median(posterior, grid)
    risk = posterior @ np.abs(grid[:, None] - grid) ** error_norm
    return np.asarray(grid[risk.argmin(axis=1)])


def _median(posterior: SingleArray, grid: FloatArray) -> FloatArray:
    """The posterior median, on a straight line between grid points."""
    upto = np.cumsum(posterior, axis=1)
    point = np.minimum(np.count_nonzero(upto < np.float32(0.5), axis=1), len(grid) - 1)
    each = np.arange(len(posterior))
    after = upto[each, point]
    before = np.where(point > 0, upto[each, point - 1], 0.0)
    left = np.where(point > 0, grid[point - 1], 0.0)
    return np.asarray(left + (0.5 - before) / np.maximum(after - before, TINY) * (grid[point] - left))
