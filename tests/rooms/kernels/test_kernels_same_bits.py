"""Compiled loops, the same loops as plain Python, and the NumPy code they stand for give the same bits."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import plandp
from plandp.data import csv_file, distinct_items, sorted_entries
from plandp.data.array import ArrayTable
from plandp.data.blocks import TableRows
from plandp.data.chosen_rows import ChosenRows
from plandp.data.csv_file import open_csv
from plandp.data.open import open_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.sparse_rows import SparseBlock
from plandp.kernels.clean_items import clean_rows, count_entries, find_unclean, place_entries
from plandp.kernels.compiler import compiled
from plandp.kernels.decimal_cells import read_cells, split_product
from plandp.kernels.item_rows import add_clipped, add_grouped, count_cells, write_norms
from plandp.kernels.item_sets import (
    add_clipped_alike,
    add_clipped_sets,
    add_grouped_sets,
    count_items,
    write_set_norms,
)
from plandp.kernels.lattice_keys import count_below, tally_around, tally_values, write_keys
from plandp.kernels.logistic_fit import add_misfits
from plandp.kernels.median_posterior import move_thresholds, split_pieces, write_thresholds
from plandp.kernels.norm_cells import add_up_cells
from plandp.kernels.norm_cells_by_column import add_up_columns
from plandp.kernels.point_tallies import tally_between
from plandp.kernels.proposals import keep_proposals
from plandp.kernels.struct_ends import find_ends
from plandp.kernels.tail_curves import exponential, find_wanted_cell, learn_from_count, logarithm
from plandp.mechanisms import item_rows, lattice_counts, norm_cells, read_again
from plandp.mechanisms import lattice as lattices
from plandp.mechanisms.item_rows import ClippedSum, GroupedSum, ItemLattice
from plandp.mechanisms.item_rows import NormCells as ItemNorms
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import TalliedKeys, Tally, counted_keys, lattice_keys
from plandp.mechanisms.norm_cells import CellSums, NormCells, cell_totals
from plandp.mechanisms.read_again import TallyBetween
from plandp.mechanisms.recentred import Recentred
from plandp.noise import discrete_gaussian
from plandp.noise.bits import SeededBits
from plandp.terms.columns import read_columns
from plandp.theory import bisection, location_fit, search_stage, tail_search

LOOPS = (
    *(
        add_up_cells,
        add_up_columns,
        write_keys,
        tally_between,
        move_thresholds,
        count_below,
        tally_around,
        tally_values,
        add_misfits,
        split_pieces,
        write_thresholds,
        keep_proposals,
        find_wanted_cell,
        learn_from_count,
    ),
    *(count_cells, write_norms, add_clipped, add_grouped),
    *(write_set_norms, count_items, add_clipped_sets, add_clipped_alike, add_grouped_sets),
    *(find_unclean, clean_rows, count_entries, place_entries),
    *(read_cells, find_ends),
)
USERS = (
    *(
        norm_cells,
        lattices,
        lattice_counts,
        read_again,
        search_stage,
        location_fit,
        bisection,
        tail_search,
        discrete_gaussian,
    ),
    *(item_rows, distinct_items, sorted_entries),
)
WAYS = {"compiled": compiled, "plain Python": lambda loop: loop, "NumPy": lambda loop: None}

any_rows = arrays(
    np.float64,
    st.tuples(st.integers(1, 19), st.integers(1, 9)),
    elements=st.one_of(
        st.floats(width=64),
        st.floats(-60, 60),
        st.sampled_from([0.0, -0.0, 0.5, 1.5, 50.0, -50.0, float("nan"), float("inf"), 5e-324, 1.7e308]),
    ),
)


@pytest.fixture(autouse=True)
def all_loops_are_compiled() -> Iterator[None]:
    assert all(compiled(loop) is not None for loop in LOOPS), "the tests need the extra plandp[fast]"
    yield
    for user in USERS:
        user.compiled = compiled  # type: ignore[attr-defined]  # put back what `each_way` changed


def each_way(run: Any) -> list[Any]:
    """What `run` gives compiled, as plain Python and in NumPy."""
    answers = []
    for way in WAYS.values():
        for user in USERS:
            user.compiled = way  # type: ignore[attr-defined]  # the name the module imported
        with np.errstate(all="ignore"):
            answers.append(run())
    return answers


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    table=any_rows, squared=st.booleans(), missing=st.sampled_from([None, 7.25]), points=st.sampled_from([2**16, 2**30])
)
def test_sums_by_norm_cell(table: Any, squared: bool, missing: float | None, points: int) -> None:
    d = table.shape[1]
    view = Recentred(
        low=np.full(d, -50.0),
        high=np.full(d, 40.0),
        missing=None if missing is None else np.full(d, missing),
        center=np.linspace(-1.1, 1.3, d),
        factor=np.geomspace(1e-3, 10.0, d),
    )
    cells = NormCells.around(1.0, lowest=1e-3, highest=30.0, d=d, points=points)
    rows = open_rows(table)
    first, *others = each_way(lambda: cell_totals(rows, view, cells, squared=squared))
    for other in others:
        np.testing.assert_array_equal(first.counts, other.counts)
        np.testing.assert_array_equal(first.sums, other.sums)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    table=any_rows,
    squared=st.booleans(),
    missing=st.sampled_from([None, 7.25]),
    points=st.sampled_from([2**16, 2**30]),
    short=st.booleans(),
    skipped=st.integers(0, 2),
)
def test_sums_of_columns(
    table: Any, squared: bool, missing: float | None, points: int, short: bool, skipped: int
) -> None:
    n, d = table.shape
    view = Recentred(
        low=np.full(d, -50.0),
        high=np.full(d, 40.0),
        missing=None if missing is None else np.full(d, missing),
        center=np.linspace(-1.1, 1.3, d),
        factor=np.geomspace(1e-3, 1e200 if squared and points == 2**16 else 10.0, d),
    )
    cells = NormCells.around(1.0, lowest=1e-3, highest=30.0, d=d, points=points)
    if short:  # so that some rows are too long, and dropped
        cells = NormCells(edges=cells.edges, octave=cells.octave, step=cells.step, bounds=cells.bounds * 99 // 100)
    function = CellSums(view=view, cells=cells, squared=squared, wide=False)
    columns, begins = np.asfortranarray(table).ravel(order="F"), n * np.arange(d)
    rows = range(min(skipped, n - 1), n)
    for way in ("compiled", "plain Python"):
        with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(norm_cells, "compiled", WAYS[way])
            wanted = function(np.ascontiguousarray(table[rows.start :]))
            found = function(table[:0])
            function.add_columns(found, columns, begins, rows)
        for one, same in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("beyond", [0.0, 1e-12, 1e-3, 0.4])
@pytest.mark.parametrize("times", [1, 2, 4, 6])  # columns are mapped eight by eight, the last as if there were more
def test_values_just_beyond_the_box_count_as_its_bounds(beyond: float, squared: bool, times: int) -> None:
    # A row that is as short as can be and leaves the box: were it taken for one that stays within, it would show.
    low, high, center, factor = np.tile(
        [[-3.0, -1.0, -2.0], [1.0, 4.0, 2.0], [0.0, 1.0, 0.5], [1.0, 0.5, 2.0 / 3.0]], times
    )
    d = 3 * times
    view = Recentred(low=low, high=high, missing=None, center=center, factor=factor)
    cells = NormCells.around(1.0, lowest=1e-3, highest=30.0, d=d, points=2**30)
    function = CellSums(view=view, cells=cells, squared=squared, wide=False)
    corners = np.tile(center, (2 * d, 1))
    corners[range(d), range(d)] = high + beyond * (high - center)
    corners[range(d, 2 * d), range(d)] = low - beyond * (center - low)
    inside = np.tile(center + 0.01, (2 * d, 1))
    for before in range(2):  # so that each is the first and the second of a pair, beside a row that stays within
        table = np.concatenate([inside[:before], np.stack([corners, inside], axis=1).reshape(-1, d), corners[::2]])
        within = np.clip(table, low, high)
        pairs = zip(each_way(partial(function, within)), each_way(partial(function, table)), strict=True)
        for wanted, found in pairs:
            for one, same in zip(wanted, found, strict=True):
                np.testing.assert_array_equal(one, same)
        for way in ("compiled", "plain Python"):
            with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
                patch.setattr(norm_cells, "compiled", WAYS[way])
                for row in range(len(table)):  # strips of one row, of two, and of all
                    for rows in (range(row, row + 1), range(row, min(row + 2, len(table))), range(row, len(table))):
                        found = function(table[:0])
                        function.add_columns(found, table.ravel(order="F"), len(table) * np.arange(d), rows)
                        for one, same in zip(function(within[rows.start : rows.stop]), found, strict=True):
                            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("d", "n"), [(3, 2200), (5, 2200), (300, 700)])  # three strips or four
def test_strips_of_columns_after_the_first(d: int, n: int, squared: bool) -> None:
    # The first strip stays within the box, a few rows of later ones do not: each adds what it adds alone.
    view = Recentred(
        low=np.full(d, -50.0), high=np.full(d, 40.0), missing=None, center=np.linspace(-1, 1, d), factor=np.ones(d)
    )
    cells = NormCells.around(3.0, lowest=1e-3, highest=3000.0, d=d, points=2**30)
    function = CellSums(view=view, cells=cells, squared=squared, wide=False)
    table = np.random.default_rng(6).normal(0.0, 3.0 / np.sqrt(d), (n, d))
    outside = range(n * 6 // 10, n, n // 11)
    table[outside, np.arange(len(outside)) % d] = np.resize([41.0, np.nan, -60.0, np.inf], len(outside))
    found = function(table[:0])
    with np.errstate(all="ignore"):
        alone = [function(row) for row in table[:, None]]
        function.add_columns(found, table.ravel(order="F"), n * np.arange(d), range(n))
    for place, same in enumerate(found):
        np.testing.assert_array_equal(sum(each[place] for each in alone), same)


MACHINE_TYPES = ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("wide", [False, True], ids=["rows leave the box", "rows stay within"])
@pytest.mark.parametrize("kind", MACHINE_TYPES)
def test_numbers_of_every_type_count_as_the_nearest_floats(kind: str, wide: bool, squared: bool) -> None:
    # Any bits, so that whole numbers beyond 2⁵³ are among them, and of float32 NaN, infinities and the smallest.
    n, d = 1037, 13
    rng = np.random.default_rng(3)
    dtype = np.dtype(kind)
    table = rng.integers(0, 256, (n, d * dtype.itemsize), np.uint8).view(dtype)
    if dtype.kind == "f" and (wide or dtype.itemsize == 8):
        table = rng.normal(0.0, 1e3, (n, d)).astype(dtype)
    with np.errstate(all="ignore"):
        floats = table.astype(np.float64)
    reach = 2.0**66 if wide else np.nanquantile(abs(floats), 0.7)
    view = Recentred(
        low=np.full(d, -reach), high=np.full(d, reach), missing=None, center=np.arange(d) / 8.0, factor=np.ones(d)
    )
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(view(floats) ** (2 if squared else 1), axis=1)
    typical = float(np.median(norms[np.isfinite(norms)]))
    cells = NormCells.around(typical, lowest=typical / 64, highest=4.0 * typical, d=d, points=2**30)
    function = CellSums(view=view, cells=cells, squared=squared, wide=False)
    for way in ("compiled", "plain Python"):
        if way == "plain Python":
            table, floats = table[:83], floats[:83]
        with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(norm_cells, "compiled", WAYS[way])
            wanted, by_row, by_column = function(floats), function(floats[:0]), function(floats[:0])
            function.add_stored(by_row, table)
            function.add_columns(by_column, table.ravel(order="F"), len(table) * np.arange(d), range(len(table)))
        for found in (by_row, by_column):
            for one, same in zip(wanted, found, strict=True):
                np.testing.assert_array_equal(one, same)
        assert np.count_nonzero(wanted[1]) > d


def test_chosen_rows_are_added_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    table, chosen = np.random.default_rng(4).standard_normal((50, 3)), np.array([0, 3, 4, 11, 12, 30, 49])
    table[11, 1] = np.nan
    monkeypatch.setattr(norm_cells, "TILE", 6)  # two rows
    monkeypatch.setattr(lattices, "TILE", 6)
    view = Recentred(low=np.full(3, -9.0), high=np.full(3, 9.0), missing=None, center=np.zeros(3), factor=np.ones(3))
    lattice = Lattice.of(read_columns(labels=range(3), bounds=(-9, 9), smallest_spread=1.0))
    cells = NormCells.around(1.0, lowest=1e-3, highest=30.0, d=3, points=2**16)
    functions = CellSums(view=view, cells=cells, squared=False, wide=False), Tally(lattice=lattice, missing=None)
    for function in functions:

        def added(function: CellSums | Tally = function) -> Any:
            sums = function(table[:0])
            function.add_to(sums, table, chosen)
            return sums

        for found in each_way(added):
            for one, same in zip(function(table[chosen]), found, strict=True):
                np.testing.assert_array_equal(one, same)


def test_products_are_rounded_before_they_are_made_whole() -> None:
    # Products that are rounded to a half, which goes to an even number: not so had the sum been fused with the product.
    times, halves = 1.0 / 3e-7, np.arange(2**20, 2**20 + 800, 2) + 0.5
    values = halves / times
    table = np.zeros((len(values), 5))
    table[:, 2] = values
    assert np.count_nonzero(values * times == halves) > 300
    wanted = [int(np.rint(value * times)) for value in values]
    cells = NormCells(edges=np.array([1.0]), octave=np.zeros(1, np.int64), step=3e-7, bounds=np.full(1, 2**30))
    view = Recentred(low=np.full(5, -9.0), high=np.full(5, 9.0), missing=None, center=np.zeros(5), factor=np.ones(5))
    function = CellSums(view=view, cells=cells, squared=False, wide=False)
    for found in each_way(lambda: function(table)):
        assert found[1][0].tolist() == [0, 0, sum(wanted), 0, 0]
    norm_cells.compiled = compiled  # type: ignore[attr-defined]  # as it was
    by_column = function(table[:0])
    function.add_columns(by_column, table.ravel(order="F"), len(table) * np.arange(5), range(len(table)))
    assert by_column[1][0].tolist() == [0, 0, sum(wanted), 0, 0]


@pytest.mark.parametrize("above", [False, True], ids=["on edges", "just above edges"])
@pytest.mark.parametrize("d", [37, 300])
def test_norms_are_added_from_the_left_to_the_last_bit(d: int, above: bool) -> None:
    # Every edge is the norm of a row, or the number before it: a norm that comes out one bit different, by another
    # order or a fused operation, falls into another cell, and a norm on an edge belongs below it.
    table = np.random.default_rng(9).standard_normal((300, d))
    norms = np.sqrt(np.add.accumulate(table * table, axis=1)[:, -1])
    edges = np.append(np.unique(np.nextafter(norms, 0.0) if above else norms), 100.0)
    many = len(edges)
    # a power of two: norms measured in steps have the same bits
    cells = NormCells(edges=edges, octave=np.zeros(many, np.int64), step=2.0**-20, bounds=np.full(many, 2**30))
    view = Recentred(low=np.full(d, -50.0), high=np.full(d, 50.0), missing=None, center=np.zeros(d), factor=np.ones(d))
    rows = open_rows(table)
    wanted = [0] + [1] * (many - 1) if above else [1] * (many - 1) + [0]
    for totals in each_way(lambda: cell_totals(rows, view, cells)):
        assert totals.counts.tolist() == wanted
    norm_cells.compiled = compiled  # type: ignore[attr-defined]  # as it was
    function = CellSums(view=view, cells=cells, squared=False, wide=False)
    by_column = function(table[:0])
    function.add_columns(by_column, table.ravel(order="F"), len(table) * np.arange(d), range(len(table)))
    assert by_column[0].tolist() == wanted


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("missing", [None, 7.25])
def test_rows_on_the_verge_of_the_box(squared: bool, missing: float | None) -> None:
    # One entry at, a little within or a little beyond a side of the box, or NaN: the others do not lengthen the row.
    verge = np.outer([0.9, 1 - 2**-52, 1.0, 1 + 2**-52, 1.05, 1.15, 1.5, np.inf, np.nan], [-50.0, 40.0]).ravel()
    center = np.array([-1.1, 0.2, 1.3])
    table = np.concatenate([np.where(np.arange(3) == place, verge[:, None], center) for place in range(3)])
    view = Recentred(
        low=np.full(3, -50.0),
        high=np.full(3, 40.0),
        missing=None if missing is None else np.full(3, missing),
        center=center,
        factor=np.geomspace(0.5, 1.0, 3),
    )
    cells = NormCells.around(30.0, lowest=1e-3, highest=4000.0, d=3, points=2**30)
    for row in table[:, None]:
        first, *others = each_way(lambda row=row: cell_totals(open_rows(row), view, cells, squared=squared))
        for other in others:
            np.testing.assert_array_equal(first.sums, other.sums)


@pytest.mark.parametrize("margin", [2.0**-30, 2.0**-9, 0.1])  # the wider, the more go to the exact verdict
@pytest.mark.parametrize(
    "sigma2", [Fraction(1, 2**40), Fraction(1, 7), Fraction(355, 113), Fraction(10**6), Fraction(2**96)]
)
def test_draws_of_noise(sigma2: Fraction, margin: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_gaussian, "_MARGIN", margin)
    first, *others = each_way(lambda: discrete_gaussian.draw_discrete_gaussian(3000, sigma2, SeededBits(7)).tolist())
    assert all(other == first for other in others)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(table=any_rows, missing=st.sampled_from([None, 7.25]), finest=st.sampled_from([5, 30, 44]))
def test_lattice_keys_and_counts(table: Any, missing: float | None, finest: int) -> None:
    d = table.shape[1]
    columns = read_columns(labels=range(d), bounds=(-50, 40), missing=missing, smallest_spread=90.0 * 2.0**-finest)
    lattice, rows = Lattice.of(columns), open_rows(table)
    thresholds = np.floor(lattice.cells * np.linspace(0.0, 1.0, d))

    def run() -> Any:
        keys = lattice_keys(rows, lattice, columns.missing)
        return keys.keys, keys.missing, keys.twice_below(thresholds)

    first, *others = each_way(run)
    for other in others:
        for one, same in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, same)
            assert one.dtype == same.dtype


@pytest.mark.parametrize("d", [5, 256, 257, 512, 513, 700])
@pytest.mark.parametrize("count", [1, 6, 64, 99])
def test_keys_of_chosen_rows(count: int, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattices, "TILE", 7 * d)
    table = np.random.default_rng(5).normal(0.0, 20.0, (100, d))
    table[::7, 1], table[::3, 2], table[1::5, 4] = np.nan, np.inf, np.nan
    chosen = np.sort(np.random.default_rng(6).choice(100, count, replace=False))
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(-50, 40), smallest_spread=3.0))
    expected = np.where(np.isnan(keys := lattice.keys(table[chosen], None)), lattice.cells, keys)
    lying = TableRows(ChosenRows(table=ArrayTable(array=table, labels=tuple(range(d))), indices=chosen))
    found = [*each_way(lambda: lattice_keys(lying, lattice, None))]
    assert lying.passes == len(found)
    for same in [*found, *each_way(lambda: lattice_keys(open_rows(table[chosen]), lattice, None))]:
        np.testing.assert_array_equal(same.keys, expected)
        np.testing.assert_array_equal(same.missing, np.isnan(table[chosen]).sum(axis=0))


def test_no_chosen_rows_have_no_keys() -> None:
    lattice = Lattice.of(read_columns(labels=range(2), bounds=(0, 9), smallest_spread=1.0))
    missing = np.zeros(2, np.int64)
    nobody = np.empty(0, np.int64)
    each_way(
        lambda: lattices.write_block_keys(
            np.full((3, 2), np.nan), lattice, None, np.empty((0, 2), np.uint16), missing, chosen=nobody
        )
    )
    assert missing.tolist() == [0, 0]


def test_tallies_of_keys() -> None:
    table = np.random.default_rng(3).normal(0.0, 20.0, (200, 5))
    table[::7, 1], table[::3, 2] = np.nan, 40.0
    lattice, rows = Lattice.of(read_columns(labels=range(5), bounds=(-50, 40), smallest_spread=3.0)), open_rows(table)
    tallies = each_way(lambda: counted_keys(rows, lattice, None, stride=1))
    for tallied in tallies:
        assert isinstance(tallied, TalliedKeys)
        np.testing.assert_array_equal(tallied.tally, tallies[0].tally)
        np.testing.assert_array_equal(tallied.before, tallies[0].before)
        np.testing.assert_array_equal(tallied.missing, tallies[0].missing)


entries = st.lists(
    st.tuples(
        st.integers(-1, 9),
        st.integers(-1, 6),
        st.one_of(
            st.floats(width=64),
            st.sampled_from([0.0, -0.0, 0.5, 1.5, 1.0 / 3.0, -0.5, float("nan"), float("inf"), -float("inf"), 5e-324]),
        ),
    ),
    max_size=40,
)


Cells = list[tuple[int, int, float]]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(cells=entries, binary=st.booleans(), shape=st.sampled_from(["coo", "csr", "csc"]), chosen=st.booleans())
def test_rows_of_sparse_matrices(cells: Cells, binary: bool, shape: str, chosen: bool) -> None:
    # entries outside of rows and columns, repeated cells, values that add up to nothing or to no number
    compare_rows(cells, binary, shape, chosen)


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("shape", ["coo", "csr", "csc"])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([(2, 3, 0.5), (2, 4, 1.5), (2, 3, 0.25), (7, 0, 1.0)], id="one cell twice"),
        pytest.param([(0, 4, 1.0), (1, 3, 1.0), (1, 0, 2.0), (6, 0, 1.0)], id="clean, not in order"),
        pytest.param([(2, 3, float("nan")), (2, 3, 7.0), (4, 4, 7.0), (4, 4, float("nan"))], id="NaN and a number"),
        pytest.param([(1, 0, float("nan")), (1, 3, 1.0), (3, 4, float("nan"))], id="NaN alone"),
        pytest.param([(1, 0, 0.0), (1, 3, 1.0), (3, 4, -0.0), (3, 0, 2.0)], id="zeros"),
        pytest.param([(1, 0, 1.0), (1, 6, 1.0), (1, -1, 3.0), (8, 3, 1.0), (-1, 3, 1.0)], id="outside"),
        pytest.param([(5, 3, 1e16), (5, 3, 1.0), (5, 3, -1e16), (5, 4, -1.0)], id="an order that shows"),
    ],
)
def test_awkward_rows_of_sparse_matrices(cells: Cells, binary: bool, shape: str, chosen: bool) -> None:
    compare_rows(cells, binary, shape, chosen)


def compare_rows(cells: Cells, binary: bool, shape: str, chosen: bool) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    rows, columns, values = (np.array([cell[place] for cell in cells]) for place in range(3))
    rows, columns = rows.astype(np.int32), columns.astype(np.int32)
    if shape == "coo":
        matrix = scipy_sparse.coo_array((8, 6))
        matrix.coords, matrix.data = (rows, columns), values.astype(np.float64)
    else:
        matrix = scipy_sparse.csr_array((8, 6)) if shape == "csr" else scipy_sparse.csc_array((8, 6))
        owner, other = (rows, columns) if shape == "csr" else (columns, rows)
        order = np.argsort(owner, kind="stable")
        matrix.indices, matrix.data = other[order], values[order].astype(np.float64)
        matrix.indptr = np.searchsorted(owner[order], np.arange(matrix.shape[0 if shape == "csr" else 1] + 1)).astype(
            np.int32
        )

    def run() -> list[Any]:
        found: list[Any] = []

        def keep(block: SparseBlock) -> tuple[Any, ...]:
            values = np.ones(len(block.items)) if block.values is None else block.values
            for start, end in zip(block.begin[:-1].tolist(), block.begin[1:].tolist(), strict=True):
                found.append((block.items[start:end].tolist(), values[start:end].tobytes()))
            return (np.zeros(1, np.int64),)

        open_sparse_rows(matrix, binary=binary, columns=[4, 0, 3] if chosen else None).fold(keep)
        return found

    first, *others = each_way(run)
    assert len(first) == 8
    assert all(other == first for other in others)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    sizes=st.lists(st.integers(0, 7), min_size=1, max_size=12),
    alike=st.booleans(),
    wide=st.booleans(),
    radius=st.sampled_from([1, 7**2, 1000**2 + 1, 2**45, 2**60]),
    seed=st.integers(0, 99),
)
def test_sums_of_items(sizes: list[int], alike: bool, wide: bool, radius: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, integers = 7, np.int64 if wide else np.int32
    weights = np.full(d, 3.0**seed) if alike else np.exp(rng.uniform(0.0, 23.0, d))
    items = np.concatenate([rng.permutation(d)[:size] for size in sizes]).astype(integers)
    begin = np.cumsum([0, *sizes]).astype(integers)
    values = np.exp(rng.normal(0, 20, len(items)))
    values[rng.random(len(items)) < 0.2] = np.inf
    group = np.arange(d) % 3
    for held in (None, values):
        block = SparseBlock(begin=begin, items=items, values=held)
        for squared in (False, True):
            lattice = ItemLattice.of(weights, high=np.full(d, 1.0 if held is None else 1e9), n=50, squared=squared)
            shared = ItemLattice.of(weights[group], high=lattice.high, n=50)
            functions: list[Any] = [ItemNorms(lattice=lattice), ClippedSum(lattice=lattice, squared_radius=radius)]
            if not squared:
                functions += [GroupedSum(lattice=use, group=group, squared_radius=radius) for use in (lattice, shared)]
            for function in functions:
                first, *others = each_way(lambda function=function, block=block: function(block)[0])
                for other in others:
                    np.testing.assert_array_equal(first, other)


def test_the_fit_of_locations() -> None:
    rng = np.random.default_rng(5)
    thresholds, counts = np.sort(rng.random((7, 6)), axis=1), np.sort(rng.normal(500, 300, (7, 6)), axis=1)

    def run() -> Any:
        return location_fit.fit_locations(
            thresholds, counts, rows=1000, noise_std=15.0, start=np.full(7, 0.5), finest=0.01, widest=1.0
        )

    first, *others = each_way(run)
    for other in others:
        np.testing.assert_array_equal(first, other)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(table=any_rows)
def test_values_between_points(table: Any) -> None:
    d, rng = table.shape[1], np.random.default_rng(8)
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(-50, 40), smallest_spread=1e-3))
    points = np.sort(np.floor(rng.uniform(1.0, lattice.cells[0], (d, 77))), axis=1)
    function = TallyBetween(lattice=lattice, missing=None, points=points, kind=np.int32)
    first, *others = each_way(lambda: open_rows(table).fold(function))
    for other in others:
        for one, same in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, same)


def test_the_posterior_of_the_medians() -> None:
    rng = np.random.default_rng(7)
    cells = rng.integers(2, 10**6, 40).astype(np.float64)
    evidence = rng.normal(0, 30, (25, 40))

    def run() -> Any:
        posterior = bisection.MedianPosterior.uniform(cells)
        for number, one in enumerate(evidence):
            if number % 7 == 0:
                stage = search_stage.Stage.of(posterior, 100)
            posterior = posterior.updated(stage.nearest(posterior.next_threshold()), one)
        return np.concatenate([posterior.edges, posterior.mass, stage.points()], axis=1)

    first, *others = each_way(run)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("noise_std", [1e-30, 0.7, 60.0, 1e30])
@pytest.mark.parametrize("tail", [1.0, 300.0, 39_000.0])
def test_the_search_for_a_tail(tail: float, noise_std: float) -> None:
    edges = 2.0 ** (np.arange(120) / 8 - 5)
    prior = tail_search.Guess.up_to(float(edges[-1]), lowest=float(edges[0]), near=3.0).over(edges)

    def search() -> list[Any]:
        posterior, cells = tail_search.TailPosterior.before(edges, prior=prior, tail=tail), []
        for surprise in (0.3, -2.0, 1.0, 40.0):
            cell = posterior.next_cell(noise_std)
            count = 40_000.0 * min(1.0, edges[cell]) + surprise * noise_std
            seen = tail_search.NoisyCount(cell=cell, count=count, noise_std=noise_std)
            posterior = posterior.updated(seen, rows=40_000)
            cells.append((cell, posterior.begin, posterior.log_weight.tolist()))
        return cells

    first, *others = each_way(search)
    assert np.isfinite(first[-1][-1]).all()
    assert all(other == first for other in others)


def test_the_exponential_and_the_logarithm_of_singles() -> None:
    x = np.linspace(-80.0, 80.0, 20_001).astype(np.float32)
    assert np.abs(exponential(x) / np.exp(x.astype(np.float64)) - 1.0).max() < 2.0**-21
    positive = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(logarithm(positive), np.log(positive.astype(np.float64)), rtol=1e-6, atol=1e-6)


def test_whole_releases() -> None:
    table = np.random.default_rng(6).normal(3, np.arange(1, 12), (1500, 11))
    table[::50, 3] = np.nan
    first, *others = each_way(lambda: plandp.mean(table, bounds=(-200, 300), rho=2, testing_seed=1).to_json())
    assert all(other == first for other in others)


@pytest.mark.parametrize("kind", ["binary", "nonnegative"])
def test_whole_sparse_releases(kind: str) -> None:
    rng = np.random.default_rng(8)
    table = np.where(rng.random((300, 40)) < np.geomspace(0.5, 0.01, 40), rng.gamma(1.0, 3.0, (300, 40)), 0.0)
    table[7] = np.inf
    bounds = (0, 1) if kind == "binary" else (0, 50)
    first, *others = each_way(lambda: plandp.mean(table, kind=kind, bounds=bounds, rho=2, testing_seed=1).to_json())
    assert all(other == first for other in others)


def test_without_numba_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    assert compiled.__wrapped__(add_up_cells) is None


def test_where_numba_compiles_nothing_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    # Numba's own stand-ins would run the loops as Python, all but the question to memory, which has none.
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    assert compiled.__wrapped__(add_up_cells) is None


def test_where_nothing_can_be_kept_loops_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    real = numba.njit

    def no_folder(**settings: Any) -> Any:
        if settings.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**settings)

    monkeypatch.setattr(numba, "njit", no_folder)
    loop = compiled.__wrapped__(count_below)
    assert loop is not None
    below = np.zeros(1, np.int64)
    loop(np.array([[1], [3], [5]], np.int32), np.array([4], np.int32), below)
    assert below.tolist() == [2]


def test_cells_of_a_text_are_the_same_numbers_compiled_or_not(tmp_path: Path) -> None:
    cells = [b"1", b"-2.50", b"", b"x", b"9007199254740993", b"1e-3", b"7e99", b"-0", b" 1", b"12345678901234567890"]
    rng = np.random.default_rng(5)
    text = b"\n".join(
        b",".join(cells[k] for k in rng.integers(0, len(cells), rng.choice([3, 3, 3, 2, 4]))) for _ in range(99)
    )
    (tmp_path / "t.csv").write_bytes(b"a,b,c\n" + text)
    found = []
    for loop in (read_cells, compiled(read_cells), None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_file, "compiled", lambda _, loop=loop: loop)
            found.append(
                np.concatenate(
                    [table.read(slice(0, table.n)) for table, _ in open_csv(tmp_path / "t.csv", None).pieces()]
                )
            )
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_upper_half_of_a_product_has_all_carries(one: int, other: int) -> None:
    assert int(split_product(np.uint64(one), np.uint64(other))) == one * other >> 64


def test_the_upper_half_of_a_product_has_the_carries_of_all_middles() -> None:
    edges = [0, 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 2**32, 2**64 - 1]
    for one, other in product(edges, edges):
        assert int(split_product(np.uint64(one), np.uint64(other))) == one * other >> 64
