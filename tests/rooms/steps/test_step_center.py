"""Medians are found where naive searches lose them: on spikes, round numbers, constants and half-missing columns.

Every case is a table of 24 columns, searched with several seeds at the budget that the planner chooses: it plans for
.01 lost centres a run, so a case of 4 seeds fails by chance with probability .04 at most; seeds and tables are fixed.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.noise.meter import open_door
from plandp.planner.split import plan_design
from plandp.steps.center import private_center
from plandp.terms.columns import read_columns

ROWS, COLUMNS, SEEDS = 4000, 24, 4
RHO = Fraction(1, 2)


def found_centers(table, bounds, *, seed, rho=RHO, missing=None):
    columns = read_columns(labels=range(table.shape[1]), bounds=bounds, missing=missing)
    design = plan_design(n=len(table), columns=columns, rho=rho, error_norm=2.0)
    return private_center(open_rows(table), design, open_door(reserved=rho, testing_seed=seed)).value


def spike(value, share, rng):
    """`share` of the rows on one value, the rest spread evenly around it."""
    around = value + rng.normal(0.0, 8.0, (ROWS, COLUMNS))
    return np.where(rng.random((ROWS, COLUMNS)) < share, value, around)


def ratings(rng):
    return rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], p=[0.1, 0.15, 0.5, 0.15, 0.1], size=(ROWS, COLUMNS))


def ones(rng):
    return (rng.random((ROWS, COLUMNS)) < 0.2).astype(float)


def poisson(rng):
    return rng.poisson(np.linspace(0.3, 20.3, COLUMNS), (ROWS, COLUMNS)).astype(float)


# the table, its bounds, and how far from the median the centre may lie, in spreads: spikes leave no doubt, the
# median of few Poisson counts does (between two counts it may lie anywhere)
SPIKY = {
    "zeros in the middle of the bounds": (lambda rng: spike(0.0, 0.57, rng), (-100.0, 100.0), 0.05),
    "fifty in the middle of the bounds": (lambda rng: spike(50.0, 0.6, rng), (0.0, 100.0), 0.05),
    "twenty-five at a quarter": (lambda rng: spike(25.0, 0.6, rng), (0.0, 100.0), 0.05),
    "ratings": (ratings, (1.0, 5.0), 0.05),
    "rare ones": (ones, (0.0, 1.0), 0.05),
    "whole numbers": (lambda rng: np.rint(rng.normal(40.0, 0.6, (ROWS, COLUMNS))), (-128.0, 128.0), 0.05),
    "Poisson counts": (poisson, (0.0, 1000.0), 0.8),
}


@pytest.mark.parametrize("case", SPIKY)
def test_the_median_of_spiky_columns_is_found(case):
    draw, bounds, tolerance = SPIKY[case]
    for seed in range(SEEDS):
        table = draw(np.random.default_rng(seed))
        miss = np.abs(found_centers(table, bounds, seed=seed) - np.median(table, axis=0)) / table.std(axis=0)
        assert miss.max() < tolerance, (case, seed)


def test_constant_columns_are_found_wherever_they_lie():
    width, smallest = 200.0, 200.0 * 2.0**-20
    places = np.concatenate([[-100.0, 100.0, 0.0, 50.0, -50.0, 1 / 3], np.random.default_rng(0).uniform(-100, 100, 18)])
    table = np.tile(places, (ROWS, 1))
    for seed in range(SEEDS):
        miss = np.abs(found_centers(table, (-width / 2, width / 2), seed=seed) - places)
        assert miss.max() < smallest  # four lattice cells


def test_half_of_the_values_missing_leaves_a_good_centre():
    # A missing value counts half below and half above: the counts say half as much, and 3 of 960 centres are lost.  Of
    # 96, 3 are with probability .004.  Power: where missing values count as values, all are lost.
    lost = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        table = rng.normal(70.0, 3.0, (ROWS, COLUMNS))
        table[rng.random(table.shape) < 0.5] = np.nan
        lost += int((np.abs(found_centers(table, (-1000.0, 1000.0), seed=seed) - 70.0) >= 3.0).sum())
    assert lost <= 2


def test_a_public_value_for_missing_ones_counts_as_that_value():
    rng = np.random.default_rng(1)
    table = rng.normal(70.0, 3.0, (ROWS, COLUMNS))
    table[rng.random(table.shape) < 0.8] = np.nan
    center = found_centers(table, (-1000.0, 1000.0), seed=1, missing=-500.0)
    assert np.abs(center + 500.0).max() < 1.0


def test_values_beyond_the_bounds_and_infinities_count_as_the_bounds():
    rng = np.random.default_rng(2)
    table = rng.normal(70.0, 3.0, (ROWS, COLUMNS))
    table[: ROWS // 5], table[ROWS // 5 : 2 * ROWS // 5] = np.inf, -1e300
    center = found_centers(table, (-1000.0, 1000.0), seed=2)
    assert np.abs(center - 70.0).max() < 2.0 * 3.0


def test_it_pays_exactly_its_share_and_no_value_changes_what_it_asks():
    payments = []
    for table in (np.zeros((ROWS, COLUMNS)), np.full((ROWS, COLUMNS), np.nan)):
        columns = read_columns(labels=range(COLUMNS), bounds=(-1.0, 1.0))
        design = plan_design(n=ROWS, columns=columns, rho=RHO, error_norm=2.0)
        door = open_door(reserved=RHO, testing_seed=0)
        private_center(open_rows(table), design, door)
        assert door.spent == design.split.center
        payments.append(door.payments)
    assert payments[0] == payments[1]


def test_narrow_columns_are_not_taken_for_empty_ones_where_centres_are_only_just_found():
    # False alarms: seeds are fixed.  Of 96 narrow columns some 2 are taken for empty, of 96 empty ones some 84 are
    # found.  Power: by the mean square of all counts 40 of the narrow ones are.
    budget = Fraction((21 / ROWS) ** 2 * 2 * COLUMNS / 2).limit_denominator(10**9)  # counts of 21 deviations in all
    columns = read_columns(labels=range(2 * COLUMNS), bounds=(0.0, 100.0))
    design = plan_design(n=ROWS, columns=columns, rho=Fraction(1), error_norm=2.0)
    split = replace(design.split, center=budget, sum=design.split.sum + design.split.center - budget)
    design = replace(design, split=split, sample_size=ROWS, center_stride=1)
    narrow = empty = 0
    for seed in range(SEEDS):
        table = np.random.default_rng(seed).normal(5.0, 1.0, (ROWS, 2 * COLUMNS))
        table[:, COLUMNS:] = np.nan
        halved = private_center(open_rows(table), design, open_door(reserved=Fraction(1), testing_seed=seed)).halved
        narrow, empty = narrow + halved[:COLUMNS].sum(), empty + halved[COLUMNS:].sum()
    assert narrow <= 6
    assert empty >= 70
