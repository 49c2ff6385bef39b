"""The tails with constants are upper bounds for the laws they speak of, and not far above the worst of them."""

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

from plandp.errors import ArgumentError
from plandp.theory import BinaryRows, GaussianRows, WellConcentrated

FAILURES = (0.2, 1e-2, 1e-4, 1e-9)


@pytest.mark.parametrize("β", FAILURES)
def test_gaussian_rows_on_a_line_and_in_a_ball(β: float) -> None:
    u = GaussianRows().reach(β, columns=50, error_norm=2.0)
    assert u == GaussianRows().stretched_reach(β, columns=50)
    on_a_line = 2.0 * norm.sf(u)  # fully correlated: ‖x - μ‖_p = |Z|·‖σ‖_p for every p
    assert β / 12 < on_a_line <= β
    for d in (1, 2, 3, 50):
        assert chi2.sf(u * u * d, d) <= β  # independent and even


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, 6.0])
def test_gaussian_rows_in_other_norms(p: float) -> None:
    # 200,000 draws; a law that just met β = .01 would be 5.5 standard deviations above with probability 2e-8
    rng, β, draws = np.random.default_rng(3), 0.01, 200_000
    u = GaussianRows().reach(β, columns=4, error_norm=p)
    assert 2.0 * norm.sf(u) <= β
    σ = np.array([5.0, 1.0, 1.0, 0.2])
    mixing = rng.normal(size=(4, 4))
    for draw in (rng.normal(size=(draws, 4)), rng.normal(size=(draws, 4)) @ (mixing / np.linalg.norm(mixing, axis=0))):
        seen = (((np.abs(draw * σ)) ** p).sum(axis=1) > (u**p) * (σ**p).sum()).mean()
        assert seen <= β + 5.5 * math.sqrt(β / draws)


@pytest.mark.parametrize("β", FAILURES)
@pytest.mark.parametrize("d", [64, 1024])
def test_binary_rows_exactly(d: int, β: float) -> None:
    least = (1 - math.sqrt(1 - 4 * d**-0.4)) / 2  # σ² = d^(-2/5)
    for q in (least, (least + 0.5) / 2, 0.5):
        σ = math.sqrt(q * (1 - q))
        ones = np.arange(d + 1)
        plain = ones * (1 - q) + (d - ones) * q
        stretched = (ones * (1 - q) ** 2 + (d - ones) * q**2) / σ ** (4 / 3)
        chance = binom.pmf(ones, d, q)
        t = BinaryRows().reach(β, columns=d, error_norm=1.0)
        assert chance[plain > t * d * σ].sum() <= β
        u = BinaryRows().stretched_reach(β, columns=d)
        assert chance[stretched > u * u * d * σ ** (2 / 3)].sum() <= β


def test_binary_rows_know_the_first_norm_only() -> None:
    with pytest.raises(ArgumentError, match=r"^error_norm: "):
        BinaryRows().reach(0.1, columns=10, error_norm=2.0)


def test_the_definitions_with_their_constants_said() -> None:
    law = WellConcentrated(rate=0.5, front=2.0)
    t = law.reach(1e-4, columns=10, error_norm=3.0) ** 3
    assert 2.0 * math.exp(-0.5 * t) == pytest.approx(1e-4)
    assert law.stretched_reach(1e-4, columns=10) == pytest.approx(math.sqrt(t))
    assert law.reach(0.9, columns=1000, error_norm=1.0) == pytest.approx(math.log(1000))  # nothing is said below
