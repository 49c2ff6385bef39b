"""Whether a proposed magnitude is kept: exactly in integers, and estimated in float64 with a proved error.

A magnitude x of block k is kept if R < (weights[0] / weights[k]) · exp(-x²/(2 sigma2)), where R is a uniform
real in [0, 1) that is revealed bit by bit. Proofs: docs/proofs/discrete_gaussian.md.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plandp.noise.bits import Bits, uniform_integer
from plandp.noise.exponential import exp_bounds
from plandp.noise.staircase import Staircase

_HIGHEST_EXPONENT = 48
EXPONENT_CEILING = _HIGHEST_EXPONENT - 2.0**-20
STEPS_PER_UNIT = 64


def kept_magnitude(
    staircase: Staircase, *, block: int, offset: int, prefix: int, prefix_bits: int, bits: Bits
) -> int | None:
    """Return the magnitude if it is kept, else None; the verdict is exact.

    R lies in [prefix, prefix + 1) / 2^prefix_bits; more of its bits are taken until the verdict is certain.
    """
    if block < staircase.tail_block:
        weight, halves = staircase.weights[block], 0
    else:
        # Block tail_block + g has probability tail_weight · 2^-(g+1): count fair coins.
        weight, halves = staircase.tail_weight, 1
        while uniform_integer(bits, 1):
            block, halves = block + 1, halves + 1
    magnitude = (block << staircase.width_bits) + offset
    a, b = magnitude * magnitude * staircase.sigma2.denominator, 2 * staircase.sigma2.numerator
    precision = 64
    while True:
        lower, upper = exp_bounds(a, b, precision)
        scale = staircase.weights[0] << halves + prefix_bits
        if (prefix + 1) * weight << precision <= lower * scale:
            return magnitude
        if prefix * weight << precision >= upper * scale:
            return None
        prefix, prefix_bits, precision = (
            prefix << 64 | uniform_integer(bits, 64),
            prefix_bits + 64,
            precision + 64,
        )


def estimated_acceptance(
    staircase: Staircase, block: NDArray[np.uint8], magnitude: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return float64 acceptance probabilities, off by less than 2^-35 each, for magnitudes below 2^53.

    Only + - * and table look-ups, which IEEE 754 defines to the last bit; no function of a maths library.
    """
    exponent = magnitude.astype(np.float64)
    exponent *= exponent
    exponent *= exponent_per_square(staircase)
    np.minimum(exponent, EXPONENT_CEILING, out=exponent)
    step = (exponent * STEPS_PER_UNIT).astype(np.int32)
    exponent -= step * (1.0 / STEPS_PER_UNIT)  # exact, and now in [0, 1/64)
    estimate = exponent * (1 / 24)
    estimate -= 1 / 6
    estimate *= exponent
    estimate += 0.5
    estimate *= exponent
    estimate -= 1.0
    estimate *= exponent
    estimate += 1.0
    estimate *= exp_table()[step]
    estimate *= envelope_ratios(staircase)[block]
    return estimate


def exponent_per_square(staircase: Staircase) -> float:
    """Return 1/(2 sigma2), correctly rounded."""
    return staircase.sigma2.denominator / (2 * staircase.sigma2.numerator)


@lru_cache(maxsize=1)
def exp_table() -> NDArray[np.float64]:
    """Tabulate exp(-j/64), rounded from integers with 128 bits behind the point."""
    one = 1 << 128
    factor = exp_bounds(1, STEPS_PER_UNIT, 128)[0]
    power, table = one, []
    for _ in range(_HIGHEST_EXPONENT * STEPS_PER_UNIT):
        table.append(power / one)
        power = power * factor >> 128
    return _frozen(np.array(table))


@lru_cache(maxsize=64)
def envelope_ratios(staircase: Staircase) -> NDArray[np.float64]:
    """Return weights[0] / weights[k], and 0 for the tail, whose acceptance probability is below 2^-48."""
    return _frozen(np.array([*(staircase.weights[0] / weight for weight in staircase.weights), 0.0]))


def _frozen(table: NDArray[np.float64]) -> NDArray[np.float64]:
    table.setflags(write=False)
    return table
