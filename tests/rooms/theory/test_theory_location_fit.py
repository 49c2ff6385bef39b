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
    # the grid has steps of half a spread: an eighth is what interpolation leaves
    assert np.max(np.abs(fitted(thresholds, counts, start, 20.0) - location) / spread) < 0.125


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


def test_an_ambiguous_column_is_read_as_its_neighbours_are():
    # Column 0 was asked at two places only; the other columns say that spreads are 2^-10.  Read with that scale, its
    # location lies between the two; with a free scale it may lie 7 of any scale away.
    rng = np.random.default_rng(2)
    spread = np.full(COLUMNS, 2.0**-10)
    location = rng.uniform(0.3, 0.7, COLUMNS)
    thresholds = location[:, None] + spread[:, None] * rng.normal(0, 1.5, (COLUMNS, ROUNDS))
    thresholds[0] = location[0] + spread[0] * np.resize([-1.0, 1.0], ROUNDS)
    counts = counts_at(thresholds, location, spread) + 60.0 * rng.standard_normal((COLUMNS, ROUNDS))
    found = fitted(thresholds, counts, location, 60.0)
    assert abs(found[0] - location[0]) < 0.5 * spread[0]


def test_shifting_everything_shifts_the_answer():
    rng = np.random.default_rng(3)
    thresholds = rng.uniform(0.4, 0.6, (COLUMNS, ROUNDS))
    counts = counts_at(thresholds, np.full(COLUMNS, 0.5), np.full(COLUMNS, 0.03)) + 30 * rng.standard_normal(
        (COLUMNS, ROUNDS)
    )
    start = np.full(COLUMNS, 0.49)
    moved = fitted(thresholds + 0.25, counts, start + 0.25, 30.0)
    np.testing.assert_allclose(moved, fitted(thresholds, counts, start, 30.0) + 0.25, atol=1e-6)
