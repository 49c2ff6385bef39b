"""How badly logistic curves fit noisy counts: the loop of `theory/location_fit.py`."""

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]


def add_misfits(steep: SingleArray, shift: SingleArray, seen: SingleArray, full: np.float32, chi2: SingleArray) -> None:
    """Add Σ_t (full / (1 + steep_t·shift) - seen_t)², t in order, to chi2[coordinate, offset]; single precision."""
    one = np.float32(1.0)
    count = len(shift)
    padded = np.zeros((count + 31) // 32 * 32, np.float32)  # whole vectors, the rest of which nobody looks at
    padded[:count] = shift
    total = np.empty_like(padded)
    for i in range(steep.shape[0]):
        total[:] = 0.0
        total[:count] = chi2[i]
        for t in range(steep.shape[1]):
            for m in range(len(padded)):
                apart = full / (steep[i, t] * padded[m] + one) - seen[i, t]
                total[m] += apart * apart
        chi2[i] = total[:count]
