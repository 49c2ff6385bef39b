"""The piece of every coordinate's posterior at a quantile, and its splitting: the loops of `theory/bisection.py`."""

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


def find_pieces(edges: FloatArray, mass: FloatArray, share: FloatArray, found: FloatArray) -> None:
    """Write of the piece that holds the quantile `share`: the mass before it, its mass, where it begins and ends."""
    d, pieces = mass.shape
    for i in range(d):
        at, upto = 0, mass[i, 0]
        while upto < share[i] and at < pieces - 1:
            at += 1
            upto += mass[i, at]
        found[0, i] = upto - mass[i, at]
        found[1, i] = mass[i, at]
        found[2, i] = edges[i, at]
        found[3, i] = edges[i, at + 1]
