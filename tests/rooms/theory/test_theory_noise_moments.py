"""Appendix C: the moments are those of simulated noise, and no other stretch makes them smaller."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from plandp.errors import ArgumentError
from plandp.theory import best_stretch, compared_noise, least_noise_moment, noise_moment

SENSITIVITY = np.array([4.0, 1.0, 0.3, 0.3, 0.02])
NORMS = (1.0, 2.0, 3.5)
DRAWS = 400_000


def gap(p: float, *, factor: float = 1.0) -> float:
    """Simulated moment minus the formula's, in standard errors; `factor` plants noise of the wrong size."""
    rng, rho = np.random.default_rng(5), 0.7
    s = np.array([1.0, 0.4, 2.0, 0.1, 0.3])
    together = math.sqrt(((SENSITIVITY / s) ** 2).sum())
    noise = factor * rng.normal(0.0, together / math.sqrt(2.0 * rho), (DRAWS, len(s))) * s
    seen = (np.abs(noise) ** p).sum(axis=1)
    expected = noise_moment(SENSITIVITY, s, rho=rho, error_norm=p)
    return float((seen.mean() - expected) / (seen.std() / math.sqrt(DRAWS)))


@pytest.mark.parametrize("p", NORMS)
def test_the_moment_of_any_stretch_is_that_of_simulated_noise(p: float) -> None:
    assert abs(gap(p)) < 5.5  # false alarm 4e-8
    assert gap(p, factor=1.02) > 5.5  # power: noise that is 2% too large


@pytest.mark.parametrize("p", NORMS)
def test_the_best_stretch_is_what_an_optimiser_finds(p: float) -> None:
    def log_moment(log_stretch: np.ndarray) -> float:
        return math.log(noise_moment(SENSITIVITY, np.exp(log_stretch), rho=0.7, error_norm=p))

    found = minimize(log_moment, np.zeros(len(SENSITIVITY)), method="BFGS", options={"gtol": 1e-9})
    stretch = np.exp(found.x - found.x.max())
    np.testing.assert_allclose(stretch, best_stretch(SENSITIVITY, error_norm=p), rtol=1e-3)
    least = least_noise_moment(SENSITIVITY, rho=0.7, error_norm=p)
    assert math.exp(found.fun) == pytest.approx(least, rel=1e-6)
    assert noise_moment(SENSITIVITY, best_stretch(SENSITIVITY, error_norm=p), rho=0.7, error_norm=p) == pytest.approx(
        least, rel=1e-12
    )
    # power: the exponents next to it are worse
    for wrong in (1.0 / (p + 2.0), 1.0, 0.0):
        assert noise_moment(SENSITIVITY, SENSITIVITY**wrong, rho=0.7, error_norm=p) > 1.01 * least


@pytest.mark.parametrize("p", NORMS)
def test_the_formula_of_the_best_stretch_has_the_exponents_of_the_paper(p: float) -> None:
    total = (SENSITIVITY ** (2 * p / (p + 2))).sum()
    printed = math.gamma((p + 1) / 2) / (0.7 ** (p / 2) * math.sqrt(math.pi)) * total ** (1 + p / 2)
    assert least_noise_moment(SENSITIVITY, rho=0.7, error_norm=p) == pytest.approx(printed, rel=1e-12)
    # line 1347 has Δ̄/s in place of Δ̄·s: a misprint, since it is something else
    s = best_stretch(SENSITIVITY, error_norm=p)
    together = math.sqrt(((SENSITIVITY / s) ** 2).sum())
    assert ((together * s) ** p).sum() == pytest.approx(total ** (1 + p / 2), rel=1e-12)
    assert ((together / s) ** p).sum() > 2 * total ** (1 + p / 2)


def test_a_query_that_cannot_move_needs_no_noise() -> None:
    assert best_stretch([2.0, 0.0]).tolist() == [1.0, 0.0]
    assert noise_moment([2.0, 0.0], [1.0, 0.0], rho=1.0) == pytest.approx(least_noise_moment([2.0], rho=1.0))


@pytest.mark.parametrize("p", NORMS)
def test_plan_is_never_behind_and_up_to_the_root_of_d_ahead(p: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        compared = compared_noise(rows=100, spread=np.exp(rng.normal(0, 3, 20)), rho=1.0, error_norm=p)
        assert compared.plan <= min(compared.gaussian, compared.mahalanobis) * (1 + 1e-12)
    even = compared_noise(rows=100, spread=np.full(400, 3.0), rho=1.0, error_norm=p)
    assert even.plan == pytest.approx(even.gaussian) == pytest.approx(even.mahalanobis)
    skewed = compared_noise(rows=100, spread=np.append(1.0, np.full(399, 1e-30)), rho=1.0, error_norm=p)
    assert skewed.gaussian / skewed.plan == pytest.approx(400 ** (1 / p), rel=1e-3)
    assert skewed.mahalanobis / skewed.plan == pytest.approx(20.0, rel=1e-3)


def test_compared_noise_is_that_of_a_clipped_mean() -> None:
    # sensitivity 2C of the sum, σ = 2C/√(2ρ), divided by n; without a stretch on all d coordinates
    σ, n, rho, reach = np.array([3.0, 4.0]), 50, 0.2, 1.5
    C = reach * 5.0
    expected = math.sqrt(2) * 2 * C / math.sqrt(2 * rho) / n
    assert compared_noise(rows=n, spread=σ, rho=rho, reach=reach).gaussian == pytest.approx(expected)


def test_nonsense_is_refused() -> None:
    for sensitivity, stretch, name in (
        ([1.0, -1.0], [1.0, 1.0], "sensitivity"),
        ([0.0], [1.0], "sensitivity"),
        ([[1.0]], [1.0], "sensitivity"),
        ([1.0, 1.0], [1.0], "stretch"),
        ([1.0, 1.0], [1.0, 0.0], "stretch"),
    ):
        with pytest.raises(ArgumentError, match=f"^{name}: "):
            noise_moment(sensitivity, stretch, rho=1.0)
    with pytest.raises(ArgumentError, match=r"^error_norm: "):
        least_noise_moment([1.0], rho=1.0, error_norm=0.5)
