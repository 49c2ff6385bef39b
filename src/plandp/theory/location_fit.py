"""A free fit of location and scale to released noisy counts: count ≈ rows · F((threshold - m)/s), F logistic.

Post-processing.  The prior on ln s is learned across coordinates (empirical Bayes), which removes the last
failures of the search: a coordinate whose own counts are ambiguous is read as its neighbours are.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LOGISTIC = 1.702  # the logistic with this slope is closest to the normal distribution function
REACH, STEP = 7.0, 0.5  # locations tried around the search's answer, in units of s
RATIO = np.sqrt(2.0)  # of neighbouring scales
EM_ROUNDS = 40
CHUNK = 32  # coordinates at a time: the work arrays stay in cache


def fit_locations(
    thresholds: FloatArray,
    counts: FloatArray,
    *,
    rows: int,
    noise_std: float,
    start: FloatArray,
    finest: float,
    widest: float,
) -> FloatArray:
    """Posterior locations (d,) from thresholds and noisy counts (d, rounds), near `start`.

    Scales from `finest` to `widest` are tried; all of these are in one common unit.
    """
    levels = 1 + int(np.ceil(np.log(widest / finest) / np.log(RATIO)))
    scales = finest * RATIO ** np.arange(levels)
    offsets = np.arange(-REACH, REACH + STEP / 2, STEP)
    likelihood = _likelihood(thresholds - start[:, None], counts, rows, noise_std, scales, offsets)
    prior = _learned_prior(likelihood.sum(axis=2))

    posterior = likelihood * prior[None, :, None]
    best = posterior.max(axis=2).argmax(axis=1)
    near = np.abs(np.arange(levels) - best[:, None]) <= 3  # one mode only: the mean of two modes is in neither
    posterior *= near[:, :, None]
    moved = (posterior * (scales[:, None] * offsets)).sum(axis=(1, 2)) / posterior.sum(axis=(1, 2))
    return np.asarray(start + moved)


def _likelihood(
    relative: FloatArray,
    counts: FloatArray,
    rows: int,
    noise_std: float,
    scales: FloatArray,
    offsets: FloatArray,
) -> FloatArray:
    """exp(-χ²/2), at most 1 per coordinate, of every (coordinate, scale, offset)."""
    d = len(relative)
    chi2 = np.empty((d, len(scales), len(offsets)), np.float32)
    shift = np.exp(LOGISTIC * offsets).astype(np.float32)[None, :, None]
    full = np.float32(rows / noise_std)
    for begin in range(0, d, CHUNK):
        part = slice(begin, begin + CHUNK)
        seen = (counts[part] / noise_std).astype(np.float32)[:, None, :]
        for level, scale in enumerate(scales):
            steep = np.clip(-LOGISTIC / scale * relative[part], -70.0, 70.0)
            model = np.exp(steep).astype(np.float32)[:, None, :] * shift
            model += 1.0
            np.divide(full, model, out=model)
            model -= seen
            chi2[part, level] = np.einsum("imt,imt->im", model, model)
    chi2 -= chi2.min(axis=(1, 2), keepdims=True)
    return np.exp(-0.5 * chi2.astype(np.float64))


def _learned_prior(evidence: FloatArray) -> FloatArray:
    """The prior over scale levels that explains all coordinates best: smoothed expectation–maximisation."""
    d, levels = evidence.shape
    prior = np.full(levels, 1.0 / levels)
    for _ in range(EM_ROUNDS):
        share = prior * ((1.0 / (evidence @ prior)) @ evidence)
        prior = (share + 0.5 / levels) / (d + 0.5)
        padded = np.concatenate([prior[:1], prior, prior[-1:]])
        prior = 0.1 * padded[:-2] + 0.8 * prior + 0.1 * padded[2:]
        prior /= prior.sum()
    return prior
