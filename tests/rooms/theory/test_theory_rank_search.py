"""Rank errors: they hold on the worst tables, and are not much larger than needed there."""

import math

import numpy as np
import pytest

from plandp.errors import ArgumentError
from plandp.theory import feasibility, printed_rank_error, rank_error

STEPS, SEARCHES = 20, 40_000


def missed(rank: float, *, off: float, rho: float, rng: np.random.Generator) -> float:
    """The share of noisy binary searches that end in a cell none of whose points is within `off` of `rank`.

    Of the table, a bit more than `off` rows too few lie at the low end, all others at the high end: every count
    says "go right", and whoever goes left once is lost.
    """
    below = rank - 1.000001 * off
    low, high = np.zeros(SEARCHES), np.full(SEARCHES, 2.0**STEPS)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        left = below + rng.normal(0.0, math.sqrt(STEPS / (2.0 * rho)), SEARCHES) > rank
        low, high = np.where(left, low, middle), np.where(left, middle, high)
    return float((high < 2.0**STEPS).mean())


def test_a_binary_search_misses_as_often_as_said_on_the_worst_table() -> None:
    # exactly 1 - (1 - β/T)^T: 5 standard deviations make a false alarm of 6e-7; a bound 3% off is 15 away
    β, rho = 0.05, 0.3
    off = rank_error(cells=2.0**STEPS, columns=1, rho=rho, failure=β)
    share = missed(5000.0, off=off, rho=rho, rng=np.random.default_rng(1))
    expected = 1.0 - (1.0 - β / STEPS) ** STEPS
    assert expected <= β
    assert abs(share - expected) < 5.0 * math.sqrt(expected / SEARCHES)
    # power: the same measurement of a bound that is 3% too small
    wrong = missed(5000.0, off=0.97 * off, rho=rho, rng=np.random.default_rng(1))
    assert abs(wrong - expected) > 8.0 * math.sqrt(expected / SEARCHES)


def test_the_printed_bound_is_missed_several_times_as_often_as_it_says() -> None:
    β, rho = 0.01, 1.0
    off = printed_rank_error(cells=2.0**STEPS, columns=1, rho=rho, failure=β)
    assert off == pytest.approx(math.sqrt(20 * math.log(2000) / 2))
    assert missed(5000.0, off=off, rho=rho, rng=np.random.default_rng(2)) > 4.0 * β


@pytest.mark.parametrize("columns", [1, 7, 1000])
@pytest.mark.parametrize("copies", [1, 3])
def test_the_closed_form_in_the_documents_is_an_upper_bound(columns: int, copies: int) -> None:
    for β in (0.3, 1e-3, 1e-9):
        off = rank_error(cells=1000, columns=columns, rho=0.1, failure=β, copies=copies)
        closed = copies * math.sqrt(10 * columns * math.log(10 * columns / (2 * β)) / 0.1)
        assert 0.7 * closed < off <= closed


@pytest.mark.parametrize("columns", [1, 50])
def test_the_exponential_mechanism_misses_as_often_as_said_on_the_worst_grid(columns: int) -> None:
    cells, β, rho, g = 2.0**12, 0.01, 0.2, 2
    off = rank_error(cells=cells, columns=columns, rho=rho, failure=β, search="exponential mechanism", copies=g)
    c = math.sqrt(2.0 * rho / columns) / g
    assert columns * (c * g) ** 2 / 2.0 == pytest.approx(rho)  # bounded range: c²Δ²/2 for each column
    worst = (cells - 1.0) * math.exp(-c * off)  # one grid point is right, all others are off by just this much
    one_column = worst / (1.0 + worst)
    assert 0.98 * β < 1.0 - (1.0 - one_column) ** columns <= β


@pytest.mark.parametrize("search", ["binary search", "exponential mechanism"])
def test_feasibility_is_just_reached_at_the_numbers_it_names(search: str) -> None:
    public = {"cells": 2.0**16, "failure": 0.05, "search": search}
    found = feasibility(rows=4000, columns=1024, rho=0.03, **public)  # type: ignore[arg-type]
    assert not found.feasible
    assert found.allowed == 400.0
    for rows, fits in ((found.smallest_rows, True), (found.smallest_rows - 1, False)):
        assert feasibility(rows=rows, columns=1024, rho=0.03, **public).feasible is fits  # type: ignore[arg-type]
    for columns, fits in ((found.largest_columns, True), (found.largest_columns + 1, False)):
        assert feasibility(rows=4000, columns=columns, rho=0.03, **public).feasible is fits  # type: ignore[arg-type]
    for factor, fits in ((1.0001, True), (0.9999, False)):
        rho = factor * found.smallest_rho
        assert feasibility(rows=4000, columns=1024, rho=rho, **public).feasible is fits  # type: ignore[arg-type]


def test_where_not_even_one_column_fits() -> None:
    found = feasibility(rows=10, columns=1, rho=0.001, cells=1024, failure=0.1)
    assert (found.feasible, found.largest_columns) == (False, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("cells", 1), ("columns", 0), ("rho", 0.0), ("rho", math.inf), ("failure", 1.0), ("failure", 0.0), ("copies", 0)],
)
def test_numbers_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    fine = {"cells": 1024, "columns": 2, "rho": 1.0, "failure": 0.1, "copies": 1}
    with pytest.raises(ArgumentError, match=f"^{name}: "):
        rank_error(**{**fine, name: value})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^search: "):
        rank_error(**fine, search="guess")  # type: ignore[arg-type]
