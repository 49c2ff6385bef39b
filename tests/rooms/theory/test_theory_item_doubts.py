"""What is still doubted of popular items after clipping and corrections."""

import numpy as np
import pytest

from plandp.theory.item_doubts import UNEVEN, Clipping, gaps, left_out, seen_losses, unevenness

NOISE = np.full(2, 1e-6)
NONE = np.zeros(2)
GROUP = np.array([0, 1])


def gap_of(noisy, total, total_std, *, likely=0.05, unseen=NONE):
    return gaps(noisy, NOISE, GROUP, total, total_std, likely=np.full(2, likely), unseen=unseen)


def test_a_gap_is_what_clipping_took_where_nothing_better_is_known_and_else_what_totals_show() -> None:
    noisy = np.array([1.0, 2.0])
    np.testing.assert_allclose(gap_of(noisy, noisy + 0.3, np.full(2, 1e6)), 0.05, rtol=0.01)
    np.testing.assert_allclose(gap_of(noisy, np.array([1.04, 2.0]), NOISE), [0.04, 0.0], atol=1e-4)
    # a total that was clipped itself hides what both lost
    np.testing.assert_allclose(gap_of(noisy, noisy, NOISE, unseen=np.array([0.0, 0.03])), [0.0, 0.03], atol=1e-4)
    assert np.all(gap_of(-noisy, noisy, NOISE, likely=0.9) <= 1.0)


def test_a_popular_item_loses_no_more_than_all_clipped_rows_hold_of_it() -> None:
    clipping = Clipping(rows_above=0.01, lost_of_rows=0.2, longer=3.0)
    popular, rare = clipping.losses(np.array([0.5, 1e-6]))
    assert popular == pytest.approx(0.01 * 0.2 / 0.5)
    assert rare == pytest.approx(UNEVEN * 0.01 * 0.2 * 3.0**2)  # clipped rows hold nine times what others do
    assert np.all(np.isfinite(clipping.losses(np.array([0.0, -1.0]))))


def test_what_a_power_law_loses_beyond_a_longer_radius() -> None:
    # rows of norms from 1 on, index 3: every row holds the item; clipped at 2, and at 4
    norms = (1.0 - np.random.default_rng(11).random(2_000_000)) ** (-1 / 3)
    clipping = Clipping(rows_above=float((norms > 2).mean()), lost_of_rows=1 / 4, longer=10.0)
    for longer in (1.0, 2.0):
        lost = np.maximum(1.0 - 2.0 * longer / norms, 0.0).mean()
        assert clipping.losses(np.ones(1), longer=longer)[0] == pytest.approx(lost, rel=0.05)


def test_what_was_lost_is_seen_by_a_look_that_lost_less() -> None:
    truth, group = np.array([0.4, 0.2, 0.2, 0.1]), np.array([0, 0, 1, 1])
    lost, noise = np.array([0.1, 0.1, 0.0, 0.0]), np.full(4, 1e-9)
    for less in (0.0, 0.4):
        seen = seen_losses(truth * (1 - less * lost), noise, truth * (1 - lost), noise, group, less=less)
        np.testing.assert_allclose(seen, np.array([0.1, 0.1, 0.0, 0.0]) / 0.9, atol=1e-6)
    blind = seen_losses(truth * (1 - lost), np.full(4, 0.01), truth * (1 - lost), noise, group, less=1.0)
    assert np.all(blind > 1.0)  # a look that lost as much says nothing


def test_looks_that_differ_by_noise_alone_show_nothing_uneven_and_others_do() -> None:
    rng = np.random.default_rng(3)
    mean, group = np.full(400, 0.1), np.repeat([0, 1], 200)
    noise = np.full(400, 0.002)
    first = mean + 0.002 * rng.standard_normal(400)
    off = np.where(group == 1, 0.05 * rng.standard_normal(400), 0.0)
    found = unevenness(first, noise, mean * (1 + off) + 0.002 * rng.standard_normal(400), noise, group)
    assert found[0] < 0.012  # by chance: the noise of a group's surplus, and no more than that
    assert found[-1] == pytest.approx(0.05, rel=0.2)


def test_what_totals_hold_beyond_their_noise_and_means_do_not_is_left_out() -> None:
    total, noise = np.array([3.0, 1.0]), np.array([0.3, 0.4])
    assert left_out(np.full(4, 0.25), total, noise) == pytest.approx((4.0 - 1.0 - 2 * 0.5, 4.0 - 1.0 + 2 * 0.5))
    assert left_out(np.full(4, 0.9), total, noise) == pytest.approx((0.0, 4.0 - 3.6 + 1.0))
    assert left_out(np.full(4, 9.0), total, noise) == pytest.approx((0.0, 1.0))
