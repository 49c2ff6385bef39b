"""Columns of like popularity, corrected together: long rows are clipped, and rare items are mostly in long rows."""

import numpy as np
from numpy.typing import NDArray

from plandp.theory.stable_order import stable_order

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GROUPS = 6
BELIEVED = 10.0  # a correction is believed where its square exceeds that many times its variance
MOST_ADDED = 0.6
UNEVEN = 4.0  # groups may lose so many times the share that all items together lose


def groups_by_popularity(mean: FloatArray) -> IntArray:
    """The group of every column: about equal shares of the total from the most popular down, none of them empty."""
    order = stable_order(-mean)
    upto = np.cumsum(mean[order]) - 0.5 * mean[order]
    share = np.minimum(upto / max(float(mean.sum()), 1e-300) * GROUPS, GROUPS - 1.0).astype(np.int64)
    group = np.empty(len(mean), np.int64)
    group[order] = np.unique(share, return_inverse=True)[1]
    return group


def corrections(
    noisy: FloatArray,
    noise_std: FloatArray,
    group: IntArray,
    total: FloatArray,
    total_std: FloatArray,
    *,
    likely: float,
) -> FloatArray:
    """The factor of every column that brings its group's sum nearer to the group's own total, where that is certain.

    Both are noisy: a correction shrinks to none as its square falls to BELIEVED times its variance, and where its noise
    exceeds what a group may have lost, UNEVEN times the share `likely` of all items.
    """
    groups = len(total)
    summed = np.bincount(group, noisy, groups)
    variance = total_std**2 + np.bincount(group, noise_std**2, groups)
    lost = np.maximum(total - summed, 0.0)  # clipping only ever takes away
    believed = np.maximum(0.0, 1.0 - BELIEVED * variance / np.maximum(lost**2, variance))
    # a sum that is mostly noise says nothing about a share of it
    known = np.maximum(summed, np.sqrt(variance))
    possible = (UNEVEN * likely) ** 2
    share = lost * believed / known * (possible / (possible + variance / known**2 + 1e-300))
    return np.asarray((1.0 + np.minimum(share, MOST_ADDED))[group])
