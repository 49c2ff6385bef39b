import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from plandp.data import streamed_rows
from plandp.planner.split import (
    CENTER_SHARE,
    FEWEST_LATTICE_POINTS,
    HELD_VALUES,
    MOST_LATTICE_POINTS,
    SPREAD_VALUES,
    center_need,
    gaussian_design,
    lattice_points,
    plan_design,
    sample_size,
    unscaled_design,
)
from plandp.terms.columns import read_columns

SIZES = [(20, 1), (100, 300), (4000, 1024), (10_000, 64), (10**6, 50), (10**9, 3)]
BUDGETS = [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(10**6)]
PLANNERS = [plan_design, unscaled_design, gaussian_design]


def columns_of(d, bounds=(-100.0, 100.0), **public):
    return read_columns(labels=range(d), bounds=bounds, **public)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("rho", BUDGETS)
def test_shares_add_up_to_rho_exactly(planner, n, d, rho):
    split = planner(n=n, columns=columns_of(d), rho=rho, error_norm=2.0).split
    parts = (split.center, split.spread_bound, split.spread, split.radius, split.sum)
    assert all(isinstance(part, Fraction) and part >= 0 for part in parts)
    assert sum(parts) == split.rho == rho
    assert split.sum > rho / 2  # most of ρ buys the noise that is released


def test_what_a_step_is_for_is_either_paid_or_not_done():
    # spreads are measured around centres, by clipped sums whose bound is searched first: no step without the one before
    for n, d in SIZES:
        for rho in BUDGETS:
            split = plan_design(n=n, columns=columns_of(d), rho=rho, error_norm=2.0).split
            assert (split.spread > 0) == (split.spread_bound > 0)
            assert split.center > 0 or split.spread == 0
            assert split.radius > 0


def test_known_spreads_cost_nothing():
    split = plan_design(n=10_000, columns=columns_of(64, spread=1.0), rho=Fraction(1), error_norm=2.0).split
    assert split.spread == split.spread_bound == 0
    assert split.center > 0


def test_the_gaussian_mechanism_spends_all_on_noise():
    assert gaussian_design(n=10, columns=columns_of(3), rho=Fraction(1, 7), error_norm=2.0).split.sum == Fraction(1, 7)


def test_more_rows_leave_more_for_the_noise():
    for d in (10, 300):
        shares = [
            plan_design(n=n, columns=columns_of(d), rho=Fraction(1, 8), error_norm=2.0).split.sum
            for n in (4000, 8000, 16_000, 10**5, 10**6)
        ]
        assert all(later >= earlier * Fraction(99, 100) for earlier, later in pairwise(shares))
        assert shares[-1] > Fraction(9, 10) * Fraction(1, 8)


def test_too_few_rows_are_not_searched():
    assert plan_design(n=20, columns=columns_of(300), rho=Fraction(1, 100), error_norm=2.0).split.center == 0
    assert plan_design(n=10_000, columns=columns_of(300), rho=Fraction(1), error_norm=2.0).split.center > 0


def test_wider_bounds_ask_for_more_rounds_and_hardly_more_budget():
    narrow, wide = (
        plan_design(
            n=10_000, columns=columns_of(64, bounds=(-b, b), smallest_spread=0.1), rho=Fraction(1), error_norm=2.0
        )
        for b in (100.0, 100_000.0)
    )
    assert wide.center_rounds > narrow.center_rounds
    assert wide.split.sum > Fraction(95, 100) * narrow.split.sum


@pytest.mark.parametrize("rho", [1e-6, 0.01, 1.0, 1e6])
def test_sample_sizes_are_possible(rho):
    for n in (1, 10, 1000, 6000, 10**4, 10**5, 10**6, 10**8):
        m = sample_size(n, columns_of(50), rho)
        assert 1 <= m <= n
        assert m == n or m <= 0.7 * n or n > HELD_VALUES / 50 >= m
    assert sample_size(4000, columns_of(50), rho) == 4000  # small tables are read whole


def test_many_rows_are_sampled():
    assert sample_size(10**6, columns_of(10), 1.0) < 10**5


def test_lattice_points_keep_rounding_below_the_noise():
    for n in (1, 10**4, 10**7, 2 * 10**7):
        for rho in (0.01, 1.0, 3.0):
            points = lattice_points(n, rho)
            assert points & (points - 1) == 0
            assert FEWEST_LATTICE_POINTS <= points <= MOST_LATTICE_POINTS
            if points < MOST_LATTICE_POINTS:
                # all n rows rounded the same way by half a step, against noise of 2·points/√(2ρ) steps
                assert n / 2 < 2 * points / math.sqrt(2 * rho) / 32


def test_a_design_needs_public_numbers_only():
    # it is a function of n, columns, ρ and p: the same numbers give the same design
    one, two = (plan_design(n=5000, columns=columns_of(20), rho=Fraction(1, 2), error_norm=1.0) for _ in range(2))
    assert one.split == two.split
    assert (one.sample_size, one.center_rounds, one.lattice_points) == (
        two.sample_size,
        two.center_rounds,
        two.lattice_points,
    )
    assert one.d == 20
    assert np.all(one.columns.low == -100.0)


@pytest.mark.parametrize("rho", [0.001, 1.0, 100.0])
def test_the_centre_reads_fewer_rows_only_where_that_is_cheap(rho):
    for n in (100, 10**4, 10**6, 10**8):
        columns = read_columns(labels=range(50), bounds=(-1000, 1000))
        design = plan_design(n=n, columns=columns, rho=Fraction(rho), error_norm=2.0)
        assert 1 <= design.center_rows <= design.sample_size
        if design.center_stride > 1:
            assert design.split.center <= Fraction(rho) * Fraction(101, 10_000)
            assert design.center_rows >= 4096
            # what is spent on the rows that are read gives the wanted precision: 36 deviations of noise
            reached = design.center_rows * math.sqrt(2.0 * float(design.split.center) / design.d)
            assert reached == pytest.approx(36.0, rel=0.02)


@pytest.mark.parametrize("planner", [plan_design, unscaled_design])
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_rows_without_numbers_are_all_read(planner, n, d):
    design = planner(n=n, columns=columns_of(d), rho=Fraction(1), error_norm=2.0, sampled=False)
    assert (design.sample_size, design.center_rows) == (n, n)
    assert design.split.rho == 1


def test_a_sample_for_spreads_alone_stays_small():
    assert sample_size(10**9, columns_of(1024), 1.0) * 1024 == SPREAD_VALUES
    assert sample_size(10**10, columns_of(64), 1.0) * 64 == SPREAD_VALUES
    assert sample_size(10**9, columns_of(1024), 0.001) * 1024 > SPREAD_VALUES  # centres need more, and get it


@pytest.mark.parametrize(("rho", "held"), [(0.05, True), (0.019, True), (0.007, True), (0.006, False), (1e-4, False)])
def test_a_sample_is_held_where_that_finds_all_centres(rho, held):
    columns = columns_of(1024)
    rows = sample_size(10**9, columns, rho)
    assert (rows * 1024 <= HELD_VALUES) == held
    enough = rows * math.sqrt(2.0 * CENTER_SHARE * rho / 1024)  # cn, by the usual share of ρ
    assert enough >= center_need(columns)
    if rows * 1024 not in (HELD_VALUES, SPREAD_VALUES):
        assert enough == pytest.approx(36.0, rel=1e-4)
    split = plan_design(n=10**9, columns=columns, rho=Fraction(rho), error_norm=2.0).split
    assert split.center <= Fraction(rho) * Fraction(CENTER_SHARE + 1e-6)


def test_a_sample_that_is_planned_to_be_held_is_held_of_a_file():
    assert HELD_VALUES <= streamed_rows.HELD
    assert HELD_VALUES == streamed_rows.IN_MEMORY  # or all rows of a smaller table would be read again and again


@pytest.mark.parametrize("rho", [1.0, 0.1, 0.03, 0.01, 0.007])
@pytest.mark.parametrize("n", [49_152, 49_153, 52_000, 60_000, 70_217, 70_218, 80_000, 10**6])
def test_all_rows_are_the_sample_of_no_table_that_cannot_be_held(n, rho):
    m = sample_size(n, columns_of(1024), rho)
    assert m * 1024 <= HELD_VALUES
    assert 4096 <= m <= n


@pytest.mark.parametrize(("d", "rho"), [(12_289, 50.0), (20_000, 50.0), (100_000, 1e4), (10**6, 1e9)])
def test_few_rows_are_no_sample_whatever_can_be_held(d, rho):
    assert sample_size(10**7, columns_of(d), rho) >= 4096
