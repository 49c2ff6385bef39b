import numpy as np
from scipy.special import expit, ndtr

from plandp.theory.location_fit import fit_locations

ROWS, COLUMNS, ROUNDS = 1000, 60, 30


def counts_at(thresholds, location, spread, distribution=ndtr):
    return ROWS * distribution((thresholds - location[:, None]) / spread[:, None])


def fitted(thresholds, counts, start, noise_std):
    return fit_locations(thresholds, counts, rows=ROWS, noise_std=noise_std, start=start, finest=2.0**-20, widest=1.0)


def test_noiseless_logistic_counts_give_the_location_back():
    rng = np.random.default_rng(0)
    spread = 2.0 ** rng.uniform(-14, -6, COLUMNS)
    location = rng.uniform(0.2, 0.8, COLUMNS)
    thresholds = location[:, None] + spread[:, None] * rng.uniform(-3, 3, (COLUMNS, ROUNDS))
    counts = counts_at(thresholds, location, spread, lambda z: expit(1.702 * z))
    start = location + 0.5 * spread
    # the grid has steps of half a spread or a little more: a sixth is what interpolation leaves
    assert np.max(np.abs(fitted(thresholds, counts, start, 20.0) - location) / spread) < 1 / 6


def test_the_fit_is_closer_than_the_search_it_starts_from():
    # 60 columns, noise of a tenth of the rows.  The start errs by .5 spreads (root mean square), the fit by .1: a false
    # alarm would need 60 errors three times too large.  Power: a fit that returns its start or moves the wrong way.
    rng = np.random.default_rng(1)
    spread = np.full(COLUMNS, 2.0**-10)
    location = rng.uniform(0.2, 0.8, COLUMNS)
    thresholds = location[:, None] + spread[:, None] * rng.normal(0, 1.5, (COLUMNS, ROUNDS))
    counts = counts_at(thresholds, location, spread) + 100.0 * rng.standard_normal((COLUMNS, ROUNDS))
    start = location + 0.5 * spread * rng.standard_normal(COLUMNS)
    error = (fitted(thresholds, counts, start, 100.0) - location) / spread
    assert np.sqrt(np.mean(error**2)) < 0.3


def test_columns_that_say_little_are_read_as_their_neighbours_are():
    # 60 columns of one spread, 12 counts each with noise of 30% of the rows.  With the scale learned from all of them
    # the error is .43 to .48 spreads (root mean square, 3 seeds); each on its own, some take a wrong scale: .88.
    rng = np.random.default_rng(2)
    spread = np.full(COLUMNS, 2.0**-10)
    location = rng.uniform(0.2, 0.8, COLUMNS)
    thresholds = location[:, None] + spread[:, None] * rng.normal(0, 2.0, (COLUMNS, 12))
    counts = counts_at(thresholds, location, spread) + 300.0 * rng.standard_normal((COLUMNS, 12))
    start = location + spread * rng.standard_normal(COLUMNS)
    error = (fitted(thresholds, counts, start, 300.0) - location) / spread
    assert np.sqrt(np.mean(error**2)) < 0.6


def test_shifting_everything_shifts_the_answer():
    rng = np.random.default_rng(3)
    thresholds = rng.uniform(0.4, 0.6, (COLUMNS, ROUNDS))
    counts = counts_at(thresholds, np.full(COLUMNS, 0.5), np.full(COLUMNS, 0.03)) + 30 * rng.standard_normal(
        (COLUMNS, ROUNDS)
    )
    start = np.full(COLUMNS, 0.49)
    moved = fitted(thresholds + 0.25, counts, start + 0.25, 30.0)
    np.testing.assert_allclose(moved, fitted(thresholds, counts, start, 30.0) + 0.25, atol=1e-6)
