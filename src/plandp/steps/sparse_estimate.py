"""Post-processing of two noisy looks at the same means: combine, shrink, clamp.  Costs no privacy."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plandp.terms.sparse_design import SparseDesign
from plandp.theory.guards import items_untold
from plandp.theory.item_doubts import left_out
from plandp.theory.item_prior import shrunk
from plandp.theory.stretch import log_gaussian_norm, noise_error, norm

FloatArray = NDArray[np.float64]

SURELY = 3.0  # standard deviations
KEPT = 0.5  # standard deviations of a clear mean must be left by shrinking: else all of them together say it is noise


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyMeans:
    """Means with known noise, from released numbers only."""

    mean: FloatArray
    noise_std: FloatArray

    @property
    def both(self) -> tuple[FloatArray, FloatArray]:
        """Mean and noise."""
        return self.mean, self.noise_std

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
    warnings: tuple[str, ...] = ()


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


def hidden_by_noise(answer: Refined, noisy: NoisyMeans, totals: NoisyMeans, design: SparseDesign) -> Refined:
    """The answer with what is certainly missing from it in its error, and a warning where that is much, or all."""
    unit, p = design.columns.error_scale, design.error_norm
    hidden, most_hidden = left_out(answer.mean / unit, totals.mean, totals.noise_std)
    error = max(answer.error, hidden * design.d ** (1.0 / p - 1.0))  # no errors that lack so much in all are smaller
    together = float(totals.mean.sum()) / max(float(np.sqrt((totals.noise_std**2).sum())), 1e-300)
    clear = (noisy.mean > _clear(design.d) * noisy.noise_std) & (answer.mean > KEPT * noisy.noise_std)
    told = bool(np.any(clear)) or together > SURELY
    if not told:
        # what all means together taught is noise: each may be as large as its own noise allows, or all that is left
        error_std = np.maximum(answer.error_std, np.minimum(noisy.noise_std, most_hidden * unit))
        answer = replace(answer, error_std=error_std)
        error = max(error, min(most_hidden, noise_error(noisy.noise_std / unit, p)))
    warnings = items_untold(
        hidden=hidden / max(float(totals.mean.sum()), 1e-300),
        error=error / max(norm(np.abs(answer.mean) / unit, p), 1e-300),
        told=told,
    )
    return replace(answer, error=error, warnings=warnings)


def _clear(d: int) -> float:
    """Standard deviations from 0 that simultaneous intervals of 95% have on one side."""
    from statistics import NormalDist  # here, since few need it

    return NormalDist().inv_cdf(1.0 - 0.025 / d)
