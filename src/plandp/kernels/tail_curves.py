"""What a noisy count says about every curve, and where curves want the next: the loops of `theory/tail_search.py`.

Exponential and logarithm are written out, in single precision, so that machine code and NumPy agree in every bit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]

ZERO = np.float32(0.0)
HALF = np.float32(0.5)
ONE = np.float32(1.0)
TWO = np.float32(2.0)
WHOLE = np.float32(12582912.0)  # 1.5 · 2²³: a number that is added to it is rounded to a whole one
PER_LN2 = np.float32(1.44269504)
LN2 = np.float32(0.69314718)
LN2_HIGH = np.float32(0.693359375)  # few bits: whole multiples are exact
LN2_LOW = np.float32(-2.12194440e-4)
EXP = tuple(np.float32(1.0 / n) for n in (720, 120, 24, 6, 2))
ATANH = tuple(np.float32(2.0 / n) for n in (9, 7, 5, 3, 1))
SMALLEST = np.float32(-80.0)  # exponents below count as this one
ROOT_HALF = np.int32(0x3F3504F3)  # the bits of √½
TWO_PI = np.float32(2.0 * np.pi)


def exponential(x: Any) -> Any:
    """Return e^x for a single or an array of them, |x| ≤ 80, to some 2⁻²²."""
    shifted = x * PER_LN2 + WHOLE
    doublings = shifted - WHOLE
    rest = x - doublings * LN2_HIGH - doublings * LN2_LOW
    power = ((((EXP[0] * rest + EXP[1]) * rest + EXP[2]) * rest + EXP[3]) * rest + EXP[4]) * rest + ONE
    power = power * rest + ONE
    return np.int32(np.float32(power).view(np.int32) + (np.float32(shifted).view(np.int32) << np.int32(23))).view(
        np.float32
    )


def logarithm(x: Any) -> Any:
    """Return ln x for a positive single or an array of them, no denormal ones, to some 10⁻⁵."""
    bits = np.float32(x).view(np.int32)
    doublings = np.int32(np.int32(bits - ROOT_HALF) >> np.int32(23))
    f = np.int32(bits - np.int32(doublings << np.int32(23))).view(np.float32) - ONE
    s = f / (f + TWO)
    z = s * s
    series = (((ATANH[0] * z + ATANH[1]) * z + ATANH[2]) * z + ATANH[3]) * z + ATANH[4]
    return np.float32(doublings) * LN2 + series * s


def write_evidence(
    log_weight: SingleArray,
    beyond: SingleArray,
    steepness: SingleArray,
    bend: SingleArray,
    top: SingleArray,
    misfit: np.float32,
    numbers: SingleArray,
    step: SingleArray,
    updated: SingleArray,
    best: SingleArray,
) -> None:
    """Write to updated[shape, cell] what `theory/tail_search.py` says after a count, and the best of every cell.

    `numbers` are ln(rows wanted above), ln(rows), rows above the threshold, at most so many, and the noise's variance;
    `step` is what the count says of every cell if any shape will do, which is the last shape.
    """
    log_tail, log_all, above, most, noise_variance = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    shapes = len(steepness)
    for c in range(len(best)):
        updated[shapes, c] = log_weight[shapes, c] + step[c]
        best[c] = updated[shapes, c]
    for i in range(shapes):
        before, weight = log_weight[i], updated[i]
        steep, bent, highest = steepness[i], bend[i], top[i]
        for c in range(len(beyond)):
            inward = beyond[c] if beyond[c] < highest else highest
            log_rows = (steep - bent * inward) * inward + log_tail
            log_rows = log_rows if log_rows < log_all else log_all
            expected = exponential(log_rows if log_rows > SMALLEST else SMALLEST)
            rise = log_rows - log_tail
            rise = rise if rise > ZERO else ZERO
            off = (rise + ONE) * misfit * (expected if expected < most else most)
            variance = off * off + noise_variance
            apart = above - expected
            weight[c] = before[c] - HALF * (apart * apart / variance + logarithm(variance * TWO_PI))
        for c in range(len(best)):
            best[c] = weight[c] if weight[c] > best[c] else best[c]


def add_wanted_cells(
    log_weight: SingleArray,
    highest: np.float32,
    inward: NDArray[np.int64],
    curvatures: int,
    begin: int,
    mass: NDArray[np.float64],
) -> None:
    """Add e^(log_weight - highest) to the mass of the cell `inward` of its own; any shape comes last."""
    shapes, cells = log_weight.shape
    total = np.empty(cells, np.float32)
    for i in range(len(inward)):
        total[:] = ZERO
        for s in range(i * curvatures, min((i + 1) * curvatures, shapes)):
            line = log_weight[s]
            for c in range(len(line)):
                exponent = line[c] - highest
                exponent = exponent if exponent > SMALLEST else SMALLEST
                total[c] = total[c] + exponential(exponent)
        for c in range(cells):
            mass[max(begin + c - inward[i], 0)] += np.float64(total[c])
