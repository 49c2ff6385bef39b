"""How badly logistic curves fit noisy counts: the loop of `theory/location_fit.py`."""

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]


def add_misfits(steep: SingleArray, shift: SingleArray, seen: SingleArray, full: np.float32, chi2: SingleArray) -> None:
    """Add Σ_t (full / (1 + steep_t·shift) - seen_t)², t in order, to chi2[coordinate, offset]; single precision."""
    one = np.float32(1.0)
    for i in range(steep.shape[0]):
        for t in range(steep.shape[1]):
            for m in range(shift.shape[0]):
                apart = full / (steep[i, t] * shift[m] + one) - seen[i, t]
                chi2[i, m] += apart * apart
