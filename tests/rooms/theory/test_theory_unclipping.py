"""What clipping does to a mean, undone: against simulation, and where it must do nothing."""

import numpy as np
import pytest

from plandp.theory.clipping import gaussian_radius
from plandp.theory.unclipping import MOST_UNDONE, clipping_gain, direction_of_long_rows, surviving_share

SPREADS = {
    "equal, d=1": np.ones(1),
    "equal, d=6": np.ones(6),
    "skewed, d=24": np.sqrt(24.0 / np.arange(1, 25)),
    "one large": np.array([10.0, 1.0, 1.0, 1.0]),
    "a constant column": np.array([2.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("share", [0.005, 0.03])
def test_what_survives_against_simulation(name, share):
    # 200,000 Gaussian rows against the same rows moved by .05 spreads: the difference of the two clipped means has a
    # standard error near 1% of the share lost.  Allowed: 25% of it, or .3% of the rows: far below what is undone.
    spread = SPREADS[name]
    rows = np.random.default_rng(7).standard_normal((200_000, len(spread))) * spread
    norm = np.sort(np.sqrt((rows**2).sum(axis=1)))
    radius = norm[int((1 - share) * len(norm))]
    expected = surviving_share(spread, radius, share)
    for i in np.flatnonzero(spread):
        step = np.zeros(len(spread))
        step[i] = 0.05 * spread[i]
        moved = (clipped(rows + step, radius) - clipped(rows - step, radius))[:, i].mean() / (2 * step[i])
        assert 1 - expected[i] == pytest.approx(1 - moved, rel=0.25, abs=0.1 * share), i


def clipped(rows, radius):
    norm = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return rows * np.minimum(1.0, radius / norm)


@pytest.mark.parametrize("share", [0.0, -0.3])
def test_nothing_clipped_is_nothing_to_undo(share):
    np.testing.assert_array_equal(surviving_share(np.array([1.0, 3.0]), 5.0, share), np.ones(2))


def test_noise_cannot_undo_more_than_is_plausible():
    spread = np.array([1.0, 3.0])
    for radius in (1e-200, 0.1, 5.0, 1e200):
        most = surviving_share(spread, radius, 7.0)
        np.testing.assert_array_equal(most, surviving_share(spread, radius, MOST_UNDONE))
        assert np.all((most >= 1 - MOST_UNDONE - 1e-12) & (most <= 1))


def test_long_rows_point_along_the_widest_column():
    spread = np.array([3.0, 1.0, 1.0])
    typical, long = (direction_of_long_rows(spread, norm) for norm in (np.sqrt(11.0), 12.0))
    np.testing.assert_allclose(typical, [9 / 11, 1 / 11, 1 / 11], rtol=1e-6)
    assert 0.98 < long[0] < 1
    assert long.sum() == pytest.approx(1.0)
    short = direction_of_long_rows(spread, 0.01)
    np.testing.assert_allclose(short, np.ones(3) / 3, rtol=1e-3)


def test_a_centre_that_is_off_is_made_good():
    # One column decides the norm and its centre is off by a quarter of its spread: the bias is 20 times the standard
    # error of the mean that is left (the same 400,000 rows are clipped and not clipped).
    spread = np.array([3.0, 0.5])
    rows = np.random.default_rng(8).standard_normal((400_000, 2)) * spread + [0.75, 0.0]
    norm = np.sqrt((rows**2).sum(axis=1))
    radius = float(np.quantile(norm, 0.98))
    clipped_mean, mean = clipped(rows, radius).mean(axis=0), rows.mean(axis=0)
    gain = clipping_gain(clipped_mean, spread, radius=radius, share_above=0.02)
    assert abs(clipped_mean - mean)[0] > 0.012
    assert abs(clipped_mean * gain - mean)[0] < 0.002


def test_skewed_rows_with_light_tails_are_left_alone_and_heavy_ones_are_not():
    spread = np.array([1.0, 1.0])
    gaussian = gaussian_radius(spread, 0.01)[0]
    off = np.array([0.6, 0.1])
    light, heavy = (clipping_gain(off, spread, radius=times * gaussian, share_above=0.01) for times in (1.0, 2.0))
    full = [1.0 / surviving_share(spread, times * gaussian, 0.01) for times in (1.0, 2.0)]
    assert light[0] == 1.0
    assert light[1] == pytest.approx(full[0][1])
    np.testing.assert_allclose(heavy, full[1])


@pytest.mark.parametrize("d", [1, 2, 50])
def test_equal_columns_are_the_limit_of_nearly_equal_ones(d):
    # equal columns have a short cut, since `plandp.check` asks about a million of them a hundred times
    equal = np.full(d, 0.3)
    nearly = equal * (1.0 + 1e-12 * np.arange(d))
    for norm in (0.1, 1.0, 10.0):
        np.testing.assert_allclose(direction_of_long_rows(equal, norm), direction_of_long_rows(nearly, norm), rtol=1e-6)
    for share in (1e-5, 0.1, 0.9):
        assert gaussian_radius(equal, share) == pytest.approx(gaussian_radius(nearly, share), rel=1e-6)
