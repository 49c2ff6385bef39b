"""Each small mechanism is exactly as private as its payment says: Rényi divergence at its worst neighbours.

The real door is used, with a sampler that notes the σ² it is asked for.  Its answers are discrete Gaussians around
the query, so their divergence between two tables is a sum over integers, taken here in float64 (error below 1e-9).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from neighbouring import box, rows_of, signed_view
from neighbouring_items import source_of
from scipy.special import logsumexp
from silent_sampler import SilentSampler

from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.mechanisms.item_rows import ItemLattice, norm_counts, private_group_sum, private_item_sum
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import lattice_keys, private_counts_below
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.tail_cell import private_rows_above, private_tail_cell
from plandp.noise import meter
from plandp.noise.bits import SeededBits

ALPHAS = (1.001, 1.5, 2.0, 3.0, 7.5, 20.0)
ROUNDING = 1e-9

Mechanism = Callable[[object, Any, Fraction], object]


def counts(table: object, door: Any, rho: Fraction) -> None:
    keys = lattice_keys(rows_of(table), Lattice.of(box(3)), None)
    private_counts_below(keys, np.full(3, 64.0), door, rho=rho, step="counts")


def tail(table: object, door: Any, rho: Fraction) -> None:
    cells = NormCells.around(1.0, lowest=0.5, highest=4.0, d=2, points=2**20)
    flat = np.ones(len(cells.edges))
    totals = cell_totals(rows_of(table), signed_view(2), cells)
    private_tail_cell(totals.norms, door, prior=flat, tail=1.0, shares=(Fraction(1),), rho=rho, step="tail")


def clipped(table: object, door: Any, rho: Fraction, *, squared: bool = False) -> None:
    cells = NormCells.around(1.0, lowest=0.9, highest=1.0, d=2, points=2**8)
    totals = cell_totals(rows_of(table), signed_view(2), cells, squared=squared)
    last = len(cells.edges) - 1
    private_clipped_sum(totals, last, door, rho=rho, step="sum", nonnegative=squared)


def squares(table: object, door: Any, rho: Fraction) -> None:
    clipped(table, door, rho, squared=True)


def items(rows: Any, door: Any, rho: Fraction, *, binary: bool = True, squared: bool = False) -> None:
    lattice = ItemLattice.of(np.array([3.0, 4.0, 5.0]), high=np.full(3, 9.0), n=2, squared=squared)
    private_item_sum(source_of(rows, d=3, binary=binary), lattice, 5.0, door, rho=rho, step="items")


def values(rows: Any, door: Any, rho: Fraction) -> None:
    items(rows, door, rho, binary=False)


def squared_values(rows: Any, door: Any, rho: Fraction) -> None:
    items(rows, door, rho, binary=False, squared=True)


def groups(rows: Any, door: Any, rho: Fraction) -> None:
    lattice = ItemLattice.of(np.full(3, 6.0), high=np.ones(3), n=2)
    group, weights = np.array([0, 1, 1]), np.full(2, 6.0)
    private_group_sum(source_of(rows, d=3, binary=True), lattice, group, weights, 6.0, door, rho=rho, step="groups")


def item_norms(rows: Any, door: Any, rho: Fraction) -> None:
    norms = norm_counts(
        source_of(rows, d=3, binary=True), ItemLattice.of(np.array([3.0, 4.0, 5.0]), high=np.ones(3), n=2)
    )
    private_rows_above(norms, len(norms.edges) // 40, door, rho=rho, step="norms")


WORST: dict[str, tuple[Mechanism, object, object]] = {
    "counts": (counts, [[-1, -1, -1], [0, 0, 0]], [[1, 1, 1], [0, 0, 0]]),
    "tail": (tail, [[0.0, 0.0], [0.1, 0.0]], [[900.0, 0.0], [0.1, 0.0]]),
    "sum": (clipped, [[1.0, 0.0], [0.5, 0.5]], [[-1.0, 0.0], [0.5, 0.5]]),
    "squares": (squares, [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]),
    "items": (items, [{0: 1.0, 1: 1.0}, {2: 1.0}], [{2: 1.0}, {2: 1.0}]),
    "values": (values, [{0: 5 / 3}, {1: 1.0}], [{2: 1.0}, {1: 1.0}]),
    "squared values": (squared_values, [{0: (5 / 3) ** 0.5}, {}], [{2: 1.0}, {}]),
    "groups": (groups, [{0: 1.0}, {}], [{1: 1.0}, {}]),
    "item norms": (item_norms, [{}, {}], [{0: 1.0, 1: 1.0, 2: 1.0}, {}]),
}


def divergence(shift: int, sigma2: float, alpha: float) -> float:
    """D_alpha(N_Z(0, sigma2) ‖ N_Z(shift, sigma2)), summed over 9 standard deviations around every peak."""
    if shift == 0:
        return 0.0
    reach = int(9 * sigma2**0.5) + 12
    middle = round((1 - alpha) * shift)
    around_zero, around_peak = np.arange(-reach, reach + 1.0), np.arange(middle - reach, middle + reach + 1.0)
    normal = logsumexp(-(around_zero**2) / (2 * sigma2))
    powers = (-alpha * around_peak**2 - (1 - alpha) * (around_peak - shift) ** 2) / (2 * sigma2)
    return float((logsumexp(powers) - normal) / (alpha - 1))


@np.errstate(all="ignore")  # as in mean
def excess(name: str, rho: Fraction, door_module: Any = meter) -> dict[float, float]:
    """By alpha: the divergence between the outputs on the worst neighbours, less what was paid, relative to it."""
    mechanism, first, second = WORST[name]
    queries, asked = [], []
    for table in (first, second):
        sampler = SilentSampler()
        door = door_module.MeteredNoise(reserved=rho, sampler=sampler, coins=SeededBits(0))
        seen: list[Any] = []
        release = door.release
        door.release = lambda *args, release=release, seen=seen, **kw: seen.append(release(*args, **kw)) or seen[-1]
        mechanism(table, door, rho)
        assert door.spent == rho
        assert len(seen) == len(sampler.asked) == 1
        queries.append(seen[0])
        asked.append(sampler.asked[0])
    assert asked[0] == asked[1]
    shifts = [int(b) - int(a) for a, b in zip(*queries, strict=True)]
    return {
        alpha: sum(divergence(abs(shift), float(asked[0]), alpha) for shift in shifts) / (alpha * float(rho)) - 1
        for alpha in ALPHAS
    }


@pytest.mark.parametrize("rho", [Fraction(1, 4), Fraction(1), Fraction(6)])
@pytest.mark.parametrize("name", WORST)
def test_the_worst_neighbours_cost_what_was_paid(name: str, rho: Fraction) -> None:
    found = excess(name, rho)
    assert max(found.values()) <= ROUNDING
    # And it is not bought dear: at most 3% of what was paid is unused (the slack for rounding).
    assert found[2.0] > -0.03


def test_the_divergence_is_the_textbook_one() -> None:
    # A check of the check: for whole alpha, D = alpha · shift² / (2 σ²) exactly.
    for shift, sigma2 in ((1, 0.6), (2, 3.0), (40, 500.0)):
        assert divergence(shift, sigma2, 2.0) == pytest.approx(shift**2 / sigma2, rel=1e-11)
        assert divergence(shift, sigma2, 1.5) <= 1.5 * shift**2 / (2 * sigma2) * (1 + 1e-11)
