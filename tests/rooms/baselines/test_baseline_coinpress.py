"""CoinPress: the balls of its published code, its budget, and the same errors as a plain float version of it."""

import math
from fractions import Fraction

import numpy as np
import pytest

import plandp
from plandp.methods import coinpress
from plandp.terms.columns import read_columns
from plandp.theory.coinpress import assumed_spread, coinpress_balls

D, RHO = 50, 0.5  # of the experiments that its authors published, with the ball 10·√d


def plain(table: np.ndarray, radius: float, costs: list[float], rng: np.random.Generator) -> np.ndarray:
    """Their algorithm in a few lines of floats, with Gaussian noise."""
    n, d = table.shape
    log = math.log(100.0)
    γ = math.sqrt(d + 2 * math.sqrt(d * log) + 2 * log)
    center = np.zeros(d)
    for rho in costs:
        reach = min(math.sqrt(radius**2 + 6 * radius + γ**2), radius + γ)
        rows = table - center
        rows *= np.minimum(1.0, reach / np.linalg.norm(rows, axis=1))[:, None]
        noise = 2 * reach / (n * math.sqrt(2 * rho))
        center = center + rows.mean(axis=0) + rng.normal(0, noise, d)
        radius = γ * math.sqrt(1 / n + noise**2)
    return center


def costs_of(steps: int) -> list[float]:
    return [RHO] if steps == 1 else [RHO / 4 / (steps - 1)] * (steps - 1) + [0.75 * RHO]


@pytest.mark.parametrize(("n", "steps"), [(1000, 1), (1000, 2), (1000, 4), (5000, 2), (5000, 3)])
def test_errors_are_those_of_the_plain_version(n: int, steps: int) -> None:
    # Figures of the CoinPress paper (d = 50, ball of 10·√d, ρ = ½, n from 1000 on) are pictures only: their algorithm
    # stands in.  Noise 15% off changes the mean of 25 noise errors by 7 or more standard errors; seeds are fixed.
    rng = np.random.default_rng(n + steps)
    ours, theirs = [], []
    for seed in range(25):
        table = rng.normal(0, 1, (n, D))
        release = plandp.mean(
            table, bounds=(-10, 10), rho=RHO, spread=1, method=coinpress(steps=steps), testing_seed=seed
        )
        ours.append(np.linalg.norm(release.estimate - table.mean(axis=0)))
        theirs.append(np.linalg.norm(plain(table, 10 * math.sqrt(D), costs_of(steps), rng) - table.mean(axis=0)))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.08)


def test_more_steps_bear_wider_bounds() -> None:
    # Their second experiment: a ball of 10,000·√d is too much for few steps, and not for ten.
    table = np.random.default_rng(2).normal(0, 1, (1000, D))
    error = {
        steps: np.linalg.norm(
            plandp.mean(
                table, bounds=(-1e4, 1e4), rho=RHO, spread=1, method=coinpress(steps=steps), testing_seed=1
            ).estimate
        )
        for steps in (1, 4, 10)
    }
    assert error[1] > 500 * error[10]
    assert error[4] > error[10]
    assert error[10] < 0.5


def test_the_balls_shrink_as_published() -> None:
    design = coinpress(steps=3).plan(
        n=1000, columns=read_columns(labels=range(D), bounds=(-10, 10), spread=1), rho=Fraction(1, 2), error_norm=2.0
    )
    first, second, third = coinpress_balls(np.ones(D), design)
    assert (first.rho, second.rho, third.rho) == (Fraction(1, 16), Fraction(1, 16), Fraction(3, 8))
    γ = math.sqrt(50 + 2 * math.sqrt(50 * math.log(100)) + 2 * math.log(100))
    assert first.radius == pytest.approx(10 * math.sqrt(50))
    assert first.reach == pytest.approx(math.sqrt(5000 + 6 * math.sqrt(5000) + γ**2))
    assert first.noise_std == pytest.approx(2 * first.reach / (1000 * math.sqrt(1 / 8)))
    assert second.radius == pytest.approx(γ * math.sqrt(1 / 1000 + first.noise_std**2))
    assert third.radius < second.radius < first.radius


def test_a_ball_that_would_grow_is_kept() -> None:
    release = plandp.mean(
        np.zeros((2, 3)), bounds=(-10, 10), rho="1e-12", spread=1, method=coinpress(steps=100), testing_seed=1
    )
    assert release.center.tolist() == [0.0, 0.0, 0.0]
    assert release.radius < 30
    assert len(release.receipt.payments) == 100


def test_the_receipt_shows_rough_means_and_the_last() -> None:
    table = np.random.default_rng(3).normal(0, 1, (400, 3))
    release = plandp.mean(table, bounds=(-10, 10), rho=1, spread=1, method="coinpress", testing_seed=1)
    paid = [(payment.step, payment.rho) for payment in release.receipt.payments]
    assert paid == [("center", Fraction(1, 12))] * 3 + [("sum", Fraction(3, 4))]
    alone = plandp.mean(table, bounds=(-10, 10), rho=1, spread=1, method=coinpress(steps=1), testing_seed=1)
    assert [(payment.step, payment.rho) for payment in alone.receipt.payments] == [("sum", Fraction(1))]


def test_spreads_are_given_or_assumed_and_never_wider_than_the_box() -> None:
    given = read_columns(labels=range(2), bounds=(-10, 10), spread=[1, 1e300])
    assert assumed_spread(given, 0.1).tolist() == [1.0, 10.0]
    none = read_columns(labels=range(2), bounds=[(-10, 10), (0, 4)], error_scale=2)
    assert assumed_spread(none, 0.1) == pytest.approx([1.0, 0.2])
    table = np.random.default_rng(4).normal(0, 1, (400, 2))
    release = plandp.mean(table, bounds=(-10, 10), rho=1, method="coinpress", testing_seed=1)
    assert release.spread is None
    assert any("no spread is given, so 0.1 of the width" in warning for warning in release.warnings)
    known = plandp.mean(table, bounds=(-10, 10), rho=1, spread=1, method="coinpress", testing_seed=1)
    assert known.spread.tolist() == [1.0, 1.0]
    assert known.warnings == ()
    few = plandp.mean(table[:3], bounds=(-10, 10), rho=0.01, spread=1, method="coinpress", testing_seed=1)
    assert any("larger than the rows are long" in warning for warning in few.warnings)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"steps": 101}, {"steps": 2.0}, {"spread_share": 0}])
@pytest.mark.parametrize("more", [{}, {"spread_share": 2}, {"spread_share": "wide"}, {"spread_share": float("nan")}])
def test_other_steps_and_shares_are_refused(wrong: dict, more: dict) -> None:
    with pytest.raises(plandp.ArgumentError):
        coinpress(**{**wrong, **more})
