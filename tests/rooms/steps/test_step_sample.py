from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from plandp.noise.meter import open_door
from plandp.planner.split import plan_design
from plandp.steps.sample import public_sample
from plandp.terms.columns import read_columns


class NumberedRows:
    """Rows that remember which of them were drawn."""

    def __init__(self, n):
        self.n, self.drawn = n, None

    def sample(self, indices):
        self.drawn = indices
        return self


def design_of(n, sample_size):
    columns = read_columns(labels=range(2), bounds=(0.0, 1.0))
    return replace(plan_design(n=n, columns=columns, rho=Fraction(1), error_norm=2.0), sample_size=sample_size)


def drawn(n, m, seed):
    rows = NumberedRows(n)
    public_sample(rows, design_of(n, m), open_door(reserved=Fraction(1), testing_seed=seed))
    return rows.drawn


@pytest.mark.parametrize(
    ("n", "m", "together"),
    [
        *((10_000, 4096, 16), (10_007, 4999, 19), (5, 2, 2), (100, 99, 1), (7, 1, 4), (90, 60, 16)),
        *((10**6, 70_000, 273), (20_000, 13_000, 50)),  # 256 groups of a large sample, or a little more
    ],
)
def test_one_group_of_neighbours_per_stride_in_order(n, m, together):
    indices = drawn(n, m, seed=1)
    assert indices.dtype == np.int64
    assert len(indices) == m
    assert np.all(np.diff(indices) > 0)
    assert indices[0] >= 0
    assert indices[-1] < n
    groups = -(-m // together)
    first = indices[::together]
    assert len(first) == groups
    assert np.all(first % together == 0)
    np.testing.assert_array_equal(indices, (first[:, None] + np.arange(together)).ravel()[:m])
    # strides are so many groups, or one more: the next group is less than two strides away
    assert np.diff(first // together).max(initial=0) <= 2 * (-(-(n // together) // groups)) - 1


def test_long_rows_are_drawn_one_by_one():
    rows = NumberedRows(5_000)
    columns = read_columns(labels=range(3000), bounds=(0.0, 1.0))
    design = replace(plan_design(n=5_000, columns=columns, rho=Fraction(1), error_norm=2.0), sample_size=511)
    public_sample(rows, design, open_door(reserved=Fraction(1), testing_seed=1))
    assert np.diff(rows.drawn).max() > 1
    assert len(np.unique(rows.drawn % 2)) == 2
    assert np.count_nonzero(np.diff(rows.drawn) == 1) < 255


def test_every_group_of_equal_strides_is_equally_likely():
    # χ² over the 30 groups: 3000 draws of 10, each expected 1000 times.  Strides are independent, so the sum has
    # 10 · 2 degrees of freedom; its 1 - 1e-6 quantile is 66.  Power: a group that is never drawn gives 1500.
    times = np.zeros(480)
    door = open_door(reserved=Fraction(1), testing_seed=5)
    for _ in range(3000):
        rows = NumberedRows(480)
        public_sample(rows, design_of(480, 160), door)
        times[rows.drawn] += 1
    groups = times.reshape(30, 16)
    assert np.all(groups == groups[:, :1])
    assert ((groups[:, 0] - 1000) ** 2 / 1000).sum() < 66


def test_all_rows_are_used_as_they_are_when_nothing_is_saved():
    rows = NumberedRows(100)
    assert public_sample(rows, design_of(100, 100), open_door(reserved=Fraction(1), testing_seed=0)) is rows
    assert rows.drawn is None


def test_the_sample_is_free_and_depends_on_the_coins_only():
    door = open_door(reserved=Fraction(1), testing_seed=3)
    rows = NumberedRows(1000)
    public_sample(rows, design_of(1000, 300), door)
    assert door.spent == 0
    np.testing.assert_array_equal(rows.drawn, drawn(1000, 300, seed=3))
    assert np.any(rows.drawn != drawn(1000, 300, seed=4))
