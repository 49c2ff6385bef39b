"""`plandp.check` for baskets, clicks and counts."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import plandp
from plandp.errors import ArgumentError

PUBLIC: dict[str, Any] = {"n": 20_000, "d": 400, "kind": "binary", "rho": 0.5, "error_norm": 1}


def test_the_split_is_that_of_the_receipt_to_come() -> None:
    for kind, bounds in (("binary", None), ("nonnegative", (0, 9))):
        outlook = plandp.check(n=50, d=3, kind=kind, bounds=bounds, rho="1/3")
        release = plandp.mean(np.ones((50, 3)), kind=kind, bounds=bounds, rho="1/3", testing_seed=1)
        assert outlook.steps() == tuple((step.step, step.rho) for step in release.receipt.steps())
        assert sum((rho for _, rho in outlook.steps()), Fraction(0)) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("n", "d", "rho", "p"), [(8_000, 300, 1.0, 1), (8_000, 300, 0.1, 1), (5_000, 200, 0.5, 2), (3_000, 600, 1.0, 1.5)]
)
def test_errors_of_independent_items_are_as_predicted(n: int, d: int, rho: float, p: float) -> None:
    # Medians of 7 runs with fixed seeds; a noise wrong by a factor of two would show, a third of it would not.
    popularity = 0.5 / np.arange(1, d + 1)
    rows = csr_array(np.random.default_rng(91).random((n, d)) < popularity)
    mean = np.asarray(rows.sum(axis=0)).ravel() / n
    errors = [
        float((np.abs(release.estimate - mean) ** p).sum() ** (1 / p))
        for release in (plandp.mean(rows, kind="binary", rho=rho, error_norm=p, testing_seed=seed) for seed in range(7))
    ]
    outlook = plandp.check(n=n, d=d, kind="binary", rho=rho, error_norm=p)
    assert 0.65 < float(np.median(errors)) / outlook.error < 1.5


def test_the_smallest_that_would_work_works_and_less_does_not() -> None:
    outlook = plandp.check(**PUBLIC)
    assert outlook.feasible
    assert outlook.smallest_n is not None
    assert plandp.check(**{**PUBLIC, "n": outlook.smallest_n}).feasible
    assert not plandp.check(**{**PUBLIC, "n": outlook.smallest_n - 1}).feasible
    assert outlook.smallest_rho is not None
    assert plandp.check(**{**PUBLIC, "rho": outlook.smallest_rho}).feasible
    assert not plandp.check(**{**PUBLIC, "rho": 0.97 * outlook.smallest_rho}).feasible


def test_hopeless_cases_are_told() -> None:
    outlook = plandp.check(n=700, d=290_000, kind="binary", rho=0.01, error_norm=1)
    assert not outlook.feasible
    assert outlook.spreads == "not found"
    assert "cannot be told from noise" in outlook.reasons[0]
    assert outlook.error <= outlook.error / outlook.error_in_spreads  # never worse than zeros
    assert not plandp.check(n=20, d=5, kind="binary", rho=0.01).feasible


def test_curves_fall_and_words_say_what_is_assumed() -> None:
    outlook = plandp.check(**PUBLIC)
    for curve in (outlook.by_rho, outlook.by_n):
        errors = [point.error for point in curve]
        assert errors == sorted(errors, reverse=True)
        alike = [point.gaussian_error * point.n * point.rho**0.5 for point in curve]
        assert alike == pytest.approx([outlook.gaussian_error * outlook.n * 0.5**0.5] * len(curve))
    text = repr(outlook)
    assert "kind binary" in text
    assert "in 1 of 2i rows\n" in text
    assert "wider bounds would cost nothing" in text
    asked = plandp.check(n=900, d=4, kind="nonnegative", bounds=(0, 5), rho=1)
    assert "VALUES OF A TENTH OF THEIR BOUND" in repr(asked)


def test_given_root_mean_squares_are_used() -> None:
    rare = plandp.check(**PUBLIC, spread=0.01)
    common = plandp.check(**PUBLIC, spread=0.7)
    assert not rare.spread_assumed
    assert rare.spread.tolist() == [0.01] * 400
    assert rare.error < common.error
    assert plandp.check(**PUBLIC, spread=1.0).spread.tolist() == [1.0] * 400  # in every row
    assert (
        plandp.check(**{**PUBLIC, "kind": "nonnegative", "bounds": (0, 5)}, spread=5.0).spread.tolist() == [5.0] * 400
    )


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"bounds": (0, 2)}, "bounds"),
        ({"bounds": (-1, 1)}, "bounds"),
        ({"kind": "nonnegative"}, "bounds"),
        ({"method": "gaussian"}, "method"),
        ({"smallest_spread": 0.1}, "smallest_spread"),
        ({"spread": 2.0}, "spread"),
        ({"kind": "nonnegative", "bounds": (0, 5), "spread": 5.1}, "spread"),
        ({"kind": "sparse"}, "kind"),
        ({"d": None}, "d"),
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        plandp.check(**{**PUBLIC, **wrong})
    assert refusal.value.argument == argument
