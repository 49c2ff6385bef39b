"""Norms are held of rows that lie in memory, and only of those: others may come in another order."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

import plandp
from plandp.data.compressed_rows import CompressedRows
from plandp.data.events import open_events
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.sparse_rows import SparseBlock
from plandp.mechanisms import item_rows
from plandp.mechanisms.item_rows import ItemLattice, item_counts, norm_counts_held, private_item_sum
from plandp.noise.meter import open_door

RHO = Fraction(10**20)  # hardly any noise: sums are what they are
TABLE = (np.random.default_rng(0).random((300, 12)) < np.geomspace(0.9, 0.02, 12)).astype(np.float64)
LATTICE = ItemLattice.of(np.geomspace(3.0, 4000.0, 12), high=np.ones(12), n=300)


def in_turns(block: SparseBlock, turn: list[int]) -> Iterator[SparseBlock]:
    """The rows, from the first on and from the last on by turns."""
    turn[0] += 1
    rows = sp.csr_array((np.ones(len(block.items)), block.items, block.begin), shape=TABLE.shape)[:: (-1) ** turn[0]]
    yield SparseBlock(begin=rows.indptr, items=rows.indices, values=None)


def sum_of(rows: CompressedRows, *, radius: float = 900.0) -> list[float]:
    counts, held = item_counts(rows), norm_counts_held(rows, LATTICE, items=1200)[1]
    door = open_door(reserved=RHO, testing_seed=0)
    return private_item_sum(rows, LATTICE, radius, door, rho=RHO, step="sum", counts=counts, held=held).total.tolist()


def test_which_rows_lie_in_memory(tmp_path: Any) -> None:
    matrix = sp.csr_array(TABLE)
    events = pandas.DataFrame({"who": [1, 1, 2], "what": [0, 1, 0]})
    file = tmp_path / "rows.npy"
    np.save(file, TABLE)
    assert open_sparse_rows(matrix, binary=True).in_memory
    assert open_events(events, person="who", item="what", items=[0, 1], people=5, measure="presence").in_memory
    assert not open_sparse_rows(TABLE, binary=True).in_memory  # may be a frame, a stream or a file as well
    assert not open_sparse_rows(file, binary=True).in_memory


def test_rows_that_come_in_another_order_add_up_to_the_same() -> None:
    matrix = open_sparse_rows(sp.csr_array(TABLE), binary=True)
    (block,) = matrix.blocks()
    elsewhere = CompressedRows(n=300, labels=matrix.labels, blocks=partial(in_turns, block, [0]))
    mistaken = CompressedRows(n=300, labels=matrix.labels, blocks=partial(in_turns, block, [0]), in_memory=True)
    assert norm_counts_held(elsewhere, LATTICE, items=1200)[1] is None
    assert sum_of(elsewhere) == sum_of(matrix) != sum_of(mistaken)  # which is why they are not held


def test_no_more_are_held_than_memory_is_meant_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = open_sparse_rows(sp.csr_array(TABLE), binary=True)
    assert norm_counts_held(rows, LATTICE, items=1200)[1] is not None
    whole = sum_of(rows)
    assert norm_counts_held(rows, LATTICE, items=1199)[1] is None  # what is held would not be small beside the items
    monkeypatch.setattr(item_rows, "MOST_HELD", 299)
    assert norm_counts_held(rows, LATTICE, items=1200)[1] is None
    assert sum_of(rows) == whole


@pytest.mark.parametrize("alike", [True, False])
def test_sums_that_do_not_fit_32_bits(alike: bool) -> None:
    rows = open_sparse_rows(sp.csr_array(np.ones((300, 12))), binary=True)
    weights = np.full(12, 2.0**26) - (0.0 if alike else np.arange(12))
    lattice = ItemLattice.of(weights, high=np.ones(12), n=300)
    counts, held = item_counts(rows), norm_counts_held(rows, lattice, items=1200)[1]
    door = open_door(reserved=RHO, testing_seed=0)
    total = private_item_sum(rows, lattice, 2.0**26, door, rho=RHO, step="sum", counts=counts, held=held).total
    np.testing.assert_allclose(total, 300 / np.sqrt(12), rtol=1e-6)


@pytest.mark.parametrize("weight", [2.0**16 - 1, 2.0**16, 2.0**16 + 1])
def test_weights_on_both_sides_of_16_bits(weight: float) -> None:
    rows = open_sparse_rows(sp.csr_array(TABLE), binary=True)
    lattice = ItemLattice.of(np.append(np.full(11, 100.0), weight), high=np.ones(12), n=300)
    counts, held = item_counts(rows), norm_counts_held(rows, lattice, items=1200)[1]
    door = open_door(reserved=RHO, testing_seed=0)
    total = private_item_sum(rows, lattice, 2.0**20, door, rho=RHO, step="sum", counts=counts, held=held).total
    assert np.rint(total).tolist() == TABLE.sum(axis=0).tolist()


def test_a_release_reckons_the_norms_of_a_matrix_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, asked = item_rows.compiled(item_rows.write_set_norms), []
    assert loop is not None
    find = item_rows.compiled

    def counting(wanted: Any) -> Any:
        if wanted is item_rows.write_set_norms:
            asked.append(wanted)
        return find(wanted)

    monkeypatch.setattr(item_rows, "compiled", counting)
    plandp.mean(sp.csr_array(np.tile(TABLE, 2)), kind="binary", rho=1, testing_seed=0)
    assert len(asked) == 1  # the first look needs none: all weights are alike
