"""Few items: no release may stray far from its noise, whatever its groups said."""

import numpy as np
import pytest

import plandp


@pytest.mark.parametrize("popularity", [(0.6, 0.3, 0.2), tuple(0.5 / np.arange(1, 11))])
def test_corrections_of_few_items_do_not_bring_in_the_noise_of_the_groups(popularity: tuple[float, ...]) -> None:
    # 100 releases with fixed seeds.  Largest of 3 or 10 deviations: above 6.5, clipping bias of 1 to 2 included, with a
    # probability below 1e-4.  Power: with corrections believed from √6 deviations on, 1 to 2% of releases strayed by 7
    # to 28 deviations.
    rows = np.random.default_rng(0).random((12_000, len(popularity))) < np.array(popularity)
    mean = rows.mean(axis=0)
    for seed in range(200, 300):
        release = plandp.mean(rows, kind="binary", rho=0.1, error_norm=1, testing_seed=seed)
        assert release.unrefined is not None
        assert np.abs((release.unrefined - mean) / release.noise_std).max() < 6.5


@pytest.mark.parametrize("popularity", [(0.4, 0.08, 0.0007), (0.4, 0.003), (0.4, 0.3, 0.2, 0.1, 0.05, 0.002, 0.0007)])
@pytest.mark.parametrize("rho", [0.1, 1.0])
def test_a_rare_item_among_few_is_not_clipped_away(popularity: tuple[float, ...], rho: float) -> None:
    # 20 releases with fixed seeds; people differ in how much they have.  A row that holds the rare item used to be
    # longer than all others and lost most of it: 16 of 21 people, with a stated error of 1.  Intervals of 95% held in
    # at least 18 of 20, where fewer than 15 have a probability of 3e-4 at most.
    rng = np.random.default_rng(0)
    activity = np.exp(rng.normal(-0.5, 1.0, size=(30_000, 1)))
    rows = rng.random((30_000, len(popularity))) < np.minimum(activity * np.array(popularity), 1.0)
    rare = len(popularity) - 1
    mean = rows.mean(axis=0)[rare]
    held, errors = 0, []
    for seed in range(20):
        release = plandp.mean(rows, kind="binary", rho=rho, error_norm=1, testing_seed=seed)
        interval = release.interval(0.95)
        held += bool(interval.low[rare] <= mean <= interval.high[rare])
        errors.append((release.estimate[rare] - mean) * len(rows))
    assert held >= 15
    # the Gaussian mechanism for this item alone has noise of √(1/(2ρ)) people; half of ρ is for all else
    assert np.sqrt(np.mean(np.square(errors))) < 3.0 / np.sqrt(2.0 * rho) + 0.5
