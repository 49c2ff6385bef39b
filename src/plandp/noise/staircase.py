"""The staircase under which a discrete Gaussian is drawn: everything that depends on sigma2 alone.

Proof that the draw is exact: docs/proofs/discrete_gaussian.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from plandp.noise.exponential import ceil_shift, exp_bounds

SELECTOR_BITS = 16
_SLOTS = 1 << SELECTOR_BITS
_ENVELOPE_PRECISION = 40
_WORKING_PRECISION = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class Staircase:
    """Blocks of 2^width_bits magnitudes, block k proposed with the dyadic probability weights[k] / 2^16.

    Guarantee: weights[k] >= weights[0] · exp(-x²/(2 sigma2)) for every x of block k, so that thinning by
    (weights[0] / weights[k]) · exp(-x²/(2 sigma2)) <= 1 leaves exactly the half discrete Gaussian. The blocks
    from len(weights) on share tail_weight: half to the first, a quarter to the next, and so on.
    """

    sigma2: Fraction
    width_bits: int
    weights: tuple[int, ...]
    tail_weight: int
    block_of_selector: NDArray[np.uint8]
    acceptance_rate: float

    @property
    def tail_block(self) -> int:
        """The first block of the tail, which starts at 9.5 sigma or later."""
        return len(self.weights)


def staircase_for(sigma2: Fraction) -> Staircase:
    """Build the staircase of any rational sigma2 > 0, in integer arithmetic, or find it."""
    return _staircase(sigma2.numerator, sigma2.denominator)


@lru_cache(maxsize=64)
def _staircase(numerator: int, denominator: int) -> Staircase:
    # kept by two integers, which are looked up faster than a fraction
    # Largest width 2^s <= sigma/4, but at least 1.
    width_bits = max(0, (numerator // (16 * denominator)).bit_length() - 1) // 2
    # Fewest blocks, at least one, that reach 9.5 sigma: (2 · blocks · width)² >= 19² · sigma2.
    reach = 361 * numerator
    square_width = 4 * denominator << 2 * width_bits
    blocks = isqrt((reach - 1) // square_width) + 1
    envelope = _envelope(denominator << 2 * width_bits, 2 * numerator, blocks)
    # Rounding each weight up adds less than 1 per block, so at least one slot is left for the tail.
    peak = ((_SLOTS - 1 - blocks) << _ENVELOPE_PRECISION) // sum(envelope)
    weights = tuple(-(-peak * upper >> _ENVELOPE_PRECISION) for upper in envelope)
    tail_weight = _SLOTS - sum(weights)
    block_of_selector = np.repeat(np.arange(blocks + 1, dtype=np.uint8), [*weights, tail_weight])
    block_of_selector.setflags(write=False)
    return Staircase(
        sigma2=Fraction(numerator, denominator),
        width_bits=width_bits,
        weights=weights,
        tail_weight=tail_weight,
        block_of_selector=block_of_selector,
        # Used for batch sizes only: half the sum over all integers, by the trapezoidal rule.
        acceptance_rate=peak * (sum(envelope) / (1 << _ENVELOPE_PRECISION) - 0.5) / _SLOTS,
    )


def _envelope(a: int, b: int, blocks: int) -> list[int]:
    """Return integers not below 2^40 · exp(-k²·a/b) for k = 0 … blocks-1; the first is 2^40."""
    # exp(-(k+1)²t) = exp(-k²t) · exp(-(2k+1)t): two products a block, each rounded up, as both factors are
    value = 1 << _WORKING_PRECISION
    factor, per_block = (exp_bounds(times * a, b, _WORKING_PRECISION)[1] for times in (1, 2))
    envelope = []
    for _ in range(blocks):
        envelope.append(ceil_shift(value, _WORKING_PRECISION - _ENVELOPE_PRECISION))
        value = ceil_shift(value * factor, _WORKING_PRECISION)
        factor = ceil_shift(factor * per_block, _WORKING_PRECISION)
    return envelope
