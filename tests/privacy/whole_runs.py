"""Whole runs, watched: is every draw paid for, and does nothing about the values show outside of the answers?"""

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import plandp
from plandp.data.open import open_rows
from plandp.methods import NAMES, find_estimator
from plandp.noise.bits import SeededBits
from plandp.noise.meter import MeteredNoise
from plandp.noise.sampler import ExactSampler, IntegerArray
from plandp.terms.columns import read_columns
from plandp.terms.payment import DISCRETE_GAUSSIAN

METHODS = NAMES  # every method that there is passes the common battery


class WatchedSampler:
    """The exact sampler, with a note of what was drawn."""

    name = "exact"
    insecure = True

    def __init__(self) -> None:
        self._exact = ExactSampler(SeededBits(50))
        self.drawn: list[tuple[int, Fraction]] = []

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        self.drawn.append((count, sigma2))
        return self._exact.draw(count, sigma2)


@np.errstate(all="ignore")  # as in mean
def account_alarms(method: str = "plan", run: Any = None) -> list[str]:
    """What is wrong with the book of a run: draws that no payment covers, or a total that is not ρ exactly."""
    rng = np.random.default_rng(51)
    table = rng.normal(0, 1, (500, 3))
    columns = read_columns(labels=range(3), bounds=(-50, 50), smallest_spread=0.5)
    estimator = find_estimator(method)
    rho = Fraction(7, 3)
    design = estimator.plan(n=500, columns=columns, rho=rho, error_norm=2.0)
    sampler = WatchedSampler()
    door = MeteredNoise(reserved=rho, sampler=sampler, coins=SeededBits(52))
    return book_alarms(lambda: (run or estimator.run)(open_rows(table), design, door), door, sampler, rho)


def book_alarms(run: Callable[[], object], door: MeteredNoise, sampler: WatchedSampler, rho: Fraction) -> list[str]:
    """What is wrong with the book after this run: draws that no payment covers, or a total that is not ρ exactly."""
    alarms = []
    try:
        run()
    except plandp.BudgetExceeded:
        alarms.append("more than the budget was asked for")
    # choices are drawn from the coins, by the door alone
    noised = [payment for payment in door.payments if payment.mechanism == DISCRETE_GAUSSIAN]
    paid = [(payment.values, payment.squared_sensitivity / (2 * payment.rho)) for payment in noised]
    if sampler.drawn != paid:
        alarms.append("draws and payments differ")
    if door.spent != rho or sum((payment.rho for payment in door.payments), Fraction(0)) != rho:
        alarms.append("the payments do not add up to the budget")
    return alarms


def tables(d: int = 3) -> dict[str, np.ndarray]:
    """An ordinary table, and tables of the same shape whose values could trip code up."""
    rng = np.random.default_rng(53)
    ordinary = rng.normal(0, 1, (60, d))
    one_bad = {}
    for name, value in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf), ("1.7e308", 1.7e308), ("5e-324", 5e-324)):
        one_bad[f"one row of {name}"] = ordinary.copy()
        one_bad[f"one row of {name}"][17] = value
    return {
        "ordinary": ordinary,
        **one_bad,
        "all NaN": np.full((60, d), np.nan),
        "all infinite": np.full((60, d), np.inf),
        "all -infinite": np.full((60, d), -np.inf),
        "huge and opposite": np.where(rng.random((60, d)) < 0.5, 1.7e308, -1.7e308),
        "constant zero": np.zeros((60, d)),
        "constant, off the lattice": np.full((60, d), 1.0 / 3.0),
        "at the bounds": np.where(rng.random((60, d)) < 0.5, -50.0, 50.0),
        "subnormal": np.full((60, d), 5e-324),
        "one column missing": np.where(np.arange(d) == 1, np.nan, ordinary),
    }


def visible(release: plandp.MeanRelease) -> tuple[object, ...]:
    """Everything about a release that is not one of its released numbers."""
    arrays = (release.estimate, release.noise_std, release.center, release.spread, release.error_scale)
    return (
        tuple(None if array is None else (array.dtype, array.shape, array.flags.writeable) for array in arrays),
        type(release.radius),
        type(release.warnings),
        {type(warning) for warning in release.warnings} <= {str},
        tuple((payment.step, payment.rho, payment.values) for payment in release.receipt.payments),
        {type(payment.squared_sensitivity) for payment in release.receipt.payments},
        (release.receipt.rho, release.receipt.n, release.receipt.d),  # passes may follow the released radius
        release.forecast.noise_share,
    )


def value_alarms(method: str = "plan", **arguments: Any) -> list[str]:
    """Tables whose values raise, warn, change a type or shape, or give an estimate that is no number."""
    alarms = []
    expected = None
    for name, table in tables().items():
        before = table.tobytes()
        try:
            with warnings.catch_warnings(), np.errstate(all="raise"):
                warnings.simplefilter("error")
                release = plandp.mean(
                    table, bounds=(-50, 50), rho=30, smallest_spread=0.5, method=method, testing_seed=54, **arguments
                )
                text = release.to_json()
                repr(release)
                release.interval(0.9)
        except (Exception, Warning) as problem:
            alarms.append(f"{name}: {type(problem).__name__}")
            continue
        expected = expected or visible(release)
        if visible(release) != expected:
            alarms.append(f"{name}: it shows")
        if not (np.isfinite(release.estimate).all() and np.isfinite(release.noise_std).all()):
            alarms.append(f"{name}: no number")
        if plandp.MeanRelease.from_json(text) != release:
            alarms.append(f"{name}: JSON")
        if table.tobytes() != before:
            alarms.append(f"{name}: the caller's table was changed")
    return alarms
