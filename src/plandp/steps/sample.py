"""A public sample of the rows: centre and spread do not need all of them when there are many."""

import numpy as np

from plandp.data.rows import Rows
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design

TOGETHER, VALUES_TOGETHER = 16, 4096
"""Rows that lie side by side are read twice as fast as scattered ones, up to about so many rows or values."""

GROUPS = 256
"""A large sample has as many groups as a small one: what lies between them in a file is worth passing over then."""


def public_sample(rows: Rows, design: Design, noise: MeteredNoise) -> Rows:
    """One group of neighbouring rows per stride, drawn by public coins and row number only; or all, if that saves none.

    Counts and sums over the sample keep their sensitivity: a replaced row is in it once or not at all.  Should
    neighbours be alike, there are hundreds of groups still, spread evenly; the last few rows, too few for a group, are
    in none.
    """
    n, m = design.n, design.sample_size
    if m == n:
        return rows
    together = max(1, min(TOGETHER, VALUES_TOGETHER // design.d), m // GROUPS)
    while -(-m // together) > n // together:
        together //= 2
    groups, drawn = n // together, -(-m // together)
    begins = np.arange(drawn + 1, dtype=np.int64) * (groups // drawn) + np.minimum(np.arange(drawn + 1), groups % drawn)
    coins = noise.public_integers(below=2**53, count=drawn)
    strides = np.diff(begins)
    group = begins[:-1] + np.minimum((coins / 2.0**53 * strides).astype(np.int64), strides - 1)
    return rows.sample((group[:, None] * together + np.arange(together)).ravel()[:m])
