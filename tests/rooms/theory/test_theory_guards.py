"""Guard rails that are known before a row is read."""

import numpy as np

import plandp

TABLE = np.random.default_rng(12).normal(0, 1, (3000, 5))


def test_a_method_that_never_looks_for_spreads_does_not_miss_them():
    release = plandp.mean(TABLE, bounds=(-50, 50), rho=0.5, method="unscaled", testing_seed=1)
    assert release.warnings == ()
    few = plandp.mean(TABLE[:30], bounds=(-50, 50), rho=0.001, method="unscaled", testing_seed=1)
    assert [text[:40] for text in few.warnings] == ["too few rows to find the centres of the "]
