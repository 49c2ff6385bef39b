"""What clipping does to a mean, undone: against simulation, and where it must do nothing."""

import numpy as np
import pytest

from plandp.theory.unclipping import MOST_UNDONE, direction_of_long_rows, surviving_share

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
