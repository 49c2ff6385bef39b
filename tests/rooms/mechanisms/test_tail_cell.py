from fractions import Fraction

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import tail_cell
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.tail_cell import FINER_AND_FINER, private_tail_cell
from plandp.noise.meter import open_door

CELLS = NormCells.around(1.0, lowest=0.05, highest=20.0, d=1, points=2**20)
VIEW = Recentred(low=np.array([-99.0]), high=np.array([99.0]), missing=None, center=np.zeros(1), factor=np.ones(1))


def test_all_shares_add_up_to_the_whole() -> None:
    schedules = [value for value in vars(tail_cell).values() if isinstance(value, tuple) and value]
    assert FINER_AND_FINER in schedules
    for shares in schedules:
        assert sum(shares) == 1
        assert all(isinstance(share, Fraction) and share > 0 for share in shares)


@np.errstate(all="ignore")  # as in mean
@pytest.mark.parametrize("wanted", [20.0, 100.0, 600.0])
def test_the_edge_leaves_about_as_many_rows_as_wanted(wanted: float) -> None:
    table = np.abs(np.random.default_rng(81).normal(0, 1, 5000))
    totals = cell_totals(open_rows(table), VIEW, CELLS)
    door = open_door(reserved=Fraction(5), testing_seed=82)
    flat = np.full(len(CELLS.edges), 1.0)
    cell = private_tail_cell(
        totals, door, prior=flat, tail=flat * wanted, shares=FINER_AND_FINER, rho=Fraction(5), step="radius"
    )
    # The last count's noise is half a row and an edge is 2% of the norm away: noise cannot explain a factor of 1.5.
    above = int((table > CELLS.edges[cell]).sum())
    assert wanted / 1.5 < above < 1.5 * wanted
    assert [payment.squared_sensitivity for payment in door.payments] == [1] * len(FINER_AND_FINER)
    assert [payment.rho for payment in door.payments] == [5 * share for share in FINER_AND_FINER]
    assert door.remaining == 0


@np.errstate(all="ignore")  # as in mean
@pytest.mark.parametrize("value", [0.0, 1.0, 50.0])
def test_equal_rows_and_two_cells_are_no_trouble(value: float) -> None:
    small = NormCells.around(1.0, lowest=0.9, highest=0.91, d=1, points=2**20)
    for cells in (CELLS, small):
        totals = cell_totals(open_rows(np.full(50, value)), VIEW, cells)
        flat = np.full(len(cells.edges), 1.0)
        cell = private_tail_cell(
            totals,
            open_door(reserved=Fraction(1), testing_seed=83),
            prior=flat,
            tail=flat,
            shares=FINER_AND_FINER,
            rho=Fraction(1),
            step="radius",
        )
        assert 0 <= cell < len(cells.edges)
