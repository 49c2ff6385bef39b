"""Rows of items: no clipped row is longer than the radius, and no query moves further than it states.

Norms are checked in Python integers, in which nothing can wrap or round.
"""

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbouring import RecordingDoor, furthest, moved
from neighbouring_items import (
    Row,
    block_of,
    clipped_alone,
    item_company_shows,
    source_of,
    worst_group_sum,
    worst_item_sum,
)
from planted import in_numpy

from plandp.mechanisms import item_rows
from plandp.mechanisms.item_rows import FilledRows, GroupedSum, ItemLattice, NormCells, largest_entry, norm_counts
from plandp.mechanisms.tail_cell import private_rows_above, private_tail_cell
from plandp.noise.discrete_gaussian import fits_int64
from plandp.noise.meter import SMALLEST_FOR_OPENDP
from plandp.planner.sparse_split import sparse_design
from plandp.sparse_algorithm import GROUP_POINTS
from plandp.terms.columns import read_columns

NUMPY: Any = in_numpy(item_rows)  # the same code without the compiler
BOTH = pytest.mark.parametrize("module", [item_rows, NUMPY], ids=["compiled", "NumPy"])


# --- the worst case is allowed for, and reached


@BOTH
@pytest.mark.parametrize(("binary", "squared"), [(True, False), (False, False), (False, True)])
def test_sums_of_items_move_by_exactly_what_is_stated(module: Any, binary: bool, squared: bool) -> None:
    assert worst_item_sum(module, binary=binary, squared=squared) == 1


@BOTH
@pytest.mark.parametrize("binary", [True, False])
def test_sums_of_groups_move_by_exactly_what_is_stated(module: Any, binary: bool) -> None:
    assert worst_group_sum(module, binary=binary) == 1


@pytest.mark.parametrize("binary", [True, False])
def test_a_count_of_items_by_norm_moves_by_exactly_one(binary: bool) -> None:
    lattice = ItemLattice.of(np.full(5, 10.0), high=np.full(5, 1.0), n=9)

    def run(rows: list[Row], door: RecordingDoor) -> None:
        norms = norm_counts(source_of(rows, d=5, binary=binary), lattice)
        assert int(norms.counts.sum()) == 9  # every row, the empty ones too
        prior = np.ones(len(norms.edges))
        private_tail_cell(
            norms, door, prior=prior, tail=1.0, shares=(Fraction(1, 8),) * 8, rho=Fraction(1), step="tail"
        )
        for cell in (-1, 0, 5, len(norms.edges) - 2):
            private_rows_above(norms, cell, door, rho=Fraction(1), step="tail")

    others: list[Row] = [{0: 1.0}, {}, {1: 0.5, 3: 1.0}] * 2 + [{}, {}]
    everything: Row = dict.fromkeys(range(5), 1.0)
    assert furthest(moved(run, [*others, {}], [*others, everything])) == {"tail": 1}


# --- no row is longer, whatever it holds

weight = st.one_of(st.floats(1e-300, 2.0**31), st.sampled_from([1.0, 2.0, 0.5, 2.0**29 - 1, 2.0**30, 1e300, 1e-200]))
value = st.one_of(
    st.floats(min_value=5e-324, allow_nan=False),
    st.floats(0.1, 100),
    st.sampled_from([1.0, float("inf"), 1e308, 5e-324, 0.5, 1.5]),
)


@st.composite
def row_and_lattice(draw: st.DrawFn) -> tuple[Row, ItemLattice, int, bool]:
    """A row, weights from the smallest to the largest, and a radius from 1 point to beyond all norms."""
    d = draw(st.integers(1, 12))
    binary = draw(st.booleans())
    weights = np.array(draw(st.lists(weight, min_size=d, max_size=d)))
    high = draw(st.sampled_from([1.0, 20.0, 2.0**-240, 2.0**240, 1e300]))
    lattice = ItemLattice.of(
        weights,
        high=np.full(d, 1.0 if binary else high),
        n=draw(st.sampled_from([1, 2, 10**6, 2**40])),
        squared=not binary and draw(st.booleans()),
    )
    items = draw(st.permutations(range(d)))[: draw(st.integers(0, d))]
    row = {item: 1.0 if binary else draw(value) for item in items}
    with np.errstate(all="ignore"):  # as in mean
        q = [int(entry) for entry in lattice.vectors(block_of([row], binary=binary)).tolist()] if row else []
    norm = sum(entry**2 for entry in q)
    radius = draw(
        st.one_of(
            st.integers(1, 2**61),
            st.integers(0, 61).map(lambda bits: 2**bits),
            st.sampled_from([norm - 1, norm, norm + 1, isqrt(norm) ** 2, norm // 2, norm // 3]),
        )
    )
    return row, lattice, max(1, radius), binary


@pytest.mark.parametrize("binary", [True, False])
def test_the_number_of_rows_that_hold_anything_moves_by_exactly_one(binary: bool) -> None:
    # rows of one item, of all and of none beside the same others: a count of items, or of values, would move by more
    others = [{}, {0: 1.0}, {1: 3.0, 4: 0.5}]
    found = {}
    for name, row in {"empty": {}, "one": {2: 1e-300}, "all": dict.fromkeys(range(5), 9.0)}.items():
        (counts,) = source_of([*others, row], d=5, binary=binary).fold(FilledRows())
        found[name] = int(counts[0])
    assert found == {"empty": 2, "one": 3, "all": 3}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(case=row_and_lattice())
def test_a_clipped_row_is_never_longer_than_the_radius(case: tuple) -> None:
    row, lattice, squared_radius, binary = case
    with np.errstate(all="ignore"):
        q = lattice.vectors(block_of([row], binary=binary)).tolist()
    assert all(entry == int(entry) and 0 <= entry <= lattice.largest for entry in q)
    whole = dict(zip(row, map(int, q), strict=True))
    length = sum(entry**2 for entry in whole.values())
    added = clipped_alone(item_rows, lattice, squared_radius, row, binary=binary)
    assert added == clipped_alone(NUMPY, lattice, squared_radius, row, binary=binary)
    assert min(added) >= 0
    assert sum(entry**2 for entry in added) <= squared_radius
    if length <= squared_radius:
        assert added == [whole.get(item, 0) for item in range(len(added))]
    else:
        # and not much shorter: two points of the root, and one point of each entry
        for item, entry in whole.items():
            kept = entry * isqrt(squared_radius) / (isqrt(length) + 2)
            assert kept * (1 - 1e-9) - 1 <= added[item] <= kept * (1 + 1e-9)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(case=row_and_lattice(), groups=st.integers(1, 4))
def test_a_clipped_row_of_groups_is_never_longer_than_the_radius(case: tuple, groups: int) -> None:
    row, lattice, squared_radius, binary = case
    d = len(lattice.weights)
    lattice = ItemLattice(
        weights=np.maximum(lattice.weights, 1.0) if binary else lattice.weights,
        high=lattice.high,
        squared=False,
        largest=lattice.largest,
    )
    group = np.arange(d) % min(groups, d)
    by_group = [0] * (int(group.max()) + 1)
    with np.errstate(all="ignore"):
        for item, entry in zip(row, lattice.vectors(block_of([row], binary=binary)).tolist(), strict=True):
            by_group[int(group[item])] += int(entry)
        added = [
            module.GroupedSum(lattice=lattice, group=group, squared_radius=squared_radius)(
                block_of([row], binary=binary)
            )[0].tolist()
            for module in (item_rows, NUMPY)
        ]
    assert added[0] == added[1]
    by_group = [min(entry, lattice.largest) for entry in by_group]
    assert min(added[0]) >= 0
    assert sum(entry**2 for entry in added[0]) <= squared_radius
    if sum(entry**2 for entry in by_group) <= squared_radius:
        assert added[0] == by_group


@pytest.mark.parametrize("radius", [1, 2, 3, 1000, 2**20 - 1, 2**29 + 1, 2**30 - 1])
def test_a_point_above_the_radius_is_clipped_and_a_point_below_is_not(radius: int) -> None:
    # norms one apart, up to 2^59, where float64 has no room for the difference
    lattice = ItemLattice.of(np.ones(1), high=np.full(1, 2.0**31), n=1)
    assert lattice.largest > 2**29
    for entry in (min(max(radius + more, 1), lattice.largest) for more in (-1, 0, 1)):
        for squared_radius in (entry**2 - 1, entry**2, entry**2 + 1):
            if squared_radius >= 1:
                for module in (item_rows, NUMPY):
                    (added,) = clipped_alone(module, lattice, squared_radius, {0: float(entry)}, binary=False)
                    assert added**2 <= squared_radius
                    assert (added == entry) == (entry**2 <= squared_radius)


# --- nothing wraps


@pytest.mark.parametrize("n", [1, 1000, 2**33, 2**50])
@pytest.mark.parametrize("d", [1, 2, 3, 1000, 10**6, 2**29])
def test_no_sum_of_entries_or_squares_reaches_the_end_of_int64(n: int, d: int) -> None:
    largest = largest_entry(n=n, d=d)
    assert 1 <= largest < 2**30
    assert d * largest**2 < 2**59
    assert n * largest < 2**62
    assert d * largest < 2**62  # the sum of a row in one group, before the minimum


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("d", [1, 2, 3, 1000, 10**6])
def test_no_radius_asks_for_more_noise_than_opendp_can_draw(d: int, binary: bool) -> None:
    columns = read_columns(labels=range(1), bounds=(0, 1))
    split = sparse_design(
        n=1, columns=columns, rho=SMALLEST_FOR_OPENDP, error_norm=1.0, binary=binary, refine=frozenset()
    ).split
    largest_radius = float(ItemLattice.of(np.ones(d), high=np.ones(d), n=1).cells[1][-1])
    for share in (split.first_sum, split.squares, split.sum):
        assert not share or fits_int64(int(largest_radius * largest_radius) / share)
    assert fits_int64(int(GROUP_POINTS * GROUP_POINTS) / split.groups)


@BOTH
def test_the_longest_row_that_there_can_be(module: Any) -> None:
    d = 1000
    most = largest_entry(n=1, d=d)
    lattice = module.ItemLattice.of(np.full(d, 1e300), high=np.ones(d), n=1)
    assert lattice.weights.tolist() == [float(most)] * d
    row = dict.fromkeys(range(d), 1.0)
    for binary in (True, False):
        block = block_of([row], binary=binary)
        (counts,) = module.NormCells(lattice=lattice)(block)
        assert counts.tolist() == [0] * (len(counts) - 1) + [1]
        assert clipped_alone(module, lattice, d * most**2, row, binary=binary) == [most] * d
        added = clipped_alone(module, lattice, d * most**2 - 1, row, binary=binary)
        assert 0 < sum(entry**2 for entry in added) < d * most**2 - 1
        whole = module.GroupedSum(lattice=lattice, group=np.zeros(d, np.int64), squared_radius=most**2)
        assert whole(block)[0].tolist() == [most]


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [np.inf, -1.0], [0.0, 5e-324], [-np.inf, 1e308]])
@pytest.mark.parametrize("binary", [True, False])
def test_whatever_was_reckoned_before_weights_are_numbers(weights: list[float], binary: bool) -> None:
    # NaN would make a lattice without cells, and a compiled loop write to memory that is not its own
    lattice = ItemLattice.of(np.array(weights), high=np.ones(2), n=3)
    assert ((lattice.weights > 0) & (lattice.weights <= lattice.largest)).all()
    (counts,) = NormCells(lattice=lattice)(block_of([{0: 1.0}, {}, {0: 1.0, 1: 1.0}], binary=binary))
    assert counts.sum() == 3
    sums = GroupedSum(lattice=lattice, group=np.zeros(2, np.int64), squared_radius=9)(
        block_of([{0: 1.0}], binary=binary)
    )
    assert 0 <= sums[0][0] <= 3


# --- one row alone


@BOTH
def test_sums_of_items_do_not_depend_on_the_company_of_a_row(module: Any) -> None:
    assert item_company_shows(module) == []


@BOTH
@pytest.mark.parametrize("binary", [True, False])
def test_running_sums_that_wrap_leave_no_trace(module: Any, binary: bool) -> None:
    # 3,000 entries of squares near 2^57: sums over many rows wrap twenty times, and norms one point apart show it
    d = 3
    most = largest_entry(n=1, d=d)
    lattice = module.ItemLattice.of(np.array([most, most - 1, 1.0]), high=np.ones(d), n=1)
    rows: list[Row] = [{0: 1.0}, {}, {1: 1.0}, {0: 1.0, 2: 1.0}, {2: 1.0, 1: 1.0, 0: 1.0}] * 500
    for squared_radius in (most**2, most**2 + 1, (most - 1) ** 2):
        alone = [clipped_alone(module, lattice, squared_radius, row, binary=binary) for row in rows[:5]]
        function = module.ClippedSum(lattice=lattice, squared_radius=squared_radius)
        with np.errstate(all="ignore"):
            (sums,) = function(block_of(rows, binary=binary))
        assert sums.tolist() == [500 * sum(entries) for entries in zip(*alone, strict=True)]
        assert alone[0][0] == most or squared_radius < most**2
        assert (alone[3][0] == most) == (squared_radius > most**2)


def test_running_sums_over_all_values_are_rejected() -> None:
    running = in_numpy(
        item_rows,
        (
            "np.cumsum(whole * whole, out=upto[1:])",
            "upto = np.concatenate([[0.0], np.cumsum(lattice.vectors(block) ** 2)])",
        ),
    )
    assert item_company_shows(running)
