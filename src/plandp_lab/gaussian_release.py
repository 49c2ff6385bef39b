"""The release that benchmarks time: a table of standard Gaussian columns in bounds far too wide."""

import numpy as np
from numpy.typing import NDArray

import plandp

SMALLEST_SPREAD = 2.0**-4


def gaussian_table(n: int, d: int) -> NDArray[np.float64]:
    """The same table in every run."""
    return np.random.default_rng(0).standard_normal((n, d))


def release(data: object, rho: float, *, d: int | None = None, threads: int = 1) -> plandp.MeanRelease:
    """Release its mean; `d` where the data does not tell its shape."""
    columns = data.shape[1] if isinstance(data, np.ndarray) else d
    assert columns is not None
    bound = 25.0 * columns**0.5
    return plandp.mean(data, bounds=(-bound, bound), rho=rho, smallest_spread=SMALLEST_SPREAD, threads=threads)
