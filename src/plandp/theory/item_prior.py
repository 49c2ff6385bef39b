"""Empirical Bayes with known noise: a prior of all means at once, learned from released sums.  Post-processing.

The prior is the non-parametric maximum likelihood one on a grid (Kiefer–Wolfowitz, by expectation–maximisation), the
answer per coordinate the one of least expected |error|^p under its posterior.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.theory.stable_order import stable_order
from plandp.theory.stretch import log_gaussian_norm

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]  # plenty beside the noise, and several times as fast

CLEAR = 7.0  # standard deviations above zero: there is nothing to learn from the others
GRID_POINTS = 80
EM_ROUNDS = 60
LEARN_FROM = 2048  # coordinates are enough to learn a prior of one number
FEWEST = 20  # so few teach nothing
LOWEST = 8.0  # standard deviations below zero: all that is lower is read as that
TABLE_STEP, TABLE_RATIO = 0.1, 0.1  # of z/τ and of ln τ
READ_AT_A_TIME = 2**13  # coordinates: what is held of them stays in cache
MOST_TOO_SURE = 4.0  # of the squared error
STEEPEST, HALVINGS = 1e6, 60  # of the exponent that tilts a prior
# relative likelihood, and prior mass, of every grid point: single precision multiplies much smaller numbers slowly
LEAST_LIKELY, NEVER_RULED_OUT = np.float32(1e-20), np.float32(1e-12)
TINY = np.float32(1e-30)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shrunk:
    """Means that learned from each other, and how far off they are expected to be."""

    mean: FloatArray
    error_std: FloatArray  # root mean square error under the posterior
    error: FloatArray  # (E|error|^p)^(1/p) under the posterior


def shrunk(noisy: FloatArray, noise_std: FloatArray, *, error_norm: float) -> Shrunk:
    """The means ≥ 0 of least expected |error|^p, given noisy_i = mean_i + N(0, noise_std_i²)."""
    error = math.exp(log_gaussian_norm(error_norm)) * noise_std
    answer = Shrunk(mean=noisy.copy(), error_std=noise_std.copy(), error=error)
    unclear = np.flatnonzero(noisy < CLEAR * noise_std)
    if len(unclear) >= FEWEST:
        unit = float(noise_std[unclear].min())  # single precision has no room for other units
        z, τ = noisy[unclear] / unit, noise_std[unclear] / unit
        grid = np.append(0.0, np.geomspace(τ.min() / 20.0, max(z.max() + 4.0 * τ.max(), τ.min()), GRID_POINTS))
        some = stable_order(z)[:: -(-len(z) // LEARN_FROM)]  # all sizes of mean are represented
        prior = _with_mean(_learned_prior(_likelihood(z[some], τ[some], grid)), grid, float(z.mean()))
        found = _by_table(z, τ, grid, prior, (error_norm,) if error_norm == 2.0 else (error_norm, 2.0))
        learned, too_sure = found[0], _overconfidence(z, τ, found[-1])
        answer.mean[unclear] = learned.mean * unit
        answer.error_std[unclear] = learned.error_std * too_sure * unit
        answer.error[unclear] = learned.error * too_sure * unit
    return answer


def _overconfidence(z: FloatArray, τ: FloatArray, posterior: Shrunk) -> float:
    """By how much errors are larger than a prior that was learned from the same numbers expects.

    Stein's estimate of the squared error of posterior means, (mean - z)² + 2·variance - τ² on average, is unbiased
    whatever the prior; it has noise of its own, of about √2·τ² a coordinate, and is believed beyond that.
    """
    expected = posterior.error_std**2
    surplus = float(((posterior.mean - z) ** 2 + expected - τ**2).sum()) - math.sqrt(2.0 * float((τ**4).sum()))
    return math.sqrt(min(1.0 + max(surplus, 0.0) / max(float(expected.sum()), float(TINY)), MOST_TOO_SURE))


def _by_table(
    z: FloatArray, τ: FloatArray, grid: FloatArray, prior: SingleArray, error_norms: tuple[float, ...]
) -> list[Shrunk]:
    """The answers for each error norm, of many coordinates (a million) read off a table over z/τ and ln τ."""
    deviations = np.arange(-LOWEST, CLEAR + TABLE_STEP, TABLE_STEP)
    lowest, highest = math.log(float(τ.min())), math.log(float(τ.max()))
    levels = np.linspace(lowest, highest, 1 + math.ceil((highest - lowest) / TABLE_RATIO))
    if len(z) <= len(deviations) * len(levels):
        return _answers(z, τ, grid, prior, error_norms)
    at = np.repeat(np.exp(levels), len(deviations))
    tables = _answers(np.tile(deviations, len(levels)) * at, at, grid, prior, error_norms)
    by_field = [(table.mean / at, table.error_std / at, table.error / at) for table in tables]
    steps = [[np.diff(values, append=0.0) for values in fields] for fields in by_field]
    answers = [_unanswered(z) for _ in error_norms]
    per_level = TABLE_RATIO if len(levels) == 1 else float(levels[1] - levels[0])
    for part in _parts(len(z), READ_AT_A_TIME):
        scale = τ[part]
        row = (np.log(scale) - lowest) / per_level
        column = (np.clip(z[part] / scale, -LOWEST, CLEAR) + LOWEST) / TABLE_STEP
        read = _between(row, column, shape=(len(levels), len(deviations)))
        for answer, fields, to_the_right in zip(answers, by_field, steps, strict=True):
            answer.mean[part], answer.error_std[part], answer.error[part] = (
                read(values, more) * scale for values, more in zip(fields, to_the_right, strict=True)
            )
    return answers


def _between(
    row: FloatArray, column: FloatArray, *, shape: tuple[int, int]
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """What reads a flat table of this shape, given its steps to the right, on straight lines between its points."""
    rows, columns = shape
    r = np.minimum(row.astype(np.intp), max(rows - 2, 0))
    c = np.minimum(column.astype(np.intp), columns - 2)
    down, across = np.minimum(row - r, 1.0), column - c
    upper_left = r * columns + c
    lower_left = np.minimum(r + 1, rows - 1) * columns + c

    def read(table: FloatArray, to_the_right: FloatArray) -> FloatArray:
        upper = table[upper_left] + across * to_the_right[upper_left]
        lower = table[lower_left] + across * to_the_right[lower_left]
        return np.asarray(upper + down * (lower - upper))

    return read


def _answers(
    z: FloatArray, τ: FloatArray, grid: FloatArray, prior: SingleArray, error_norms: tuple[float, ...]
) -> list[Shrunk]:
    answers = [_unanswered(z) for _ in error_norms]
    for part in _parts(len(z), LEARN_FROM):
        posterior = _likelihood(z[part], τ[part], grid) * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        for error_norm, answer in zip(error_norms, answers, strict=True):
            answer.mean[part] = _best_answer(posterior, grid, error_norm)
            answer.error_std[part] = _expected(posterior, grid, answer.mean[part], 2.0)
            answer.error[part] = _expected(posterior, grid, answer.mean[part], error_norm)
    return answers


def _unanswered(z: FloatArray) -> Shrunk:
    return Shrunk(mean=np.empty_like(z), error_std=np.empty_like(z), error=np.empty_like(z))


def _parts(count: int, at_a_time: int) -> Iterator[slice]:
    return (slice(begin, begin + at_a_time) for begin in range(0, count, at_a_time))


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
    return np.fmax(apart, LEAST_LIKELY, out=apart)  # also where single precision has no number


def _learned_prior(likelihood: SingleArray) -> SingleArray:
    points = likelihood.shape[1]
    prior: SingleArray = np.full(points, 1.0 / points, np.float32)
    for _ in range(EM_ROUNDS):
        prior *= (np.float32(1.0) / (likelihood @ prior)) @ likelihood
        prior /= prior.sum()
        np.maximum(prior, NEVER_RULED_OUT, out=prior)
    return prior


def _with_mean(prior: SingleArray, grid: FloatArray, mean: float) -> SingleArray:
    """The prior with this mean, that of all coordinates, which is known much better than any of them.

    Where nearly all means are far below the noise, expectation–maximisation takes forever to find that out.  What is
    too much then becomes zeros, as popularity is uneven: many equal means would be worse than none if they are not.
    """
    least, most = float(NEVER_RULED_OUT) * float(grid[-1]), 0.9 * float(grid[-1])
    target, learned = min(max(mean, least), most), prior.astype(np.float64)
    found = float(learned @ grid)
    if found > target:  # so it is not 0
        learned *= target / found
        learned[0] += 1.0 - target / found
        return (learned + NEVER_RULED_OUT).astype(np.float32)
    return (_tilted_to(learned, grid, target) + NEVER_RULED_OUT).astype(np.float32)


def _tilted_to(prior: FloatArray, grid: FloatArray, target: float) -> FloatArray:
    """The prior times e^(slope · point), with the slope that gives it a larger mean."""
    points, log_weights = grid / grid[-1], np.log(prior + TINY)

    def tilted(slope: float) -> FloatArray:
        exponent = log_weights + slope * points  # as logarithms, or steep slopes would leave nothing, and no order
        answer = np.exp(exponent - exponent.max())
        return np.asarray(answer / answer.sum())

    flattest, steepest = 0.0, STEEPEST
    for _ in range(HALVINGS):
        middle = 0.5 * (flattest + steepest)
        if float(tilted(middle) @ grid) < target:
            flattest = middle
        else:
            steepest = middle
    return tilted(0.5 * (flattest + steepest))


def _expected(posterior: SingleArray, grid: FloatArray, answer: FloatArray, power: float) -> FloatArray:
    """The root of the expected |error|^power of the answers."""
    if power == 2.0:
        first, second = _moments(posterior, grid)
        return np.sqrt(np.maximum(second - 2.0 * answer * first + answer**2, 0.0))
    unit = float(grid[-1])  # single precision then neither overflows nor underflows
    off = np.abs((answer / unit).astype(np.float32)[:, None] - (grid / unit).astype(np.float32))
    if power == 1.0:
        off *= posterior
        return np.asarray(off.sum(axis=1, dtype=np.float64) * unit)
    from scipy.special import logsumexp  # here, since importing SciPy takes longer than importing plandp

    # high powers are beyond any float
    return np.asarray(np.exp(logsumexp(power * np.log(off.astype(np.float64)), axis=1, b=posterior) / power) * unit)


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
    risk = posterior @ (np.abs(grid[:, None] - grid) / grid[-1]) ** error_norm
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
