"""Where to clip sparse rows, and how to bring back what clipping took."""

import numpy as np
import pytest

from plandp.theory.item_clipping import HEAVIEST, MOST_CLIPPED, lost_share, rows_to_clip, tail_factor, tail_index
from plandp.theory.item_groups import GROUPS, MOST_ADDED, corrections, groups_by_popularity


def factor(above: float, beyond: float, p: float) -> float:
    return tail_factor(tail_index(above, beyond, ratio=1.6), error_norm=p)


def test_the_tail_factor_of_a_power_law() -> None:
    # index 3: 1.6^-3 of the rows above the radius lie beyond 1.6 times it, and E[norm]/radius = 3/2
    assert factor(1000.0, 1000.0 * 1.6**-3, 1.0) == pytest.approx(1.5)
    assert factor(1000.0, 1000.0, 1.0) == HEAVIEST
    assert factor(1000.0, 0.0, 1.0) == pytest.approx(1.0, abs=0.1)
    # E[norm²]/C² - E[norm]/C = 3 - 1.5 for index 3, and p = 2 takes the root of the product with 1.5
    assert factor(1000.0, 1000.0 * 1.6**-3, 2.0) == pytest.approx(1.5)


@pytest.mark.parametrize("p", [1.0, 2.0, 5.0])
def test_heavier_tails_have_larger_factors(p: float) -> None:
    factors = [factor(100.0, beyond, p) for beyond in (1.0, 5.0, 20.0, 60.0, 99.0)]
    assert factors == sorted(factors)


def test_rows_to_clip_stay_within_reason() -> None:
    assert rows_to_clip(1000.0, 10.0, rows=10_000, least=5.0) == 100.0
    assert rows_to_clip(10.0, 10.0, rows=10_000, least=5.0) == 5.0
    assert rows_to_clip(1e9, 10.0, rows=10_000, least=5.0) == MOST_CLIPPED * 10_000


def test_groups_share_the_total_and_follow_popularity() -> None:
    mean = 1.0 / np.arange(1, 1001)[::-1]
    group = groups_by_popularity(mean)
    assert group.min() == 0
    assert group.max() == GROUPS - 1
    assert sorted(set(group.tolist())) == list(range(GROUPS))
    order = np.argsort(-mean)
    assert np.all(np.diff(group[order]) >= 0)
    shares = np.bincount(group, mean) / mean.sum()
    assert shares.max() < 2.5 / GROUPS


@pytest.mark.parametrize("mean", [np.zeros(5), np.array([1.0]), np.array([1e-300, 1e300]), np.full(3, 1e-320)])
def test_groups_of_awkward_means_have_no_gaps(mean: np.ndarray) -> None:
    group = groups_by_popularity(mean)
    assert sorted(set(group.tolist())) == list(range(int(group.max()) + 1))


def test_what_clipping_took_is_given_back_by_group() -> None:
    rng = np.random.default_rng(7)
    mean, group = np.repeat([0.3, 0.003], [20, 2000]), np.repeat([0, 1], [20, 2000])
    kept = np.repeat([0.98, 0.7], [20, 2000])  # rare items are in long rows
    noise_std = np.full(2020, 1e-4)
    noisy = mean * kept + noise_std * rng.standard_normal(2020)
    factor = corrections(noisy, noise_std, group, np.array([6.0, 6.0]), np.full(2, 0.01), likely=0.15)
    assert factor[0] == pytest.approx(1 / 0.98, abs=0.005)
    assert factor[-1] == pytest.approx(1 / 0.7, abs=0.01)


def test_corrections_that_could_be_noise_are_not_made() -> None:
    # 2,000 groups of totals that differ by noise alone: one in 1,000 exceeds √10 standard deviations, and by little.
    rng = np.random.default_rng(8)
    group = np.arange(2000)
    noise_std, total_std = np.full(2000, 0.01), np.full(2000, 0.01)
    noisy = 1.0 + noise_std * rng.standard_normal(2000)
    factor = corrections(noisy, noise_std, group, 1.0 + total_std * rng.standard_normal(2000), total_std, likely=0.1)
    assert (factor > 1.0).mean() < 0.004
    assert factor.max() < 1.05
    assert factor.min() == 1.0


def test_corrections_are_bounded_whatever_the_noise_made_of_the_sums() -> None:
    factor = corrections(
        np.array([-1.0, 1e-9, 1.0]),
        np.full(3, 1e-6),
        np.arange(3),
        np.array([9.0, 9.0, 0.1]),
        np.ones(3) * 1e-6,
        likely=1.0,
    )
    assert np.all(factor >= 1.0)
    assert np.all(factor <= 1.0 + MOST_ADDED)
    assert factor[2] == 1.0


def test_what_can_be_lost_is_all_that_is_given_back() -> None:
    group, noise = np.zeros(1, np.int64), np.full(1, 0.003)
    seen = [
        float(corrections(np.ones(1), noise, group, np.full(1, 1.03), noise, likely=likely)[0] - 1.0)
        for likely in (0.0, 1e-4, 0.1)
    ]
    assert seen[0] == 0.0
    assert seen[1] < 0.001
    assert seen[2] > 0.02


def test_the_share_lost_by_a_power_law() -> None:
    # 50,000 rows of norms from 1 on, index 4, items the square of the norm; clipped at 2
    norms = (1.0 - np.random.default_rng(11).random(2_000_000)) ** (-1 / 4)
    items, clipped = norms**2, norms > 2.0
    lost = (items * (1.0 - 2.0 / norms))[clipped].sum() / items.sum()
    typical = np.sqrt(items.mean())
    guess = lost_share(float(clipped.sum()), 2.0 / typical, 4.0, n=len(norms))
    assert guess == pytest.approx(lost, rel=0.75)  # long rows hold more than the square of the radius
