from fractions import Fraction

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.mechanisms.norm_cells import CellTotals, NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.noise.meter import open_door

RHO = Fraction(10**6)  # so large that noise is no concern: what is tested is the sum


def totals_of(table: np.ndarray, cells: NormCells) -> CellTotals:
    reach = np.full(table.shape[1], 2.0**50)
    view = Recentred(low=-reach, high=reach, missing=None, center=0 * reach, factor=np.ones(len(reach)))
    return cell_totals(open_rows(table), view, cells)


def rows(n: int = 300, d: int = 4) -> np.ndarray:
    rng = np.random.default_rng(76)
    return rng.normal(1.0, 1, (n, d)) * np.exp(rng.normal(0, 1.5, (n, 1)))


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 1.0])
def test_rows_above_the_radius_come_out_as_long_as_it(place: float) -> None:
    table = rows()
    cells = NormCells.around(2.0, lowest=0.1, highest=200.0, d=4, points=2**20)
    radius_cell = round(place * (len(cells.edges) - 1))
    radius = float(cells.edges[radius_cell])
    noisy = private_clipped_sum(
        totals_of(table, cells), radius_cell, open_door(reserved=RHO, testing_seed=77), rho=RHO, step="sum"
    )
    norms = np.sqrt((table**2).sum(axis=1))
    kept = table[norms <= radius].sum(axis=0)
    cut = table[norms > radius] * (radius / norms[norms > radius])[:, None]
    # What is cut comes out at most 1 - 2^(-1/32)·63/64 = 3.7% short, never long; the noise is 1e-3 of the radius.
    missing = kept + cut.sum(axis=0) - noisy.total
    most = 0.037 * np.abs(cut).sum(axis=0) + 0.01 * radius
    assert (np.abs(missing) <= most).all()
    assert noisy.noise_std == pytest.approx(2 * radius / np.sqrt(2 * float(RHO)), rel=1e-4)


def test_without_clipping_the_sum_is_right_to_the_lattice() -> None:
    table = rows()
    longest = float(np.sqrt((table**2).sum(axis=1)).max())
    cells = NormCells.around(longest, lowest=longest / 2, highest=1.001 * longest, d=4, points=2**30)
    last = len(cells.edges) - 1
    noisy = private_clipped_sum(
        totals_of(table, cells), last, open_door(reserved=RHO, testing_seed=78), rho=RHO, step="sum"
    )
    # six standard deviations: false alarm below 4 · 2e-9
    assert np.abs(noisy.total - table.sum(axis=0)).max() < 6 * noisy.noise_std


def test_sums_beyond_int64_are_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    # A radius many octaves up on a finer lattice makes R about 2^57: a thousand such rows no longer fit, and Python
    # integers take over.  (On the lattice in use that takes 2^16 rows.)
    monkeypatch.setattr("plandp.mechanisms.clipped_sum.FINER_OCTAVES", 20)
    monkeypatch.setattr("plandp.mechanisms.clipped_sum.LARGEST_VARIANCE_BITS", 200)
    cells = NormCells.around(1.0, lowest=0.5, highest=2.0**40, d=4, points=2**30)
    table = np.abs(rows(1000))
    table[1:] *= 2.0**39 / np.sqrt((table[1:] ** 2).sum(axis=1))[:, None]
    totals = totals_of(table, cells)
    last = len(cells.edges) - 1
    door = open_door(reserved=RHO, testing_seed=79)
    noisy = private_clipped_sum(totals, last, door, rho=RHO, step="sum")
    assert 1000**2 * door.payments[0].squared_sensitivity // 4 > 2**124  # rows · R is beyond 2^62
    assert np.abs(noisy.total - table.sum(axis=0)).max() < 6 * noisy.noise_std
    as_objects = CellTotals(cells=cells, counts=totals.counts, sums=totals.sums.astype(object))
    again = private_clipped_sum(as_objects, last, open_door(reserved=RHO, testing_seed=79), rho=RHO, step="sum")
    assert again.total.tolist() == noisy.total.tolist()


def test_what_is_paid_is_what_is_said() -> None:
    cells = NormCells.around(2.0, lowest=1.0, highest=4.0, d=4, points=2**20)
    for nonnegative, factor in ((False, 4), (True, 2)):
        door = open_door(reserved=Fraction(3), testing_seed=80)
        noisy = private_clipped_sum(
            totals_of(np.abs(rows()), cells), 40, door, rho=Fraction(3), step="spread", nonnegative=nonnegative
        )
        (payment,) = door.payments
        assert (payment.step, payment.rho, payment.values) == ("spread", 3, 4)
        radius = float(cells.edges[40])
        assert noisy.noise_std == pytest.approx(np.sqrt(factor * radius**2 / 6), rel=1e-4)
