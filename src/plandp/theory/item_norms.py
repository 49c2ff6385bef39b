"""How long rows of items are, where items come independently of each other with known popularity."""

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LEAST_SKEW = 1e-3  # below it a gamma variable is a Gaussian to more digits than matter


def exceeded_norm(popularity: FloatArray, weight: FloatArray, share: float, *, empty: float = 0.0) -> float:
    """The norm that a `share` of rows exceed: squared, it is that of an `empty` row and a weight for every item held.

    A sum of independent variables, matched in three moments by a shifted gamma variable, as in `gaussian_radius`.
    """
    from scipy.special import gammainccinv  # here, since importing SciPy takes longer than importing plandp

    variance = popularity * (1.0 - popularity)
    mean = empty + float((weight * popularity).sum())
    second = float((weight**2 * variance).sum())
    if second == 0.0:
        return math.sqrt(max(mean, 0.0))
    skew = max(float((weight**3 * variance * (1.0 - 2.0 * popularity)).sum()) / second**1.5, LEAST_SKEW)
    shape = 4.0 / skew**2
    return math.sqrt(max(mean + math.sqrt(second) * skew / 2.0 * (float(gammainccinv(shape, share)) - shape), 0.0))
