"""Post-processing of two noisy looks at the same means: combine, shrink, clamp.  Costs no privacy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.terms.sparse_design import SparseDesign
from plandp.theory.item_prior import shrunk
from plandp.theory.stretch import log_gaussian_norm, norm

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyMeans:
    """Means with known noise, from released numbers only."""

    mean: FloatArray
    noise_std: FloatArray

    def per(self, unit: FloatArray) -> "NoisyMeans":
        """Mean and noise, both in this unit."""
        return NoisyMeans(mean=self.mean / unit, noise_std=self.noise_std / unit)

    def times(self, factor: FloatArray) -> "NoisyMeans":
        """Mean and noise, both multiplied."""
        return NoisyMeans(mean=self.mean * factor, noise_std=self.noise_std * factor)


@dataclass(frozen=True, kw_only=True, eq=False)
class Refined:
    """What post-processing made of noisy means."""

    mean: FloatArray
    error_std: FloatArray  # root mean square error to expect of `mean`
    error: float  # ℓp error to expect, in units of error_scale


def combined(first: NoisyMeans, second: NoisyMeans, design: SparseDesign) -> NoisyMeans:
    """Both looks weighed by their precision; the second alone where combining is switched off, and for values."""
    if "combine" not in design.refine or not design.binary:
        return second
    w1, w2 = first.noise_std**-2.0, second.noise_std**-2.0
    return NoisyMeans(mean=(w1 * first.mean + w2 * second.mean) / (w1 + w2), noise_std=(w1 + w2) ** -0.5)


def refined(noisy: NoisyMeans, doubt: FloatArray, design: SparseDesign) -> Refined:
    """Means that learned from each other and lie within the bounds, as far as that is switched on.

    `doubt` is the share of every mean by which clipping may have moved it; errors to expect include it.
    """
    unit, p = design.columns.error_scale, design.error_norm
    if "shrink" in design.refine:
        better = shrunk(noisy.mean / unit, noisy.noise_std / unit, error_norm=p)
        mean, error_std, error = better.mean * unit, better.error_std * unit, better.error
    else:
        mean, error_std = noisy.mean, noisy.noise_std
        error = np.exp(log_gaussian_norm(p)) * (noisy.noise_std / unit)
    if "clamp" in design.refine:
        mean = np.clip(mean, 0.0, design.columns.high)
    moved = doubt * np.abs(mean)
    return Refined(mean=mean, error_std=np.hypot(error_std, moved), error=norm(np.hypot(error, moved / unit), p))
