"""Rounding to the lattice is far below the noise at n = 10^7, where truncation would not be."""

from typing import Any

import numpy as np
import pytest
from neighbouring import signed_view
from planted import changed

from plandp.mechanisms import norm_cells
from plandp.mechanisms.clipped_sum import cell_weights
from plandp.mechanisms.norm_cells import CellSums, NormCells
from plandp.planner.split import lattice_points

MANY = 10**7


def noise_std_in_steps(cells: NormCells, radius_cell: int, rho: float) -> float:
    """Noise of the sum in steps of the lattice that the rows lie on."""
    weights, longest = cell_weights(cells, radius_cell)
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


def test_rounding_is_to_nearest() -> None:
    assert worst_rounding(norm_cells) <= 0.5
    truncating = changed(norm_cells, ("np.rint(y)", "np.trunc(y)"))
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
