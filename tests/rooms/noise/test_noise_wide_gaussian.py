from fractions import Fraction

import numpy as np
import pytest

from plandp.noise.bits import OsBits, SeededBits
from plandp.noise.sampler import ExactSampler
from plandp.noise.wide_gaussian import draw_wide_gaussian


@pytest.mark.parametrize(
    "sigma2",
    [Fraction(1, 1 << 1000), Fraction(2), Fraction(1 << 97), Fraction(1 << 200), Fraction(1 << 5000, 3)],
)
def test_draws_are_python_integers(sigma2: Fraction) -> None:
    draws = draw_wide_gaussian(50, sigma2, OsBits())
    assert draws.dtype == np.object_
    assert draws.shape == (50,)
    assert {type(draw) for draw in draws} == {int}
    # Within 12 sigma: false alarm below 1e-30.
    assert all(Fraction(draw) ** 2 <= 144 * sigma2 for draw in draws)
    assert sigma2 < 1 or len(set(draws)) > 1


def test_tiny_sigma_is_zero() -> None:
    assert set(draw_wide_gaussian(50, Fraction(1, 1 << 41), SeededBits(41))) == {0}


def test_no_draws() -> None:
    assert draw_wide_gaussian(0, Fraction(1 << 97), OsBits()).shape == (0,)


def test_seeded_draws_repeat() -> None:
    first, again = (draw_wide_gaussian(20, Fraction(1 << 200), SeededBits(42)) for _ in range(2))
    assert first.tolist() == again.tolist()


@pytest.mark.parametrize(
    ("sigma2", "dtype"),
    [
        (Fraction(1, 1 << 40) - Fraction(1, 1 << 99), np.object_),
        (Fraction(1, 1 << 40), np.int64),
        (Fraction(1), np.int64),
        (Fraction(1 << 96), np.int64),
        (Fraction(1 << 96) + Fraction(1, 1 << 99), np.object_),
    ],
    ids=["below 2^-40", "2^-40", "1", "2^96", "above 2^96"],
)
def test_exact_sampler_chooses_the_width_by_sigma2_alone(sigma2: Fraction, dtype: type) -> None:
    for seed in range(5):
        assert ExactSampler(SeededBits(seed)).draw(3, sigma2).dtype == dtype


def test_only_operating_system_bits_are_secure() -> None:
    assert not ExactSampler(OsBits()).insecure
    assert ExactSampler(SeededBits(1)).insecure
    assert ExactSampler(OsBits()).name == "exact"
