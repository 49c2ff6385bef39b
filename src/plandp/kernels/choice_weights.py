"""The interval of candidates in which a share of all weights ends: the loop of `noise/exponential_choice.py`."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SUMMED_AT_A_TIME = 256
"""Weights that are added up before their sums are: so the error grows with m/256."""


def find_interval(
    penalties: IntArray, widths: IntArray, by_penalty: FloatArray, share: float, margin: float, found: IntArray
) -> None:
    """Write where the weights from the left come to the share of all; nothing if an end is within `margin` of it.

    A weight is the width times the entry of the penalty less the least one; beyond the last entry all are as that one.
    """
    n, last = len(penalties), len(by_penalty) - 1
    least = np.int64(2**63 - 1)
    for i in range(n):
        least = penalties[i] if widths[i] > 0 and penalties[i] < least else least
    up_to_part = np.empty(-(-n // SUMMED_AT_A_TIME))
    total = 0.0
    for part in range(len(up_to_part)):
        own = 0.0
        for i in range(part * SUMMED_AT_A_TIME, min((part + 1) * SUMMED_AT_A_TIME, n)):
            own += by_penalty[min(max(penalties[i] - least, 0), last)] * widths[i]
        total += own
        up_to_part[part] = total
    target = share * total
    part = 0
    while part < len(up_to_part) and up_to_part[part] <= target:
        part += 1
    before = up_to_part[part - 1] if part > 0 else 0.0
    own, begin = 0.0, before
    for i in range(part * SUMMED_AT_A_TIME, min((part + 1) * SUMMED_AT_A_TIME, n)):
        own += by_penalty[min(max(penalties[i] - least, 0), last)] * widths[i]
        end = before + own
        if end > target:
            # nothing lies before the first interval
            if end - target > margin * total and (i == 0 or target - begin > margin * total):
                found[0] = i
            break
        begin = end
