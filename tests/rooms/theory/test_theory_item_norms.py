"""The norms that rows of independent items exceed, against simulation."""

import numpy as np
import pytest

from plandp.theory.item_norms import exceeded_norm

CASES = {
    "many alike": np.full(200, 0.1),
    "falling": 0.5 / np.arange(1, 301),
    "mostly there": np.full(100, 0.9),
    "two kinds": np.where(np.arange(256) < 64, 0.5, 0.01),
}


@pytest.mark.parametrize("share", [0.3, 0.05, 0.01])
@pytest.mark.parametrize("case", CASES)
def test_so_many_rows_exceed_it(case: str, share: float) -> None:
    # 20,000 rows: a share of .01 has a standard error of 7% of itself, that of .3 of 1%.  Norms are of few distinct
    # values here, so that what exceeds a norm is counted to the nearest of them: half a step either side.
    popularity = CASES[case]
    rng = np.random.default_rng(7)
    weight = rng.uniform(0.5, 2.0, len(popularity))
    squared = np.sort((rng.random((20_000, len(popularity))) < popularity) @ weight)
    found = exceeded_norm(popularity, weight, share) ** 2
    measured = squared[int(len(squared) * (1 - share))]
    assert found == pytest.approx(measured, rel=0.03)


def test_norms_around_the_mean() -> None:
    # (x - p)² is p² of who lacks the item and 1 - 2p more of who has it
    popularity = np.linspace(0.02, 0.6, 100)
    rows = np.random.default_rng(8).random((20_000, 100)) < popularity
    norms = np.sort(np.linalg.norm(rows - popularity, axis=1))
    found = exceeded_norm(popularity, 1 - 2 * popularity, 0.05, empty=float((popularity**2).sum()))
    assert found == pytest.approx(norms[19_000], rel=0.01)
    half = np.full(16, 0.5)  # all rows are as long as each other
    assert exceeded_norm(half, 1 - 2 * half, 0.05, empty=4.0) == 2.0


def test_rows_without_items_have_no_length() -> None:
    assert exceeded_norm(np.zeros(3), np.ones(3), 0.1) == 0.0
    assert exceeded_norm(np.ones(3), np.ones(3), 0.1) == pytest.approx(3**0.5)
