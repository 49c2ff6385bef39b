"""The lattices that rows are put on: no number is too large for the proof, and rounding stays below the noise."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms.clipped_sum import FRACTION_BITS, cell_weights, finer_bits
from plandp.mechanisms.norm_cells import CellSums, NormCells
from plandp.planner.split import MOST_LATTICE_POINTS, plan_design
from plandp.steps import radius
from plandp.terms.columns import read_columns

D = 3
RHOS = [Fraction(1, 2**32), Fraction(1, 2**21), Fraction(1, 100), Fraction(1), Fraction(10**9)]


def cells_for(n: int, rho: Fraction, *, wide: bool = False) -> tuple[NormCells, float, Any]:
    """The cells of `plan`, the norm that its spreads predict, and its design."""
    columns = read_columns(labels=range(D), bounds=(-1e6, 1e6))
    design = plan_design(n=n, columns=columns, rho=rho, error_norm=2.0)
    center, spread, stretch = np.zeros(D), np.array([1.0, 5.0, 30.0]), np.array([1.0, 2.0, 5.0])
    rows = open_rows(np.zeros((2, D)))
    with np.errstate(all="ignore"):  # as in the fold
        if wide:
            totals = radius.wide_norm_cells(rows, center, stretch, design)
        else:
            totals = radius.stretched_norm_cells(rows, center, spread, stretch, design)
    return totals.cells, radius.typical_norm(spread, stretch), design


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("n", [2, 10**4, 10**9, 10**12])
def test_lattice_vectors_and_variances_stay_within_the_proof(n: int, rho: Fraction, wide: bool) -> None:
    cells, _, design = cells_for(n, rho, wide=wide)
    assert (cells.edges <= MOST_LATTICE_POINTS * cells.step / cells.finer * (1 + 1e-9)).all()
    assert cells.narrow
    for cell in range(0, len(cells.edges), 7):
        finer = finer_bits(cells, cell, design.split.sum)
        _, longest = cell_weights(cells, cell, finer)
        assert finer >= FRACTION_BITS
        assert 2 * longest**2 / design.split.sum < 2**96  # whether it can be drawn must not follow from the radius


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_rows_of_the_most_unlike_columns_are_measured_in_steps_by_ordinary_floats(wide: bool, squared: bool) -> None:
    # Widths, units and spreads at the ends of what is taken: a factor per step would be infinite for wider columns.
    width, unit = 2.0 ** np.array([600.0, 600, -600, -600]), 2.0 ** np.array([120.0, -120, 120, -120])
    columns = read_columns(
        labels=range(4), bounds=[(0, each) for each in width], error_scale=width * unit, smallest_spread=width / 2**45
    )
    design = plan_design(n=10**9, columns=columns, rho=Fraction(1), error_norm=2.0)
    middle, rows = width / 2, open_rows(np.zeros((2, 4)))
    for spread in (width / 2**49, width / 2):
        stretch = np.ones(4) if wide else (spread / columns.error_scale) ** 0.5
        with np.errstate(all="ignore"):  # as in the fold
            if wide:
                cells = radius.wide_norm_cells(rows, middle, stretch, design).cells
            else:
                cells = radius.stretched_norm_cells(rows, middle, spread / columns.error_scale, stretch, design).cells
        view = radius.stretched_view(middle, stretch, design)
        function = CellSums(view=view, cells=cells, squared=squared, wide=False)
        assert np.isfinite(function._in_steps.factor).all()
        with np.errstate(over="raise", invalid="raise"):
            farthest = (function._in_steps(width[None]) ** (2 if squared else 1)) ** 2
        assert np.isfinite(farthest.sum())
        assert farthest.sum() > 0.0


@pytest.mark.parametrize(("n", "rho"), [(500_000, Fraction(1)), (10**6, Fraction(1, 100)), (2 * 10**7, Fraction(1))])
def test_rows_rounded_all_one_way_stay_far_below_the_noise(n: int, rho: Fraction, monkeypatch: Any) -> None:
    assert rounding_in_noise(n, rho) <= 1 / 64
    monkeypatch.setattr(radius, "MOST_UP_TO", 4.0)  # planted: three octaves of rows on one lattice
    assert rounding_in_noise(n, rho) > 1 / 64


def rounding_in_noise(n: int, rho: Fraction) -> float:
    """n half steps, in standard deviations of the noise where the radius is the predicted norm."""
    cells, typical, design = cells_for(n, rho)
    cell = int(np.searchsorted(cells.edges, typical))
    weights, longest = cell_weights(cells, cell, finer_bits(cells, cell, design.split.sum))
    return float(n / 2 * int(weights[cell]) / (2 * longest / np.sqrt(2 * float(design.split.sum))))
