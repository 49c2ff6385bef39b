"""The law of the receipt: what was paid is ρ, exactly, whatever the public numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plandp
from plandp.methods import NAMES, find_estimator
from plandp.terms.columns import read_columns

METHODS = NAMES  # every method that there is passes the common battery


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    n=st.one_of(st.integers(1, 100), st.integers(1, 10**10)),
    d=st.integers(1, 40),
    rho=st.fractions(Fraction(1, 10**12), Fraction(10**6)),
    method=st.sampled_from(METHODS),
    p=st.sampled_from([1.0, 1.5, 2.0, 50.0]),
    known=st.booleans(),
    finest=st.integers(0, 45),
)
def test_a_split_adds_up_exactly(
    n: int, d: int, rho: Fraction, method: str, p: float, known: bool, finest: int
) -> None:
    columns = read_columns(labels=range(d), bounds=(0, 1), spread=0.1 if known else None, smallest_spread=2.0**-finest)
    split = find_estimator(method).plan(n=n, columns=columns, rho=rho, error_norm=p).split
    parts = (split.center, split.spread_bound, split.spread, split.radius, split.sum)
    assert all(isinstance(part, Fraction) and part >= 0 for part in parts)
    assert sum(parts) == split.rho == rho
    assert split.sum > rho / 4
    # A budget is planned for steps that run, and for both parts of the spread, where it has two, or none.
    if method == "plan-classic":  # as the paper says, whatever n and d are
        center, spread = (rho / 4, 0) if known else (rho / 16, rho * 3 / 16)
        assert parts == (center, 0, spread, rho * 3 / 16, rho * 9 / 16)
    else:
        assert (split.spread > 0) == (split.spread_bound > 0)
        assert not split.spread or (method in ("plan", "mahalanobis") and not known and split.center > 0)
    assert (split.radius > 0) == (method not in ("gaussian", "coinpress"))


CASES = [
    # n, d, rho, error_norm, spread
    (1, 1, "1", 2, None),
    (7, 3, "1/3", 1, None),
    (50, 2, "0.1", 2, 0.2),
    (50, 2, "1000", 50, None),
    (700, 2, "0.7", 1.5, None),
    (6000, 1, "1000000", 2, None),
    (6000, 2, "22/7", 2, 0.2),
    (300, 9, "1e-12", 2, None),
]


@pytest.mark.parametrize(("n", "d", "rho", "p", "spread"), CASES)
@pytest.mark.parametrize("method", METHODS)
def test_a_release_pays_its_budget_exactly(
    n: int, d: int, rho: str, p: float, spread: float | None, method: str
) -> None:
    rng = np.random.default_rng(62)
    release = plandp.mean(
        rng.uniform(0, 1, (n, d)),
        bounds=(0, 1),
        rho=rho,
        error_norm=p,
        spread=spread,
        smallest_spread=2.0**-8,
        method=method,
        testing_seed=63,
    )
    receipt = release.receipt
    assert receipt.rho == Fraction(rho)
    assert sum(payment.rho for payment in receipt.payments) == Fraction(rho)
    assert sum(step.rho for step in receipt.steps()) == Fraction(rho)
    steps = [step.step for step in receipt.steps()]
    assert steps[-1] == "sum"
    assert spread is None or "spread" not in steps
    # Real releases survive the journey through JSON to the last bit.
    again = plandp.MeanRelease.from_json(release.to_json())
    assert again == release
    assert again.receipt == receipt
    assert again.estimate.tobytes() == release.estimate.tobytes()


def test_an_epsilon_and_delta_budget_is_paid_exactly_too() -> None:
    release = plandp.mean(np.zeros((100, 2)), bounds=(0, 1), epsilon=1.0, delta=1e-6, testing_seed=64)
    assert release.receipt.epsilon(1e-6) <= 1.0
    assert release.receipt.epsilon(1e-6) == pytest.approx(1.0, rel=1e-6)


def test_the_payments_do_not_depend_on_the_values() -> None:
    # The costs are fixed before the data is seen; only the sum's sensitivity follows the released radius.
    rng = np.random.default_rng(65)
    tables = (rng.normal(0, 1, (500, 3)), np.full((500, 3), np.nan), rng.standard_cauchy((500, 3)), np.zeros((500, 3)))
    seen = {
        tuple(
            (payment.step, payment.rho, payment.values)
            for payment in plandp.mean(table, bounds=(-99, 99), rho=2, testing_seed=seed).receipt.payments
        )
        for seed, table in enumerate(tables)
    }
    assert len(seen) == 1
