"""What error to expect before any row is read, if the rows are about Gaussian with these spreads.

The same arithmetic that a run uses on released numbers, from public ones: radius, noise, and its norm.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.terms.design import Design
from plandp.theory.box import box_spread
from plandp.theory.clipping import gaussian_radius, one_sided_rows, rows_to_clip
from plandp.theory.stretch import Stretch, log_gaussian_norm, noise_error, optimal_stretch
from plandp.theory.unclipping import direction_of_long_rows, surviving_share
from plandp.theory.wide_search import wide_rows_to_clip

FloatArray = NDArray[np.float64]

HALVINGS = 40
MANY_TERMS = 4.0  # so many that no single one decides


@dataclass(frozen=True, kw_only=True, eq=False)
class Expected:
    """Standard deviations per column, in units of error_scale, of the noise and of all that is random in the error."""

    noise_std: FloatArray
    error_std: FloatArray


def expect_box(design: Design) -> Expected:
    """Rows clipped to the bounds alone, stretched as is best for their widths (Appendix C)."""
    return _whole_box(optimal_stretch(box_spread(design.columns), design.error_norm), design)


def expect_shaped(spread: FloatArray, design: Design, *, stretch: Stretch = optimal_stretch) -> Expected:
    """Algorithm 1 on Gaussian rows of these spreads; the box where that needs no more noise."""
    σ = np.minimum(spread, box_spread(design.columns))
    s = stretch(σ, design.error_norm)
    far_out, _ = gaussian_radius(σ / s, one_sided_rows(s, design) / design.n)
    return _clipped(σ, s, rows_to_clip(far_out, σ, s, design), expect_box(design), design)


def expect_unshaped(spread: FloatArray, stretch: FloatArray, design: Design) -> Expected:
    """The same with a stretch that has nothing to do with the spreads, which are not looked for."""
    σ = np.minimum(spread, box_spread(design.columns))
    return _clipped(σ, stretch, wide_rows_to_clip(stretch, design), _whole_box(stretch, design), design)


def _whole_box(s: FloatArray, design: Design) -> Expected:
    """No row is longer than from the middle of the box to a corner."""
    noise = _noise(float(np.linalg.norm(box_spread(design.columns) / s)), s, design)
    return Expected(noise_std=noise, error_std=noise)


def _clipped(σ: FloatArray, s: FloatArray, rows: float, otherwise: Expected, design: Design) -> Expected:
    """Gaussian rows, `rows` of them clipped, unless that needs more noise than `otherwise`."""
    C, excess = gaussian_radius(σ / s, rows / design.n)
    noise = _noise(C, s, design)
    if noise_error(noise, design.error_norm) >= noise_error(otherwise.noise_std, design.error_norm):
        return otherwise
    kept = surviving_share(σ / s, C, rows / design.n)
    # what is cut off the rows points anywhere and does not quite cancel; the excess is about exponential
    cut = C * excess * np.sqrt(2.0 * rows * direction_of_long_rows(σ / s, C)) / design.n * s
    return Expected(noise_std=noise / kept, error_std=np.hypot(noise, cut) / kept)


def _noise(C: float, s: FloatArray, design: Design) -> FloatArray:
    """Replacing a row moves the sum by 2C at most: σ = 2C/√(2ρ), then divided by n and stretched back."""
    return np.asarray(C * np.sqrt(2.0 / float(design.split.sum)) / design.n * s)


def median_error(noise_std: FloatArray, error_norm: float) -> float:
    """Half of all draws of independent Gaussian noise have a smaller ℓp norm: to 3% for p ≤ 2, to an eighth beyond.

    Σ|noise_i|^p is matched in two moments by a gamma variable.  For large p its largest term decides, and the
    median of that, which the norm is never below, is the better answer.
    """
    from scipy.special import gammaincinv  # here, since importing SciPy takes longer than importing plandp

    p, largest = error_norm, float(noise_std.max())
    relative = noise_std / largest
    log_mean, log_square = _log_moment(p), _log_moment(2.0 * p)
    # in logarithms: the moments of a large p are beyond float64
    log_variance = log_square + np.log1p(-np.exp(2.0 * log_mean - log_square))
    powers = relative**p
    terms, squares = float(powers.sum()), float((powers * powers).sum())
    shape = np.exp(2.0 * (log_mean + np.log(terms)) - log_variance - np.log(squares))
    matched = 0.0
    if shape > 1e-3:  # below, the gamma variable is practically 0
        matched = np.exp((log_mean + np.log(terms / shape * float(gammaincinv(shape, 0.5)))) / p)
    if shape > MANY_TERMS:
        return float(largest * matched)
    return float(largest * max(matched, _median_of_largest(relative)))


def _log_moment(power: float) -> float:
    """ln E|z|^power of a standard Gaussian z."""
    return power * log_gaussian_norm(power)


def _median_of_largest(noise_std: FloatArray) -> float:
    """The t with Π P(|noise_i| ≤ t) = ½, the largest deviation being 1."""
    from scipy.special import erf

    low, high = 0.0, 40.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        inside = erf(middle / (np.sqrt(2.0) * noise_std))
        if float(np.log(np.maximum(inside, 1e-300)).sum()) < np.log(0.5):
            low = middle
        else:
            high = middle
    return high
