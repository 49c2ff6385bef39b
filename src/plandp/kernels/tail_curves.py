"""What a noisy count says about every curve, and where curves want the next: the loops of `theory/tail_search.py`.

Exponential and logarithm are written out, in single precision, so that machine code and NumPy agree in every bit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
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
FORGOTTEN = np.float32(25.0)  # cells at the ends with e^-25 of the best weight are looked at no more
REACH = 7.0  # standard deviations of noise: further away nothing is added up
PER_ROOT_TWO_PI = 0.3989422804014327
LEAST_EXPONENT = -667.0  # of one count: after many of them single precision still tells cells apart
LEAST_DENSITY = 1e-30  # so that single precision has a number for it


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


def learn_from_count(
    log_weight: SingleArray,
    position: FloatArray,
    begin: int,
    seen: int,
    shapes: SingleArray,
    misfit: np.float32,
    numbers: SingleArray,
    rows: FloatArray,
    middles: FloatArray,
    updated: SingleArray,
    kept: NDArray[np.int64],
) -> None:
    """Write to updated[shape, cell] what `theory/tail_search.py` says after a count up to the cell `seen`.

    `shapes` are steepness, bend and top; `numbers` ln(rows wanted above), ln(rows), rows above the threshold, at most
    so many, and the noise's variance; `rows` the rows above the threshold, those wanted, all, ln(all / wanted) and the
    noise's deviation.  kept[0] … kept[1] are the cells that are not forgotten.
    """
    step = np.empty(2, np.float32)  # what the count says of cells up to it and after it if any shape will do
    above, tail, noise_std = rows[0], rows[1], rows[4]
    for side in range(2):
        least, most_rows = (tail, rows[2]) if side else (0.0, tail)
        low = max(least, min(above, most_rows) - REACH * noise_std)
        high = min(most_rows, max(above, least) + REACH * noise_std)
        width = max(high - low, 0.0) / len(middles)
        nearest = (min(max(above, low), high) - above) / noise_std
        at_best = max(-0.5 * nearest * nearest, LEAST_EXPONENT)
        density = 0.0
        for m in range(len(middles)):
            point = low + middles[m] * width
            away = (point - above) / noise_std
            exponent = np.float32(max(-0.5 * away * away - at_best, LEAST_EXPONENT))
            exponent = exponent if exponent > SMALLEST else SMALLEST
            density += np.float64(exponential(exponent if exponent < ZERO else ZERO)) / (point if side else tail)
        density = density * width / noise_std * PER_ROOT_TWO_PI / (rows[3] if side else 1.0)
        step[side] = np.float32(at_best) + logarithm(np.float32(max(density, LEAST_DENSITY)))
    log_tail, log_all, told, most, noise_variance = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    place = position[seen]
    curves, cells = shapes.shape[1], log_weight.shape[1]
    best = np.empty(cells, np.float32)
    beyond = np.empty(cells, np.float32)
    variance, squared = np.empty(cells, np.float32), np.empty(cells, np.float32)
    for c in range(cells):
        updated[curves, c] = log_weight[curves, c] + (step[0] if begin + c <= seen else step[1])
        best[c] = updated[curves, c]
        beyond[c] = np.float32(position[begin + c] - place)
    for i in range(curves):
        steep, bent, highest = shapes[0, i], shapes[1, i], shapes[2, i]
        for c in range(cells):
            inward = beyond[c] if beyond[c] < highest else highest
            log_rows = (steep - bent * inward) * inward + log_tail
            log_rows = log_rows if log_rows < log_all else log_all
            expected = exponential(log_rows if log_rows > SMALLEST else SMALLEST)
            rise = log_rows - log_tail
            rise = rise if rise > ZERO else ZERO
            off = (rise + ONE) * misfit * (expected if expected < most else most)
            variance[c] = off * off + noise_variance
            apart = told - expected
            squared[c] = apart * apart
        for c in range(cells):  # a loop of its own: processors overlap short chains of operations better than long ones
            said = squared[c] / variance[c] + logarithm(variance[c] * TWO_PI)
            updated[i, c] = log_weight[i, c] - HALF * said
        for c in range(cells):
            best[c] = updated[i, c] if updated[i, c] > best[c] else best[c]
    highest = best.max() - FORGOTTEN
    first, last = 0, cells - 1
    while first < last and best[first] < highest:
        first += 1
    while first < last and best[last] < highest:
        last -= 1
    kept[0], kept[1] = first, last


def find_wanted_cell(
    log_weight: SingleArray,
    inward: NDArray[np.int64],
    begin: int,
    mass: FloatArray,
    found: NDArray[np.int64],
) -> None:
    """Write to found[0] the median cell of the posterior, every shape moved `inward` by so many cells.

    Shapes come in equal groups that are moved alike, and any shape last; mass is 0 and as long as all cells.
    """
    shapes, cells = log_weight.shape
    alike = (shapes - 1) // (len(inward) - 1)
    highest = log_weight.max()
    total = np.empty(cells, np.float32)
    for i in range(len(inward)):
        total[:] = ZERO
        for s in range(i * alike, min((i + 1) * alike, shapes)):
            for c in range(cells):
                exponent = log_weight[s, c] - highest
                exponent = exponent if exponent > SMALLEST else SMALLEST
                total[c] = total[c] + exponential(exponent)
        for c in range(cells):
            mass[max(begin + c - inward[i], 0)] += np.float64(total[c])
    wanted = 0.0
    for c in range(len(mass)):
        wanted += mass[c]
    wanted = 0.5 * wanted
    cell, upto = 0, mass[0]
    while upto < wanted:
        cell += 1
        upto += mass[cell]
    # the cell below when its upper edge is nearer
    found[0] = cell - 1 if cell > 0 and wanted - (upto - mass[cell]) < 0.5 * mass[cell] else cell
