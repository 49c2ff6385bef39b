"""How much of a mean survives clipping, and how to undo that.  Post-processing.

Move all rows by a small δ_i along coordinate i: the mean of the clipped rows moves by δ_i times the mean of
∂clip_i/∂y_i, which is 1 for a row inside the radius and (C/‖y‖)(1 - y_i²/‖y‖²) for one outside.  So a centre that is
off by δ leaves a bias of δ·(share clipped)·(how far clipped rows point along i), which is known up to δ, and
δ itself is what the clipped mean tells.  Exact to first order in δ for rows symmetric around their mean; the others
are told by a mean far from the centre.
"""

import numpy as np
from numpy.typing import NDArray

from plandp.theory.clipping import gaussian_radius, heaviness

FloatArray = NDArray[np.float64]

# a centre is seldom off by more than .3 spreads: a mean further away tells of skewed rows, for which this is not true
OFF_CENTER, SKEWED = 0.3, 0.45
MOST_UNDONE = 0.2  # the share clipped is at most this: far more is a lost search, or noise
HALVINGS = 32  # of a logarithm: to some 10⁻⁸


def clipping_gain(
    clipped_mean: FloatArray, norm_spread: FloatArray, *, radius: float, share_above: float
) -> FloatArray:
    """By what each coordinate of the mean of clipped rows is to be multiplied to undo the clipping."""
    off = np.abs(clipped_mean) / norm_spread
    symmetric = np.clip((SKEWED - off) / (SKEWED - OFF_CENTER), 0.0, 1.0)
    # of skewed rows with heavy tails clipping takes even more than this, in the same direction
    trust = np.maximum(symmetric, heaviness(radius, norm_spread, share_above))
    return np.asarray(1.0 + trust * (1.0 / surviving_share(norm_spread, radius, share_above) - 1.0))


def surviving_share(norm_spread: FloatArray, radius: float, share_above: float) -> FloatArray:
    """The part of each coordinate's mean that clipping `share_above` of the rows to `radius` leaves."""
    clipped = min(max(share_above, 0.0), MOST_UNDONE)
    if not clipped:
        return np.ones(len(norm_spread))
    _, excess = gaussian_radius(norm_spread, clipped)
    along = direction_of_long_rows(norm_spread, radius)
    return np.asarray(1.0 - clipped * (along + excess * (1.0 - along)))


def direction_of_long_rows(norm_spread: FloatArray, norm: float) -> FloatArray:
    """Each coordinate's part of ‖y‖², for Gaussian rows of about this norm.

    Large deviations: such rows look like Gaussian rows of variances λ/(1 - 2θλ) that add up to the norm squared.
    """
    if norm_spread.min() == norm_spread.max():
        return np.full(len(norm_spread), 1.0 / len(norm_spread))
    variance = (norm_spread / norm_spread.max()) ** 2
    wanted = float(np.clip(norm / norm_spread.max(), 1e-100, 1e100)) ** 2
    # 1/(1 - 2θ) of the widest coordinate lies between these, in logarithms: all of the norm, or a d-th part of less
    low, high = np.log(wanted / len(variance)) - 50.0, np.log(wanted)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if _tilted(variance, middle).sum() > wanted:
            high = middle
        else:
            low = middle
    tilted = _tilted(variance, low)
    return np.asarray(tilted / tilted.sum())


def _tilted(variance: FloatArray, log_gain: float) -> FloatArray:
    """Variances λ/(1 - 2θλ), the largest λ being 1 and its gain 1/(1 - 2θ) = e^log_gain."""
    return np.asarray(variance / (1.0 - variance + variance * np.exp(-log_gain)))
