"""Where every coordinate's posterior is asked next, and its splitting there: the loops of `theory/bisection.py`.

Of `theory/search_stage.py` too, where thresholds move to the points of a stage.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def split_pieces(
    edges: FloatArray,
    mass: FloatArray,
    threshold: FloatArray,
    before: FloatArray,
    after: FloatArray,
    new_edges: FloatArray,
    new_mass: FloatArray,
) -> None:
    """Split at `threshold`, multiply the mass before it by `before` and after it by `after`, and make it 1 in all."""
    d, pieces = mass.shape
    for i in range(d):
        at = 0
        while edges[i, at] < threshold[i]:
            at += 1  # edges[at - 1] < threshold <= edges[at]
        share = (threshold[i] - edges[i, at - 1]) / (edges[i, at] - edges[i, at - 1])
        total = 0.0
        for j in range(pieces + 1):
            old = mass[i, j if j < at else j - 1]
            if j == at - 1:
                old = old * share
            elif j == at:
                old = old * (1.0 - share)
            new_mass[i, j] = old * (before[i] if j < at else after[i])
            total += new_mass[i, j]
        for j in range(pieces + 1):
            new_mass[i, j] = new_mass[i, j] / total
        for j in range(pieces + 2):
            new_edges[i, j] = edges[i, j] if j < at else threshold[i] if j == at else edges[i, j - 1]


def write_thresholds(
    edges: FloatArray, mass: FloatArray, share: FloatArray, tiny: float, threshold: FloatArray
) -> None:
    """Write the lattice point near the quantile `share` of every coordinate that `MedianPosterior` asks about next."""
    d, pieces = mass.shape
    for i in range(d):
        at, upto = 0, mass[i, 0]
        while upto < share[i] and at < pieces - 1:
            at += 1
            upto += mass[i, at]
        before, left, right = upto - mass[i, at], edges[i, at], edges[i, at + 1]
        part = min(max((share[i] - before) / max(mass[i, at], tiny), 0.0), 1.0)
        point = max(np.floor(left + (right - left) * part), left + 1.0)
        if not point < right:  # a lone cell: one of its ends
            lower_end = left > 0.0 and (before >= 1.0 - before - mass[i, at] or right >= edges[i, pieces])
            point = left if lower_end else right
        threshold[i] = point


def move_thresholds(
    edges: FloatArray, mass: FloatArray, upto: FloatArray, count: int, tiny: float, threshold: FloatArray
) -> None:
    """Move every threshold to the nearest of the `count` points of its column, by the shares of the posterior."""
    d, pieces = mass.shape
    for i in range(d):
        at = 0
        while at < pieces - 1 and edges[i, at + 1] < threshold[i]:
            at += 1
        part = (threshold[i] - edges[i, at]) / (edges[i, at + 1] - edges[i, at])
        below = (upto[i, at] - mass[i, at]) + mass[i, at] * part
        share = (min(max(np.floor(below * count), 0.0), count - 1.0) + 0.5) / count
        at = 0
        while at < pieces - 1 and upto[i, at] < share:
            at += 1
        part = min(max((share - (upto[i, at] - mass[i, at])) / max(mass[i, at], tiny), 0.0), 1.0)
        point = np.floor(edges[i, at] + (edges[i, at + 1] - edges[i, at]) * part + 0.5)
        threshold[i] = min(max(point, 1.0), edges[i, pieces] - 1.0)
