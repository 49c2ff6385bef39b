from fractions import Fraction

import numpy as np
import pytest

from plandp.noise.acceptance import estimated_acceptance, kept_magnitude
from plandp.noise.exponential import exp_bounds
from plandp.noise.staircase import Staircase, staircase_for

SIGMA2 = [
    Fraction(1, 4),
    Fraction(7, 3),
    Fraction(355, 113),
    Fraction(100),
    Fraction(10**9, 7),
    Fraction(1 << 96),
]


class BitsWantedError(Exception):
    """The verdict needs more bits than the script holds."""


class Scripted:
    """Hands out the given bytes, one entry per call."""

    def __init__(self, *script: bytes) -> None:
        self.script = list(script)

    def take(self, nbytes: int) -> bytes:
        if not self.script:
            raise BitsWantedError
        taken = self.script.pop(0)
        assert len(taken) == nbytes
        return taken


def acceptance(staircase: Staircase, *, block: int, offset: int) -> Fraction:
    """The exact acceptance probability up to 2^-250, straight from its definition."""
    if block < staircase.tail_block:
        weight = Fraction(staircase.weights[block])
    else:
        weight = Fraction(staircase.tail_weight, 2 << (block - staircase.tail_block))
    power = Fraction(((block << staircase.width_bits) + offset) ** 2) / (2 * staircase.sigma2)
    lower, _ = exp_bounds(power.numerator, power.denominator, 300)
    return staircase.weights[0] / weight * Fraction(lower, 1 << 300)


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
def test_verdict_is_exact_for_every_prefix(sigma2: Fraction) -> None:
    staircase = staircase_for(sigma2)
    width = 1 << staircase.width_bits
    for block in range(staircase.tail_block):
        for offset in {0, width // 2, width - 1}:
            alpha = acceptance(staircase, block=block, offset=offset)
            verdicts = {"kept": 0, "dropped": 0, "open": 0}
            for prefix in range(256):
                try:
                    kept = kept_magnitude(
                        staircase, block=block, offset=offset, prefix=prefix, prefix_bits=8, bits=Scripted()
                    )
                except BitsWantedError:
                    verdicts["open"] += 1
                else:
                    verdicts["dropped" if kept is None else "kept"] += 1
                    assert kept in (None, block * width + offset)
            if block == offset == 0:
                assert verdicts == {"kept": 256, "dropped": 0, "open": 0}
            else:
                assert verdicts["kept"] == int(256 * alpha)
                assert verdicts["open"] == 1


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
def test_more_bits_settle_an_open_verdict_on_the_right_side(sigma2: Fraction) -> None:
    staircase = staircase_for(sigma2)
    offset = (1 << staircase.width_bits) - 1
    block = staircase.tail_block // 2
    if block == offset == 0:
        block = staircase.tail_block - 1
    if block == offset == 0:
        return
    threshold = int(acceptance(staircase, block=block, offset=offset) * (1 << 200))
    for distance in (-(1 << 90), -(1 << 20), 1 << 20, 1 << 90):
        # 8 bits of prefix, then three words of 64: a real this many 2^-200 away from the threshold.
        real = threshold + distance
        words = [(real >> shift & ((1 << 64) - 1)).to_bytes(8, "little") for shift in (128, 64, 0)]
        kept = kept_magnitude(
            staircase, block=block, offset=offset, prefix=real >> 192, prefix_bits=8, bits=Scripted(*words)
        )
        assert (kept is not None) == (distance < 0), distance


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
@pytest.mark.parametrize("g", [0, 1, 2, 5])
def test_tail_blocks_are_chosen_by_fair_coins_and_thinned_exactly(sigma2: Fraction, g: int) -> None:
    staircase = staircase_for(sigma2)
    block, offset = staircase.tail_block + g, (1 << staircase.width_bits) // 3
    if sigma2 < 1:  # acceptance here is too small for the words below; small sigma2 has no other tail to test
        return
    threshold = int(acceptance(staircase, block=block, offset=offset) * (1 << 264))
    for distance in (-(1 << 20), 1 << 20):
        real = threshold + distance
        words = [(real >> shift & ((1 << 64) - 1)).to_bytes(8, "little") for shift in (192, 128, 64, 0)]
        kept = kept_magnitude(
            staircase,
            block=staircase.tail_block,
            offset=offset,
            prefix=real >> 256,
            prefix_bits=8,
            bits=Scripted(*[b"\x01"] * g, b"\x00", *words),
        )
        assert kept == ((block << staircase.width_bits) + offset if distance < 0 else None)


@pytest.mark.parametrize("sigma2", [*SIGMA2, Fraction(1, 1 << 40), Fraction(12345, 678)], ids=str)
def test_estimate_is_within_its_proved_error(sigma2: Fraction) -> None:
    staircase = staircase_for(sigma2)
    width = 1 << staircase.width_bits
    offsets = sorted({width * i // 23 for i in range(23)} | {width - 1})
    points = [(block, offset) for block in range(staircase.tail_block + 1) for offset in offsets]
    blocks = np.array([block for block, _ in points], dtype=np.uint8)
    magnitudes = np.array([block * width + offset for block, offset in points], dtype=np.int64)
    estimates = estimated_acceptance(staircase, blocks, magnitudes)
    for (block, offset), estimate in zip(points, estimates.tolist(), strict=True):
        error = abs(Fraction(estimate) - acceptance(staircase, block=block, offset=offset))
        assert error < Fraction(1, 1 << 35)


def test_estimate_leaves_its_arguments_alone() -> None:
    staircase = staircase_for(Fraction(100))
    blocks, magnitudes = np.arange(3, dtype=np.uint8), np.arange(3) << staircase.width_bits
    estimated_acceptance(staircase, blocks, magnitudes)
    assert magnitudes.tolist() == [0, 1 << staircase.width_bits, 2 << staircase.width_bits]
