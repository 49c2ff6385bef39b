"""What the demo says of its intervals is what happens."""

import numpy as np

import plandp
from plandp.cli.demo import COVERAGE, RHO
from plandp.cli.time_use import MINUTES_A_DAY, time_use_table


def test_about_94_percent_of_the_true_means_lie_inside_and_21_or_more_of_24_nearly_always() -> None:
    """960 intervals, each inside with probability .94 (measured: 24,000 of them).

    Fewer than 91% or more than 97% of 960 happens in less than one of 5,000 sets of seeds, and these are fixed.
    Intervals at 90% cover 89% and would fail in 49 of 50; so would noise_std that is a fifth too small.
    """
    table = time_use_table()
    truth = table.mean(axis=0)
    inside = []
    for seed in range(1000, 1040):
        release = plandp.mean(table, bounds=(0, MINUTES_A_DAY), rho=RHO, testing_seed=seed)
        interval = release.interval(0.95)
        inside.append(int(((interval.low <= truth) & (truth <= interval.high)).sum()))
    assert 0.91 < np.mean(inside) / len(truth) < 0.97
    assert np.mean(np.array(inside) >= 21) > 0.8  # said: .95, measured: .96; .8 or less once in 3,000
    assert "21 or more do in 19 of 20 runs" in COVERAGE
    assert "leaves 94%" in COVERAGE
