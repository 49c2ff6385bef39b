"""The exact discrete Gaussian for any rational sigma2 > 0, one draw at a time in Python integers."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.noise.acceptance import kept_magnitude
from plandp.noise.bits import Bits, uniform_integer
from plandp.noise.staircase import SELECTOR_BITS, Staircase, staircase_for

_PREFIX_BITS = 64


def draw_wide_gaussian(count: int, sigma2: Fraction, bits: Bits) -> NDArray[np.object_]:
    """Return `count` independent exact draws of N_Z(0, sigma2) as Python integers of any size."""
    staircase = staircase_for(sigma2)
    draws = np.empty(count, dtype=np.object_)
    for i in range(count):
        draws[i] = _draw(staircase, bits)
    return draws


def _draw(staircase: Staircase, bits: Bits) -> int:
    while True:
        magnitude = kept_magnitude(
            staircase,
            block=int(staircase.block_of_selector[uniform_integer(bits, SELECTOR_BITS)]),
            offset=uniform_integer(bits, staircase.width_bits),
            prefix=uniform_integer(bits, _PREFIX_BITS),
            prefix_bits=_PREFIX_BITS,
            bits=bits,
        )
        negative = uniform_integer(bits, 1)
        if magnitude is None or (negative and magnitude == 0):  # one zero, not two
            continue
        return -magnitude if negative else magnitude
