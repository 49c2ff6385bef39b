import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from plandp.data.open import open_rows
from plandp.errors import ArgumentError
from plandp.mechanisms.norm_cells import PER_OCTAVE, CellSums, NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred

FloatArray = NDArray[np.float64]

D = 3
VIEW = Recentred(
    low=np.full(D, -50.0), high=np.full(D, 50.0), missing=None, center=np.full(D, 0.5), factor=np.array([1.0, 0.5, 3.0])
)
CELLS = NormCells.around(2.0, lowest=0.1, highest=30.0, d=D, points=2**20)


def one_row(x: list[float], squared: bool) -> tuple[int, list[int]]:
    """Cell and lattice vector of one row, in plain Python."""
    y, unit = [], math.sqrt(CELLS.step) if squared else CELLS.step
    for value, low, high, center, factor in zip(x, VIEW.low, VIEW.high, VIEW.center, VIEW.factor, strict=True):
        entry = 0.0 if math.isnan(value) else (min(max(value, low), high) - center) * (factor / unit)
        y.append(entry * entry if squared else entry)
    norm = math.sqrt(sum(entry * entry for entry in y))
    edges = (CELLS.edges / CELLS.step).tolist()
    cell = next((g for g, edge in enumerate(edges) if norm <= edge), len(edges) - 1)
    scale = (edges[-1] / norm if norm > edges[-1] else 1.0) * 2.0 ** -int(CELLS.octave[cell])
    return cell, [round(entry * scale) for entry in y]


@pytest.mark.parametrize("squared", [False, True])
def test_totals_are_those_of_a_plain_loop(squared: bool) -> None:
    rng = np.random.default_rng(74)
    table = rng.normal(0, 1, (300, D)) * np.exp(rng.normal(0, 2, (300, 1)))
    table[::40, 1] = np.nan
    table[::77, 2] = -np.inf
    counts, sums = [0] * len(CELLS.edges), [[0] * D for _ in CELLS.edges]
    for row in table.tolist():
        cell, vector = one_row(row, squared)
        counts[cell] += 1
        sums[cell] = [a + b for a, b in zip(sums[cell], vector, strict=True)]
    totals = cell_totals(open_rows(table), VIEW, CELLS, squared=squared)
    assert totals.counts.tolist() == counts
    assert totals.sums.tolist() == sums
    assert sum(counts) == 300


def seen_twice(
    function: CellSums, first: FloatArray, second: FloatArray, *, group: int = 2, rows: int = 70
) -> tuple[NDArray[Any], ...]:
    """What two looks at a table make of it, a few columns of some rows at a time; the second may find another."""
    sums = function(np.empty((0, D)))
    for look, table in zip(function.looks(sums, len(first)), (first, second), strict=True):
        for place in range(0, D, group):
            for begin in range(0, len(table), rows):
                look(begin, place, list(table[begin : begin + rows, place : place + group].T))
    return sums


def awkward_rows() -> FloatArray:
    rng = np.random.default_rng(77)
    table = rng.normal(0, 1, (500, D)) * np.exp(rng.normal(0, 2, (500, 1)))
    table[::40, 1] = np.nan
    table[::77, 2] = -np.inf
    table[::91] = 0.5  # at the centre
    table[3] = [5e-324, 1e308, -1e308]
    return table


@pytest.mark.parametrize("missing", [None, np.array([2.0, 0.5, -9.0])])
@pytest.mark.parametrize("squared", [False, True])
def test_two_looks_at_columns_add_what_rows_do(
    squared: bool, missing: FloatArray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plandp.mechanisms.norm_cells.EXACT", 31 * int(CELLS.bounds.max()))  # sums of so many rows
    function = CellSums(view=replace(VIEW, missing=missing), cells=CELLS, squared=squared, wide=False)
    assert function.takes_groups
    assert not replace(function, wide=True).takes_groups
    table = awkward_rows()
    with np.errstate(all="ignore"):
        expected = function(table)
        assert (expected[0] > 0).sum() > 30
        for part, other in zip(expected, seen_twice(function, table, table), strict=True):
            assert part.dtype == other.dtype
            assert part.tolist() == other.tolist()


def test_two_looks_drop_what_has_no_norm() -> None:
    """By the same public rule as rows in blocks: lengths that overflow add nothing but to the last cell's count."""
    far = replace(VIEW, low=np.full(D, -1e200), high=np.full(D, 1e200))
    function = CellSums(view=far, cells=CELLS, squared=False, wide=False)
    table = np.array([[1e200, 0.0, 0.0], [1.0, 2.0, 3.0], [0.0, -1e200, 1e200]])
    with np.errstate(all="ignore"):
        expected, seen = function(table), seen_twice(function, table, table)
    assert expected[0][-1] == 2
    assert [part.tolist() for part in seen] == [part.tolist() for part in expected]


def test_two_looks_drop_what_is_not_finite_and_nothing_else() -> None:
    """Factors are finite for all arguments that are taken; were one not so, other rows would count all the same."""
    far = replace(VIEW, low=np.full(D, -1e200), high=np.full(D, 1e200), factor=np.array([1e200, 1.0, 1.0]))
    function = CellSums(view=far, cells=CELLS, squared=False, wide=False)
    table = np.array([[1e200, 0.0, 0.0], [0.5, 11.0, 3.0], [0.5, 12.0, 3.0]])
    with np.errstate(all="ignore"):
        expected, seen = function(table), seen_twice(function, table, table)
    assert expected[1].any()
    assert [part.tolist() for part in seen] == [part.tolist() for part in expected]


def test_no_row_seen_twice_is_longer_than_its_bound_even_where_bounds_are_too_small() -> None:
    cells = replace(CELLS, bounds=CELLS.bounds * 99 // 100)
    function = CellSums(view=VIEW, cells=cells, squared=False, wide=False)
    dropped = 0
    for row in awkward_rows():
        with np.errstate(all="ignore"):
            counts, sums = seen_twice(function, row[None], row[None])
        cell = int(counts.argmax())
        dropped += not sums.any()
        assert sum(entry**2 for entry in sums[cell].tolist()) <= int(cells.bounds[cell]) ** 2
    assert 20 < dropped < 480


@pytest.mark.parametrize("row", [0, 69, 70, 499])
def test_rows_that_are_longer_at_the_second_look_are_refused(row: int) -> None:
    """The norm of the first look bounds what a row adds at the second."""
    function = CellSums(view=VIEW, cells=CELLS, squared=False, wide=False)
    table = awkward_rows()
    other = table.copy()
    other[row] = [0.7, 0.9, 1.1]
    with np.errstate(all="ignore"), pytest.raises(ArgumentError, match="changed while it was read"):
        seen_twice(function, table, other)
    other = table.copy()
    other[row, 0] = table[row, 0] * (1 + 2.0**-45)  # by next to nothing
    with np.errstate(all="ignore"), pytest.raises(ArgumentError, match="changed while it was read"):
        seen_twice(function, table, other)


def test_numpys_buffer_is_as_long_as_before() -> None:
    before = np.getbufsize()
    with np.errstate(all="ignore"):
        CellSums(view=VIEW, cells=CELLS, squared=False, wide=False).lattice_vectors(np.ones((3, D)))
        assert np.getbufsize() == before


def test_wide_sums_are_the_same_numbers() -> None:
    table = np.random.default_rng(75).normal(0, 5, (200, D))
    narrow = CellSums(view=VIEW, cells=CELLS, squared=False, wide=False)
    with np.errstate(all="ignore"):
        plain, python = narrow(table)[1], replace(narrow, wide=True)(table)[1]
    assert (plain.dtype, python.dtype) == (np.int64, np.object_)
    assert plain.tolist() == python.tolist()


def test_sums_beyond_whole_floats_are_exact() -> None:
    # Vectors that need more than 32 bits: a tile is added up in floats, which are whole up to 2⁵³ alone.
    cells = NormCells(
        edges=np.array([1.0]), octave=np.zeros(1, np.int64), step=2.0**-40, bounds=np.array([2**40], np.int64)
    )
    view = Recentred(low=np.full(1, -2.0), high=np.full(1, 2.0), missing=None, center=np.zeros(1), factor=np.ones(1))
    table = np.full((40_001, 1), (2**40 - 1) / 2**40)
    assert not cells.narrow
    assert cell_totals(open_rows(table), view, cells).sums.tolist() == [[40_001 * (2**40 - 1)]]


def test_so_many_rows_that_int64_could_overflow_are_added_in_python_integers() -> None:
    class ManyRows:
        """A source that says it is long."""

        n = 2**42

        def fold(self, function: CellSums) -> tuple:
            assert function.wide
            with np.errstate(all="ignore"):
                return function(np.ones((5, D)))

    totals = cell_totals(ManyRows(), VIEW, CELLS)
    assert totals.sums.dtype == np.object_


@pytest.mark.parametrize("points", [2**4, 2**20, 2**30])
@pytest.mark.parametrize("d", [1, 100, 10**6])
def test_the_geometry_holds_every_norm_with_room_for_rounding(points: int, d: int) -> None:
    cells = NormCells.around(3.0, lowest=0.2, highest=500.0, d=d, points=points)
    assert (np.diff(cells.edges) > 0).all()
    assert cells.edges[0] <= 0.2 * 2 ** (1 / PER_OCTAVE)
    assert cells.edges[-1] >= 500.0
    steps = cells.step * 2.0**cells.octave
    # Any vector up to the edge, rounded to nearest, stays within the bound of its cell.
    assert (cells.edges / steps + math.sqrt(d) / 2 <= cells.bounds).all()
    # And lattices get coarser only with the norm: no row has more than 1/points of its octave's top as step.
    assert (steps[cells.octave > 0] * points < 2.0 * cells.edges[cells.octave > 0] * (1 + 1e-9)).all()


def test_unreleased_totals_do_not_print() -> None:
    totals = cell_totals(open_rows(np.full((3, D), 7.0)), VIEW, CELLS)
    assert "array" not in repr(totals)
