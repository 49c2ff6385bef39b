"""What `plandp.compare` predicts for items is true: measured on independent items, for every method that knows them."""

import numpy as np
import pytest

import plandp

RUNS = 15
WITHIN = {"iome": (1 / 1.2, 1.2), "plan-classic": (1 / 1.2, 1.2), "plan": (0.65, 1.5)}
STEEP_PLAN = (1.0, 2.0)  # where hardly a row holds more than one item: too hopeful, and the page says so
FALLING = 0.5 / np.arange(1, 65)
STEEP = 0.5 / np.arange(1, 65) ** 2
TWO_KINDS = np.where(np.arange(64) < 16, 0.5, 0.01)  # as the paper's Binary


@pytest.mark.parametrize(
    ("popularity", "rho", "error_norm"),
    [(FALLING, 1, 2), (FALLING, 0.1, 1), (TWO_KINDS, 1, 1), (STEEP, 1, 2)],
    ids=["falling", "falling, p = 1", "two kinds", "steep"],
)
def test_predictions_for_items_are_true(popularity: np.ndarray, rho: float, error_norm: float) -> None:
    """The ℓ2 error of 64 columns varies by 9% from run to run, so that the median of 15 is off by 3%.

    20% are 6 standard errors: a true prediction fails once in 10^8 (the seeds are fixed).  Power: noise for half or
    twice the ρ is 1.41 times off, a radius around 0 in place of the mean 1.3 times.
    """
    table = np.random.default_rng(11).random((8000, 64)) < popularity
    found = plandp.compare(public_data=table, kind="binary", rho=rho, error_norm=error_norm, runs=RUNS)
    assert {each.method for each in found.contenders} == set(WITHIN)
    for each in found.contenders:
        assert each.feasible
        least, most = STEEP_PLAN if each.method == "plan" and popularity is STEEP else WITHIN[each.method]
        assert least < each.measured_error / each.predicted_error < most, each.method
    assert found.recommended == "plan"
