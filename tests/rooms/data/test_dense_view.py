"""Sparse rows seen as dense blocks: the same numbers, a few rows at a time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import plandp
from plandp.data import dense_view
from plandp.data.dense_view import DenseRows
from plandp.data.open_sparse import open_sparse_rows


def rows_of(table: np.ndarray, *, binary: bool = False) -> DenseRows:
    return DenseRows(open_sparse_rows(csr_array(table), binary=binary))


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.where(rng.random((50, 7)) < 0.3, rng.uniform(0.5, 9, (50, 7)), 0.0)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("values", [1, 20, 10**6])
def test_blocks_hold_the_table_in_order(
    table: np.ndarray, binary: bool, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_view, "VALUES_AT_A_TIME", values)
    rows = rows_of(table, binary=binary)
    blocks = list(rows.blocks())
    expected = (table > 0).astype(float) if binary else table
    np.testing.assert_array_equal(np.concatenate(blocks), expected)
    assert max(block.size for block in blocks) <= max(values, 7)
    (sums,) = rows.fold(lambda block: (np.rint(block * 8).astype(np.int64).sum(axis=0),))
    np.testing.assert_array_equal(sums, np.rint(expected * 8).sum(axis=0))
    assert (rows.n, rows.d, rows.passes, rows.labels) == (50, 7, 2, tuple(range(7)))


def test_a_sample_holds_the_rows_that_were_asked_for(table: np.ndarray) -> None:
    indices = np.array([0, 3, 4, 20, 49])
    sample = rows_of(table).sample(indices)
    np.testing.assert_array_equal(np.concatenate(list(sample.blocks())), table[indices])
    with pytest.raises(plandp.ArgumentError, match="strictly increasing"):
        rows_of(table).sample(np.array([3, 3]))
