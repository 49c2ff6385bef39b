"""How badly logistic curves fit noisy counts: the loop of `theory/location_fit.py`."""

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]


def add_misfits(steep: SingleArray, shift: SingleArray, seen: SingleArray, full: np.float32, chi2: SingleArray) -> None:
    """Add Σ_t (full / (1 + steep_t·shift) - seen_t)², t in order, to chi2[offset, coordinate]; single precision."""
    one = np.float32(1.0)
    for m in range(len(shift)):
        for t in range(steep.shape[0]):
            for i in range(steep.shape[1]):
                apart = full / (steep[t, i] * shift[m] + one) - seen[t, i]
                chi2[m, i] += apart * apart
