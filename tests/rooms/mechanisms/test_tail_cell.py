from fractions import Fraction

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import tail_cell
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.tail_cell import FINER_AND_FINER, private_rows_above, private_tail_cell
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
        totals.norms, door, prior=flat, tail=wanted, shares=FINER_AND_FINER, rho=Fraction(5), step="radius"
    ).cell
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
            totals.norms,
            open_door(reserved=Fraction(1), testing_seed=83),
            prior=flat,
            tail=1.0,
            shares=FINER_AND_FINER,
            rho=Fraction(1),
            step="radius",
        ).cell
        assert 0 <= cell < len(cells.edges)


@np.errstate(all="ignore")  # as in mean
def test_what_is_known_costs_nothing_and_is_used() -> None:
    # 20 counts of noise .2 rows are known: one more of noise 700 rows cannot have found the edge.
    table = np.abs(np.random.default_rng(84).normal(0, 1, 5000))
    totals = cell_totals(open_rows(table), VIEW, CELLS)
    flat = np.full(len(CELLS.edges), 1.0)
    rough, sharp = Fraction(1, 10**6), Fraction(250)
    door = open_door(reserved=sharp + rough, testing_seed=85)
    known = private_tail_cell(
        totals.norms, door, prior=flat, tail=30.0, shares=(Fraction(1, 20),) * 20, rho=sharp, step="radius"
    ).counts
    found = private_tail_cell(
        totals.norms, door, prior=flat, tail=60.0, shares=(Fraction(1),), rho=rough, step="radius", known=known
    )
    assert 40 < int((table > CELLS.edges[found.cell]).sum()) < 90
    assert len(found.counts) == 21
    assert door.remaining == 0


@np.errstate(all="ignore")  # as in mean
def test_the_rows_above_an_edge() -> None:
    table = np.abs(np.random.default_rng(86).normal(0, 1, 5000))
    totals = cell_totals(open_rows(table), VIEW, CELLS)
    for cell in (0, 40, len(CELLS.edges) - 1):
        door = open_door(reserved=Fraction(100), testing_seed=87)
        above = private_rows_above(totals.norms, cell, door, rho=Fraction(100), step="radius")
        # The noise of 100-zCDP is .07 rows: the count is exact but for one case in 10^11.
        assert above == float((table > CELLS.edges[cell]).sum())
        assert door.remaining == 0
