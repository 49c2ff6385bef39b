"""The exact discrete Gaussian N_Z(0, sigma2), P(x) ∝ exp(-x²/(2 sigma2)), drawn many at a time in int64."""

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.proposals import keep_proposals
from plandp.noise.acceptance import (
    EXPONENT_CEILING,
    STEPS_PER_UNIT,
    envelope_ratios,
    estimated_acceptance,
    exp_table,
    exponent_per_square,
    kept_magnitude,
)
from plandp.noise.bits import Bits, unsigned_words, whole_bytes
from plandp.noise.staircase import SELECTOR_BITS, Staircase, staircase_for

_SMALLEST_BITS, _LARGEST_BITS = 40, 96
SMALLEST_SIGMA2 = Fraction(1, 1 << _SMALLEST_BITS)
LARGEST_SIGMA2 = Fraction(1 << _LARGEST_BITS)
_PREFIX_BITS = 64 - SELECTOR_BITS - 1
_LARGEST_BATCH = 1 << 13
# The estimate is off by less than 2^-35; only proposals nearer to the edge than this go to the exact verdict.
_MARGIN = 2.0**-30
_INT64_MAX = (1 << 63) - 1


def fits_int64(sigma2: Fraction) -> bool:
    """Say whether `draw_discrete_gaussian` serves this sigma2."""
    # in integers, which takes a tenth of the time of comparing fractions
    numerator, denominator = sigma2.numerator, sigma2.denominator
    return denominator <= numerator << _SMALLEST_BITS and numerator <= denominator << _LARGEST_BITS


def draw_discrete_gaussian(count: int, sigma2: Fraction, bits: Bits) -> NDArray[np.int64]:
    """Return `count` independent exact draws of N_Z(0, sigma2), for 2^-40 <= sigma2 <= 2^96.

    No intermediate overflows; a draw beyond ±(2^63 - 1) is set to that end (probability below exp(-2^28)).
    """
    staircase = staircase_for(sigma2)
    draws = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        wanted = count - done
        proposals = int(wanted / staircase.acceptance_rate) + 5 * isqrt(wanted) + 8
        kept = _kept_of_batch(staircase, min(_LARGEST_BATCH, proposals), bits)[:wanted]
        draws[done : done + kept.size] = kept
        done += kept.size
    return draws


def _kept_of_batch(staircase: Staircase, proposals: int, bits: Bits) -> NDArray[np.int64]:
    """Make independent proposals and return the kept ones in order; all but ~2^-29 cost the same work."""
    # One word per proposal: 16 bits select the block, one is the sign, 47 begin the uniform real R.
    word = unsigned_words(bits, words=proposals, nbytes=8)
    width_bits = staircase.width_bits
    offset = unsigned_words(bits, words=proposals, nbytes=whole_bytes(width_bits)) if width_bits else word[:0]
    keep = compiled(keep_proposals)
    if keep is not None:
        draws, tally = np.empty(proposals, np.int64), np.empty(2, np.int64)
        keep(
            word,
            offset,
            staircase.block_of_selector,
            SELECTOR_BITS,
            width_bits,
            exponent_per_square(staircase),
            EXPONENT_CEILING,
            exp_table(),
            float(STEPS_PER_UNIT),
            envelope_ratios(staircase),
            _MARGIN,
            draws,
            tally,
        )
        if tally[1] == 0:
            return draws[: tally[0]]
    return _kept_by_exact_verdicts(staircase, word, offset, bits)


def _kept_by_exact_verdicts(
    staircase: Staircase,
    word: NDArray[np.unsignedinteger[Any]],
    offset: NDArray[np.unsignedinteger[Any]],
    bits: Bits,
) -> NDArray[np.int64]:
    """What the compiled loop does, and more: proposals that are too close to tell get an exact verdict."""
    block = staircase.block_of_selector[(word & np.uint64((1 << SELECTOR_BITS) - 1)).astype(np.intp)]
    negative = (word & np.uint64(1 << SELECTOR_BITS)) != 0
    prefix = word >> np.uint64(SELECTOR_BITS + 1)
    width_bits = staircase.width_bits
    magnitude = block.astype(np.int64) << width_bits
    if width_bits:
        magnitude |= offset.astype(np.int64) & ((1 << width_bits) - 1)
    surplus = estimated_acceptance(staircase, block, magnitude)
    surplus -= prefix.astype(np.float64) * 2.0**-_PREFIX_BITS
    kept = surplus > _MARGIN
    for i in np.flatnonzero(np.abs(surplus) <= _MARGIN):
        exact = kept_magnitude(
            staircase,
            block=int(block[i]),
            offset=int(magnitude[i]) & ((1 << width_bits) - 1),
            prefix=int(prefix[i]),
            prefix_bits=_PREFIX_BITS,
            bits=bits,
        )
        kept[i] = exact is not None
        if exact is not None:
            magnitude[i] = min(exact, _INT64_MAX)
    kept &= ~(negative & (magnitude == 0))  # one zero, not two
    magnitude *= 1 - 2 * negative.astype(np.int64)
    return magnitude[kept]
