"""A public sample of the rows: centre and spread do not need all of them when there are many."""

import numpy as np

from plandp.data.rows import Rows
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design


def public_sample(rows: Rows, design: Design, noise: MeteredNoise) -> Rows:
    """One row per stride, drawn by public coins and row number only; all rows when that saves nothing.

    Counts and sums over the sample keep their sensitivity: a replaced row is in it once or not at all.
    """
    n, m = design.n, design.sample_size
    if m == n:
        return rows
    begins = (np.arange(m + 1, dtype=np.int64) * (n // m)) + np.minimum(np.arange(m + 1), n % m)
    coins = noise.public_integers(below=2**53, count=m)
    strides = np.diff(begins)
    return rows.sample(begins[:-1] + np.minimum((coins / 2.0**53 * strides).astype(np.int64), strides - 1))
