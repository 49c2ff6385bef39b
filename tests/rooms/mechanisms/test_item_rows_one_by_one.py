"""Norms, clipped sums and group sums of sets against rows taken one by one, in Python's integers and floats."""

from dataclasses import replace
from functools import partial
from math import floor, isqrt, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plandp.data.compressed_rows import CompressedRows
from plandp.data.sparse_rows import SparseBlock
from plandp.mechanisms import item_rows
from plandp.mechanisms.item_rows import (
    ClippedSum,
    GroupedSum,
    ItemCounts,
    ItemLattice,
    NormCells,
    norm_counts_held,
)

Sets = list[list[int]]


def blocks_of(rows: Sets, cut: int) -> list[SparseBlock]:
    """The rows in blocks of so many."""
    return [
        SparseBlock(
            begin=np.cumsum([0, *map(len, part)]).astype(np.int32),
            items=np.array([item for row in part for item in row], np.int32),
            values=None,
        )
        for part in (rows[first : first + cut] for first in range(0, len(rows), cut))
    ]


def clipped(vector: list[int], squared_radius: int) -> list[int]:
    """The vector, scaled down to the radius as the proof says."""
    norm = sum(entry**2 for entry in vector)
    if norm <= squared_radius:
        return vector
    shorter = isqrt(squared_radius) / floor(sqrt(norm) + 2.0) * (1.0 - 2.0**-50)
    return [int(entry * shorter) for entry in vector]


def added_up(vectors: list[list[int]]) -> list[int]:
    return [sum(entries) for entries in zip(*vectors, strict=True)]


@st.composite
def sets(draw: st.DrawFn) -> tuple[Sets, int]:
    """Rows without items, with few and with all, and how many items there are."""
    d = draw(st.integers(1, 40))
    sizes = draw(st.lists(st.one_of(st.just(0), st.integers(0, min(3, d)), st.integers(0, d)), min_size=1, max_size=25))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return [rng.permutation(d)[:size].tolist() for size in sizes], d


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    rows_and_items=sets(),
    points=st.sampled_from([1.0, 7.0, 1000.0, 1e6, 1e300]),
    uneven=st.sampled_from([0.0, 0.01, 3.0]),
    place=st.floats(0.0, 1.0),
    cut=st.sampled_from([1, 4, 100]),
    compiler=st.booleans(),
)
def test_every_sum_is_that_of_its_rows(
    rows_and_items: tuple[Sets, int], points: float, uneven: float, place: float, cut: int, compiler: bool
) -> None:
    rows, d = rows_and_items
    rng = np.random.default_rng(len(rows))
    group = np.arange(d) % min(6, d)
    by_column = points * np.exp(uneven * rng.random(d))
    lattice = ItemLattice.of(by_column, high=np.ones(d), n=30)
    grouped = ItemLattice.of(by_column[: group.max() + 1][group], high=np.ones(d), n=30)
    weights, shared = (use.whole_weights.tolist() for use in (lattice, grouped))
    vectors = [[weights[item] if item in row else 0 for item in range(d)] for row in map(set, rows)]
    sums = [
        [min(sum(shared[item] for item in row if group[item] == g), grouped.largest) for g in range(group.max() + 1)]
        for row in rows
    ]
    norms, group_norms = ([sum(entry**2 for entry in row) for row in all_rows] for all_rows in (vectors, sums))
    # from all rows clipped to none, and exactly at the norm of one
    radius, group_radius = (max(1, sorted(some)[int(place * (len(some) - 1))]) for some in (norms, group_norms))

    lowest, edges = lattice.cells
    cells = [int(np.float64(norm).view(np.int64)) >> 48 for norm in norms]
    expected = np.bincount(np.clip(np.array(cells) - lowest, 0, len(edges) - 1), minlength=len(edges)).tolist()
    with pytest.MonkeyPatch.context() as patch:
        if not compiler:
            patch.setattr(item_rows, "compiled", lambda loop: None)
        for function, answer in (
            (NormCells(lattice=lattice), expected),
            (ClippedSum(lattice=lattice, squared_radius=radius), added_up([clipped(row, radius) for row in vectors])),
            (
                GroupedSum(lattice=grouped, group=group, squared_radius=group_radius),
                added_up([clipped(row, group_radius) for row in sums]),
            ),
        ):
            assert sum(function(block)[0] for block in blocks_of(rows, cut)).tolist() == answer
            if isinstance(function, ClippedSum | GroupedSum):
                changes = sum(replace(function, counted=True)(block)[0] for block in blocks_of(rows, cut))
                counts = sum(ItemCounts(d=d)(block)[0] for block in blocks_of(rows, cut))
                assert (changes + function.whole(counts)).tolist() == answer
            if isinstance(function, ClippedSum):
                source = CompressedRows(
                    n=len(rows), labels=tuple(range(d)), blocks=partial(blocks_of, rows, cut), in_memory=True
                )
                by_norm, held = norm_counts_held(source, lattice, items=10**6)
                assert (by_norm.counts.tolist(), held is None) == (expected, not compiler)
                assert item_rows._with_whole(replace(function, counted=True), source, counts, held).tolist() == answer
