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
