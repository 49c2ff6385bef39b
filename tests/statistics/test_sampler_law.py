"""The exact samplers draw the discrete Gaussian: every integer, every tail, every size of sigma.

Seeds are fixed, so a run is repeatable; over seeds each assertion fails a correct sampler with the stated
probability. The mistakes these tests must catch are kept in tests/privacy/test_sampler_mutants.py.
"""

from fractions import Fraction

import numpy as np
import pytest
from discrete_gaussian_law import large_chi2, low_bits_chi2, moment_z, small_chi2, tail_z

from plandp.noise import discrete_gaussian
from plandp.noise.bits import SeededBits
from plandp.noise.discrete_gaussian import draw_discrete_gaussian
from plandp.noise.wide_gaussian import draw_wide_gaussian

SMALL = [Fraction(9, 100), Fraction(1), Fraction(355, 113), Fraction(1369, 100), Fraction(64), Fraction(2500)]
LARGE = [Fraction(1 << 20), Fraction((1 << 48) + 1, 3), Fraction(1 << 80), Fraction(1 << 96)]
UNLIKELY = 1e-6  # false alarm of each p-value; for z-scores |z| > 4.9 has the same probability


@pytest.mark.parametrize("sigma2", SMALL, ids=str)
def test_every_integer_has_its_probability(sigma2: Fraction) -> None:
    draws = draw_discrete_gaussian(400_000, sigma2, SeededBits(1))
    assert small_chi2(draws, sigma2) > UNLIKELY


@pytest.mark.parametrize("sigma2", SMALL, ids=str)
def test_the_exact_verdict_alone_gives_the_same_law(sigma2: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_gaussian, "_MARGIN", 2.0)
    draws = draw_discrete_gaussian(20_000, sigma2, SeededBits(2))
    assert small_chi2(draws, sigma2) > UNLIKELY


@pytest.mark.parametrize("sigma2", LARGE, ids=str)
def test_bins_low_bits_and_moments_of_large_sigma(sigma2: Fraction) -> None:
    draws = draw_discrete_gaussian(1_000_000, sigma2, SeededBits(3))
    assert large_chi2(draws, sigma2) > UNLIKELY
    assert low_bits_chi2(draws) > UNLIKELY
    for moment, z in moment_z(draws, sigma2).items():
        assert abs(z) < 4.9, moment


@pytest.mark.parametrize("sigma2", LARGE, ids=str)
def test_tails_of_large_sigma(sigma2: Fraction) -> None:
    draws = draw_discrete_gaussian(1_000_000, sigma2, SeededBits(4))
    for sigmas in (1, 2, 3, 4):  # at 4 sigma 63 draws are expected: |z| < 6 has false alarm below 1e-6
        assert abs(tail_z(draws, sigma2, sigmas)) < 6, sigmas


def test_neighbouring_draws_are_uncorrelated() -> None:
    draws = draw_discrete_gaussian(1_000_000, Fraction(1 << 20), SeededBits(5)) / 1024
    for lag in (1, 2, 3):  # each z-score: false alarm 1e-6
        assert abs(np.sum(draws[lag:] * draws[:-lag])) < 4.9 * 1000, lag
        assert abs(np.sum(draws[lag:] ** 2 * draws[:-lag] ** 2 - 1)) < 4.9 * np.sqrt(8) * 1000, lag


@pytest.mark.parametrize("sigma2", SMALL, ids=str)
def test_wide_sampler_has_the_same_law(sigma2: Fraction) -> None:
    draws = draw_wide_gaussian(20_000, sigma2, SeededBits(6)).astype(np.int64)
    assert small_chi2(draws, sigma2) > UNLIKELY


@pytest.mark.parametrize("sigma2", [Fraction((1 << 97) + 1), Fraction(1 << 200, 7)], ids=["2^97+1", "2^200/7"])
def test_wide_sampler_beyond_int64(sigma2: Fraction) -> None:
    draws = draw_wide_gaussian(20_000, sigma2, SeededBits(7))
    assert large_chi2(draws, sigma2, bins=50) > UNLIKELY
    assert low_bits_chi2(draws) > UNLIKELY
    for moment, z in moment_z(draws, sigma2).items():
        assert abs(z) < 4.9, moment


@pytest.mark.long
@pytest.mark.parametrize("sigma2", [Fraction(1 << 20), Fraction(1 << 48), Fraction(1 << 80)], ids=str)
def test_far_tails_and_moments_on_a_hundred_million_draws(sigma2: Fraction) -> None:
    moments = {"mean": 0.0, "variance": 0.0, "fourth moment": 0.0}
    tails = {3.0: 0.0, 4.0: 0.0, 4.5: 0.0, 5.0: 0.0}
    rounds = 100
    for seed in range(rounds):
        draws = draw_discrete_gaussian(1_000_000, sigma2, SeededBits(1000 + seed))
        for moment, z in moment_z(draws, sigma2).items():
            moments[moment] += z / rounds**0.5
        for sigmas in tails:
            tails[sigmas] += tail_z(draws, sigma2, sigmas) / rounds**0.5
    # The sum of independent z-scores: false alarm 1e-6 each; at 5 sigma 57 draws are expected, hence 6.
    assert all(abs(z) < 4.9 for z in moments.values()), moments
    assert all(abs(z) < 6 for z in tails.values()), tails
