"""The clipping radius of sparse rows."""

from fractions import Fraction

import numpy as np
import pytest

from plandp.mechanisms.tail_cell import NormCounts
from plandp.noise.meter import open_door
from plandp.steps.item_radius import private_item_radius

EDGES = 2.0 ** (np.arange(8 * 32) / 32.0)


def norms_of(lengths: np.ndarray) -> NormCounts:
    cell = np.minimum(np.searchsorted(EDGES, lengths), len(EDGES) - 1)
    return NormCounts(edges=EDGES, counts=np.bincount(cell, minlength=len(EDGES)).astype(np.int64))


def best_radius(norms: NormCounts, worth: float) -> float:
    """The radius at which the norms of the rows above it add up to `worth`: what p = 1 asks for."""
    above = np.append(np.cumsum((norms.counts * norms.edges)[::-1])[::-1][1:], 0.0)
    return float(norms.edges[np.abs(above - worth).argmin()])


@pytest.mark.parametrize("tail", ["light", "power law of index 2", "power law of index 3.5"])
@pytest.mark.parametrize("rho", [Fraction(1), Fraction(1, 20)])
def test_it_clips_what_is_worth_it(tail: str, rho: Fraction) -> None:
    rng = np.random.default_rng(9)
    lengths = {
        "light": lambda: 4.0 + np.abs(rng.normal(0.0, 1.0, 50_000)),
        "power law of index 2": lambda: 2.0 * (1.0 - rng.random(50_000)) ** (-1 / 2),
        "power law of index 3.5": lambda: 2.0 * (1.0 - rng.random(50_000)) ** (-1 / 3.5),
    }[tail]()
    norms, worth = norms_of(lengths), 4_000.0
    prior = np.full(len(EDGES), 1.0 / len(EDGES))
    found = []
    for seed in range(9):
        door = open_door(reserved=rho, testing_seed=seed)
        found.append(
            private_item_radius(
                norms,
                door,
                prior=prior,
                start=4.0,
                worth=worth,
                filled=float(norms.counts.sum()),
                error_norm=1.0,
                rho=rho,
                step="radius",
            ).value
        )
        assert door.remaining == 0
        assert {payment.squared_sensitivity for payment in door.payments} == {1}
    # Fixed seeds.  Three rounds stop short of the best where it is far out (index 2), in a flat valley: there the
    # error is within 5% of the least.  Taking the start for the radius would clip 20 times more.
    best = best_radius(norms, worth)
    assert float(np.median(found)) == pytest.approx(best, rel=0.4 if tail == "power law of index 2" else 0.15)

    def cost(radius: float) -> float:
        lost = norms.edges * (norms.edges - radius) * norms.counts
        return worth * radius + float(lost[norms.edges > radius].sum())

    assert cost(float(np.median(found))) < 1.05 * cost(best)


def test_rows_that_are_long_by_values_lose_no_more_than_said() -> None:
    norms = norms_of(2.0 * (1.0 - np.random.default_rng(10).random(50_000)) ** (-1 / 2))
    prior = np.full(len(EDGES), 1.0 / len(EDGES))
    rho = Fraction(1)
    found = private_item_radius(
        norms,
        open_door(reserved=rho, testing_seed=1),
        prior=prior,
        start=4.0,
        worth=4_000.0,
        most_lost=2.0,
        filled=float(norms.counts.sum()),
        error_norm=1.0,
        rho=rho,
        step="radius",
    )
    assert found.rows_above == pytest.approx(2_000.0)
    above = norms.counts[found.value < EDGES].sum()
    assert above == pytest.approx(2_000, rel=0.25)
