from fractions import Fraction

import numpy as np
import pytest

from plandp.noise.bits import SeededBits, uniform_integer
from plandp.noise.discrete_gaussian import LARGEST_SIGMA2, SMALLEST_SIGMA2, fits_int64
from plandp.noise.exponential import exp_bounds
from plandp.noise.staircase import Staircase, staircase_for


def many_sigma2() -> list[Fraction]:
    bits = SeededBits(21)
    edges = [Fraction(2) ** power for power in (*range(-40, 97, 4), 97, 200, -100, -1000, 5000)]
    edges += [Fraction(16) * 4**s + Fraction(sign, 10**40) for s in range(46) for sign in (-1, 1)]
    edges += [Fraction(4 * k * k, 361) + Fraction(sign, 10**40) for k in range(1, 80) for sign in (-1, 0, 1)]
    rationals = [Fraction(1 + uniform_integer(bits, 1 + i), 1 + uniform_integer(bits, 1 + i // 3)) for i in range(120)]
    return [sigma2 for sigma2 in edges + rationals if sigma2 > 0]


def first_of(staircase: Staircase, block: int) -> int:
    return block << staircase.width_bits


@pytest.mark.parametrize(
    "sigma2", many_sigma2(), ids=lambda sigma2: f"{float(sigma2):.6g}" if sigma2 < 2**999 else "huge"
)
def test_staircase_keeps_what_the_proof_needs(sigma2: Fraction) -> None:
    staircase = staircase_for(sigma2)
    width, blocks = 1 << staircase.width_bits, staircase.tail_block
    # Proposals are dyadic: all 2^16 selectors are used, at least one for the tail.
    assert sum(staircase.weights) + staircase.tail_weight == 1 << 16
    assert min(staircase.weights) >= 1
    assert staircase.tail_weight >= 1
    assert np.array_equal(np.bincount(staircase.block_of_selector), [*staircase.weights, staircase.tail_weight])
    # Width: at most sigma/4 (or 1), and more than sigma/8.
    assert width == 1 or 16 * width**2 <= sigma2
    assert 64 * width**2 > sigma2
    # The tail starts at 9.5 sigma, not a block later.
    assert first_of(staircase, blocks) ** 2 >= Fraction(361, 4) * sigma2
    assert blocks == 1 or first_of(staircase, blocks - 1) ** 2 < Fraction(361, 4) * sigma2
    assert blocks <= 76
    # The envelope lies above the Gaussian at the start of each block, where it is highest.
    for block, weight in enumerate(staircase.weights):
        power = Fraction(first_of(staircase, block) ** 2) / (2 * sigma2)
        _, upper = exp_bounds(power.numerator, power.denominator, 128)
        assert weight << 128 >= staircase.weights[0] * upper
    # ... and in the tail by a factor of 2^48.
    for g in range(6):
        power = Fraction(first_of(staircase, blocks + g) ** 2) / (2 * sigma2)
        _, upper = exp_bounds(power.numerator, power.denominator, 200)
        assert staircase.weights[0] * upper << (g + 1 + 48) < staircase.tail_weight << 200
    # Magnitudes that the float64 filter sees are exact in float64.
    if fits_int64(sigma2):
        assert first_of(staircase, blocks + 1) < 1 << 53


@pytest.mark.parametrize("sigma2", [Fraction(1, 9), Fraction(3), Fraction(100), Fraction(1 << 60)], ids=str)
def test_acceptance_rate_is_about_right(sigma2: Fraction) -> None:
    staircase = staircase_for(sigma2)
    gaussian_sum = 1 + 2 * sum(np.exp(-(np.arange(1, 400) ** 2) / (2 * float(sigma2)))) if sigma2 < 2000 else None
    half = gaussian_sum / 2 if gaussian_sum else np.sqrt(np.pi / 2) * float(sigma2) ** 0.5
    exact = staircase.weights[0] / 2**16 * half / (1 << staircase.width_bits)
    assert staircase.acceptance_rate == pytest.approx(exact, rel=1e-3)
    assert staircase.acceptance_rate > 0.49


def test_range_served_in_int64() -> None:
    just = Fraction(1, 10**30)
    assert fits_int64(SMALLEST_SIGMA2)
    assert fits_int64(LARGEST_SIGMA2)
    assert not fits_int64(SMALLEST_SIGMA2 - just)
    assert not fits_int64(LARGEST_SIGMA2 + just)
    assert Fraction(1, 1 << 40) == SMALLEST_SIGMA2
    assert Fraction(1 << 96) == LARGEST_SIGMA2


def test_staircase_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        staircase_for(Fraction(5)).block_of_selector[0] = 3
