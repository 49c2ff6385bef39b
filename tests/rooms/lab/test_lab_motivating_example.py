"""The worked example of the introduction is the paper's, and its errors are in a scalar's units."""

import numpy as np
import pytest

from plandp_lab.motivating_example import example_table, noise_errors, small_value


def test_rows_are_those_of_the_paper() -> None:
    table = example_table(5, seed=1, ones=0.3)
    assert {tuple(row) for row in table} == {(1.0, *[small_value(5)] * 4), (0.0,) * 5}
    assert table[:, 0].mean() == pytest.approx(0.3, abs=0.03)  # 6 standard deviations


def test_an_even_split_errs_by_the_root_of_d_and_plan_does_not() -> None:
    # root mean squares of 12 runs: the even split's is √4 with a standard error of 20%, and fixed by the seeds
    errors = noise_errors(4, 12)
    size = {name: float(np.sqrt(np.mean(found**2))) for name, found in errors.items()}
    assert 1.0 < size["even split"] < 3.5
    assert size["gaussian"] > 2.0
    assert size["plan"] < 2.0
