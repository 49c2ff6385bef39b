"""Rounding to the lattice is far below the noise at n = 10^7, where truncation would not be."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from neighbouring import signed_view
from planted import changed
from silent_sampler import SilentSampler

from plandp.data.open import open_rows
from plandp.mechanisms import norm_cells
from plandp.mechanisms.clipped_sum import cell_weights, finer_bits
from plandp.mechanisms.norm_cells import CellSums, NormCells
from plandp.methods import GAUSSIAN, PLAN, UNSCALED
from plandp.noise.bits import SeededBits
from plandp.noise.meter import MeteredNoise
from plandp.planner.split import lattice_points
from plandp.terms.columns import read_columns

MANY = 10**7


def noise_std_in_steps(cells: NormCells, radius_cell: int, rho: float) -> float:
    """Noise of the sum in steps of the lattice that the rows lie on."""
    weights, longest = cell_weights(cells, radius_cell, finer_bits(cells, radius_cell, Fraction(1)))
    return 2.0 * longest / np.sqrt(2.0 * rho) / weights[radius_cell]


def offset_of_equal_rows(row: np.ndarray, cells: NormCells, vectors: np.ndarray, radius_cell: int) -> float:
    """How far n equal rows' sum is off, in its worst coordinate and in steps: n times one row's rounding."""
    step = cells.step * 2.0 ** int(cells.octave[radius_cell])
    return float(MANY * np.abs(row / step - vectors).max())


@pytest.mark.parametrize("rho", [0.01, 1.0])
def test_ten_million_equal_rows_are_off_by_less_than_a_tenth_of_the_noise(rho: float) -> None:
    rng = np.random.default_rng(40)
    for d in (1, 16, 256):
        # dense non-negative rows, all equal: every rounding error points the same way
        row = rng.uniform(0.2, 1.0, (1, d))
        row /= np.sqrt((row**2).sum())
        fine = NormCells.around(1.0, lowest=0.5, highest=1.0, d=d, points=lattice_points(MANY, rho))
        function = CellSums(view=signed_view(d), cells=fine, squared=False, wide=False)
        with np.errstate(all="ignore"):
            cell, vectors = function.lattice_vectors(row)
        radius_cell = int(cell[0])
        noise = noise_std_in_steps(fine, radius_cell, rho)
        assert offset_of_equal_rows(row, fine, vectors, radius_cell) < noise / 10
        assert noise / 10 > MANY / 2  # whatever the row
        # Its neighbour that must not be: truncation toward zero on 2^20 points.  Planted, seen, kept.
        coarse = NormCells.around(1.0, lowest=0.5, highest=1.0, d=d, points=2**20)
        truncated = np.trunc(row / (coarse.step * 2.0 ** int(coarse.octave[radius_cell])))
        if rho == 1.0 and d > 1:
            off = offset_of_equal_rows(row, coarse, truncated, radius_cell)
            assert off > 3 * noise_std_in_steps(coarse, radius_cell, rho)


@np.errstate(all="ignore")  # as in mean
def test_a_whole_run_over_ten_million_equal_rows_is_off_by_rounding_far_below_its_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert whole_run_offset() < 0.1
    # Planted: the lattice of a smaller table.
    monkeypatch.setattr("plandp.planner.split.MOST_LATTICE_POINTS", 2**20)
    assert whole_run_offset() > 1


def whole_run_offset() -> float:
    """How far the mean of n equal rows is off without any noise, in standard deviations of the noise left out."""
    row = np.array([0.3, 0.77, 0.123])
    rows = open_rows(np.broadcast_to(row, (MANY, 3)))
    columns = read_columns(labels=range(3), bounds=(0, 1))
    design = GAUSSIAN.plan(n=MANY, columns=columns, rho=Fraction(1), error_norm=2.0)
    door = MeteredNoise(reserved=Fraction(1), sampler=SilentSampler(), coins=SeededBits(0))
    estimate = GAUSSIAN.run(rows, design, door)
    return float((np.abs(estimate.mean - row) / estimate.noise_std).max())


@pytest.mark.parametrize("estimator", [PLAN, UNSCALED, GAUSSIAN], ids=lambda estimator: estimator.name)
def test_every_method_plans_a_lattice_that_grows_with_the_rows(estimator: Any) -> None:
    columns = read_columns(labels=range(3), bounds=(0, 1))
    few, many = (estimator.plan(n=n, columns=columns, rho=Fraction(1), error_norm=2.0) for n in (1000, MANY))
    assert many.lattice_points > 100 * few.lattice_points
    # n rows, all rounded half a step the same way, against the noise of a radius of `lattice_points` steps
    assert 0.1 * np.sqrt(2.0 / float(many.split.sum)) * many.lattice_points > MANY / 2


def test_rounding_is_to_nearest() -> None:
    assert worst_rounding(norm_cells) <= 0.5
    truncating = changed(norm_cells, ("np.rint(y, out=y)", "np.trunc(y, out=y)"))
    assert worst_rounding(truncating) > 0.8


def worst_rounding(module: Any) -> float:
    """The largest distance, in steps, between an entry and its lattice point."""
    cells = module.NormCells.around(1.0, lowest=0.5, highest=1.0, d=2, points=2**10)
    function = module.CellSums(view=signed_view(2), cells=cells, squared=False, wide=False)
    entries = np.linspace(-0.3, 0.3, 1999)
    rows = np.stack([entries, entries[::-1]], axis=1)
    with np.errstate(all="ignore"):
        _, vectors = function.lattice_vectors(rows)
    return float(np.abs(rows / cells.step - vectors).max())
