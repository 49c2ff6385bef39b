"""Which proposals of a discrete Gaussian are kept: the loop of `noise/discrete_gaussian.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def keep_proposals(
    word: NDArray[np.uint64],
    offset: NDArray[np.unsignedinteger[Any]],
    block_of_selector: NDArray[np.uint8],
    selector_bits: int,
    width_bits: int,
    exponent_per_square: float,
    exponent_ceiling: float,
    exp_table: FloatArray,
    steps_per_unit: float,
    envelope_ratios: FloatArray,
    margin: float,
    draws: NDArray[np.int64],
    tally: NDArray[np.int64],
) -> None:
    """Write the kept ones with their signs to `draws`, how many to tally[0], and how many are too close to tell to
    tally[1]; every float operation is that of `noise/acceptance.py`.
    """
    kept = unsure = 0
    prefix_unit = 2.0 ** -(63 - selector_bits)
    for i in range(len(word)):
        block = block_of_selector[word[i] & np.uint64((1 << selector_bits) - 1)]
        magnitude = np.int64(block) << width_bits
        if width_bits:
            magnitude |= np.int64(offset[i]) & ((1 << width_bits) - 1)
        exponent: float = np.float64(magnitude)
        exponent = exponent * exponent * exponent_per_square
        exponent = min(exponent, exponent_ceiling)
        step = np.int32(exponent * steps_per_unit)
        exponent -= step * (1.0 / steps_per_unit)
        estimate = (((exponent * (1 / 24) - 1 / 6) * exponent + 0.5) * exponent - 1.0) * exponent + 1.0
        estimate = estimate * exp_table[step] * envelope_ratios[block]
        surplus = estimate - np.float64(word[i] >> np.uint64(selector_bits + 1)) * prefix_unit
        negative = word[i] & np.uint64(1 << selector_bits) != 0
        if abs(surplus) <= margin:
            unsure += 1
        elif surplus > 0.0 and not (negative and magnitude == 0):  # one zero, not two
            draws[kept] = -magnitude if negative else magnitude
            kept += 1
    tally[0], tally[1] = kept, unsure
