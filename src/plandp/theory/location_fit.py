"""A free fit of location and scale to released noisy counts: count ≈ rows · F((threshold - m)/s), F logistic.

Post-processing.  The prior on ln s is learned across coordinates (empirical Bayes), which removes the last
failures of the search: a coordinate whose own counts are ambiguous is read as its neighbours are.
"""

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.logistic_fit import add_misfits

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

LOGISTIC = 1.702  # the logistic with this slope is closest to the normal distribution function
REACH, STEP = 7.0, 0.5  # locations tried around the search's answer, in units of s
RATIO = 1.6  # of neighbouring scales
EM_ROUNDS = 15  # as 40 to four digits
UNLIKELIEST = np.float32(-80.0)  # of -χ²/2: e to what is lower is no number that processors multiply quickly


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
    scales = finest * np.power(RATIO, np.arange(levels))
    offsets = np.arange(-REACH, REACH + STEP / 2, STEP)
    likelihood = _likelihood((thresholds - start[:, None]).T, counts.T, rows, noise_std, scales, offsets)
    evidence = likelihood.sum(axis=1, dtype=np.float64)
    prior = _learned_prior(evidence)[:, None]
    best = (likelihood.max(axis=1) * prior).argmax(axis=0)
    near = np.abs(np.arange(levels)[:, None] - best) <= 3  # one mode only: the mean of two modes is in neither
    weight = prior * near
    moved = (offsets.astype(np.float32) @ likelihood * scales[:, None] * weight).sum(axis=0)
    return np.asarray(start + moved / (evidence * weight).sum(axis=0))


def _likelihood(
    relative: FloatArray,
    counts: FloatArray,
    rows: int,
    noise_std: float,
    scales: FloatArray,
    offsets: FloatArray,
) -> SingleArray:
    """exp(-χ²/2), at most 1 per coordinate, of every (scale, offset, coordinate)."""
    chi2 = np.zeros((len(scales), len(offsets), relative.shape[1]), np.float32)
    shift = np.exp(LOGISTIC * offsets).astype(np.float32)
    seen = np.ascontiguousarray(counts / noise_std, np.float32)
    full = np.float32(rows / noise_std)
    loop = compiled(add_misfits) or _add_misfits
    for level, scale in enumerate(scales):
        steep = np.ascontiguousarray(np.clip(-LOGISTIC / scale * relative, -70.0, 70.0), np.float32)
        loop(np.exp(steep, out=steep), shift, seen, full, chi2[level])
    chi2 -= chi2.min(axis=(0, 1))
    chi2 *= np.float32(-0.5)
    np.maximum(chi2, UNLIKELIEST, out=chi2)
    return np.exp(chi2, out=chi2)


def _add_misfits(
    steep: SingleArray, shift: SingleArray, seen: SingleArray, full: np.float32, chi2: SingleArray
) -> None:
    """What the compiled loop does, in NumPy: the same single-precision operations in the same order."""
    for each, told in zip(steep, seen, strict=True):
        apart = each * shift[:, None]
        apart += np.float32(1.0)
        np.divide(full, apart, out=apart)
        apart -= told
        apart *= apart
        chi2 += apart


def _learned_prior(evidence: FloatArray) -> FloatArray:
    """The prior over scale levels that explains all coordinates best: smoothed expectation–maximisation."""
    levels, d = evidence.shape
    prior = np.full(levels, 1.0 / levels)
    for _ in range(EM_ROUNDS):
        share = prior * (evidence @ (1.0 / (prior @ evidence)))
        prior = (share + 0.5 / levels) / (d + 0.5)
        padded = np.concatenate([prior[:1], prior, prior[-1:]])
        prior = 0.1 * padded[:-2] + 0.8 * prior + 0.1 * padded[2:]
        prior /= prior.sum()
    return prior
