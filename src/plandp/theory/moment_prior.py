"""Second moments from noisy ones: posterior means under a prior learned from all coordinates.  Post-processing."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

GRID_STEP = 0.3  # of ln v: finer than the noise ever resolves
EM_ROUNDS = 30  # more change no error by half a percent
LEARN_FROM = 2048  # coordinates are enough to learn a prior of one number
TINY = np.float32(1e-30)  # what is smaller teaches nothing, and single precision multiplies it slowly


def posterior_moments(noisy: FloatArray, noise_std: FloatArray) -> FloatArray:
    """E[v_i | noisy_i] for noisy_i = v_i + N(0, noise_std_i²), v_i > 0, with a non-parametric prior on ln v."""
    highest = 1.2 * max(float((noisy + noise_std).max()), float(noise_std.max()))
    lowest = max(float(noise_std.min()) / 50.0, highest * 1e-14)
    grid = np.exp(np.arange(np.log(lowest), np.log(highest) + GRID_STEP, GRID_STEP))
    if len(noisy) <= LEARN_FROM:
        likelihood = _likelihood(noisy, noise_std, grid)
        return _means(likelihood * _learned_prior(likelihood), grid)
    stride = -(-len(noisy) // LEARN_FROM)
    some = np.argsort(noisy, kind="stable")[::stride]  # stratified: all sizes of moment are represented
    prior = _learned_prior(_likelihood(noisy[some], noise_std[some], grid))
    answer = np.empty_like(noisy)
    for begin in range(0, len(noisy), LEARN_FROM):
        part = slice(begin, begin + LEARN_FROM)
        answer[part] = _means(_likelihood(noisy[part], noise_std[part], grid) * prior, grid)
    return answer


def _means(posterior: FloatArray, grid: FloatArray) -> FloatArray:
    return np.asarray((posterior @ grid) / posterior.sum(axis=1))


def _likelihood(noisy: FloatArray, noise_std: FloatArray, grid: FloatArray) -> FloatArray:
    half_chi2 = 0.5 * ((noisy[:, None] - grid) / noise_std[:, None]) ** 2
    return np.asarray(np.exp(half_chi2.min(axis=1, keepdims=True) - half_chi2))


def _learned_prior(exact: FloatArray) -> FloatArray:
    """Expectation–maximisation, in single precision: the prior is good to a percent at best."""
    likelihood = exact.astype(np.float32)
    likelihood[likelihood < TINY] = 0.0
    count, cells = likelihood.shape
    prior = np.full(cells, 1.0 / cells, np.float32)
    for _ in range(EM_ROUNDS):
        prior *= np.float32(1.0) / (likelihood @ prior) @ likelihood
        prior += np.float32(0.5 / cells)
        prior /= np.float32(count + 0.5)
    return prior.astype(np.float64)
