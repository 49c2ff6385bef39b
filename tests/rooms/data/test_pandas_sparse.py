"""Sparse columns of pandas: the rows of the matrix that they store, by name, and never made dense."""

import tracemalloc
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

from plandp.data.open import open_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.sparse_rows import SparseBlock
from plandp.errors import ArgumentError

NAN, INF = float("nan"), float("inf")
CANARY = 48151623


def read(data: object, *, binary: bool, columns: Any = None) -> tuple[tuple[Any, ...], list[list[tuple[int, float]]]]:
    """Labels and rows, the items of a row in the order in which they are stored."""
    source = open_sparse_rows(data, binary=binary, columns=columns)
    rows: list[list[tuple[int, float]]] = []

    def note(block: SparseBlock) -> tuple[Any, ...]:
        values = np.ones(len(block.items)) if block.values is None else block.values
        for start, end in zip(block.begin[:-1], block.begin[1:], strict=True):
            rows.append(list(zip(block.items[start:end].tolist(), values[start:end].tolist(), strict=True)))
        return (np.array([len(block.begin) - 1]),)

    source.fold(note)
    assert source.n == len(rows)
    return source.labels, rows


def a_matrix(dtype: str) -> Any:
    dense = np.random.default_rng(3).integers(-1, 9, (40, 6)) * (np.random.default_rng(4).random((40, 6)) < 0.3)
    return sp.csc_array(dense.astype(dtype))


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "bool"])
def test_the_rows_are_those_of_the_matrix_and_the_labels_are_names(dtype: str, binary: bool) -> None:
    matrix = a_matrix(dtype)
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix, columns=list("abcdef"))
    assert read(frame, binary=binary) == (tuple("abcdef"), read(matrix, binary=binary)[1])
    labels, rows = read(frame, binary=binary, columns=["e", "b"])
    assert labels == ("e", "b")
    assert list(map(sorted, rows)) == list(map(sorted, read(matrix, binary=binary, columns=[4, 1])[1]))


@pytest.mark.parametrize("binary", [True, False])
def test_every_cell_counts_as_in_a_dense_frame(binary: bool) -> None:
    cells = [0.0, NAN, -2.0, INF, -INF, 1e-320, 3.0, -0.0]
    columns = {
        "zero": pandas.arrays.SparseArray(cells, fill_value=0.0),
        "nan": pandas.arrays.SparseArray(cells, fill_value=NAN),
        "blocks": pandas.arrays.SparseArray(cells, fill_value=0.0, kind="block"),
        "dense": cells,
        "nullable": pandas.array([1, None, 3, 0, 0, 7, None, 2], dtype="Int64"),
        "large": pandas.arrays.SparseArray([2**53 + 1, 0, 0, 0, 0, 0, 0, -1]),
        "bool": pandas.arrays.SparseArray([True, False] * 4),
    }
    frame = pandas.DataFrame(columns)
    plain = pandas.DataFrame(
        {name: np.array(column) if name != "nullable" else column for name, column in columns.items()}
    )
    assert not any(isinstance(dtype, pandas.SparseDtype) for dtype in plain.dtypes)
    assert read(frame, binary=binary) == read(plain, binary=binary)


def test_a_sparse_series_is_one_column() -> None:
    bought = pandas.Series(pandas.arrays.SparseArray([0, 1, 0, 2]), name="tea")
    assert read(bought, binary=True) == (("tea",), [[], [(0, 1.0)], [], [(0, 1.0)]])


def test_nothing_is_made_dense() -> None:
    n, d = 200_000, 200
    matrix = sp.coo_array((np.ones(n), (np.arange(n), np.arange(n) % d)), shape=(n, d))
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix.tocsc())
    open_sparse_rows(frame.iloc[:9], binary=False)  # what is compiled once is no matter
    tracemalloc.start()
    rows = open_sparse_rows(frame, binary=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.n == n
    assert peak < 40 * n  # 28 are for the rows themselves; one dense column at a time would add 24


def test_the_hook_has_the_names_and_comes_before_any_value() -> None:
    stored = np.full(5, 11.5)
    frame = pandas.DataFrame({"a": pandas.arrays.SparseArray(stored, fill_value=0.0), "b": 1})
    held = frame["a"].array.sp_values
    calls: list[tuple[Any, ...]] = []

    def hook(labels: tuple[Any, ...]) -> None:
        calls.append(labels)
        held.flags.writeable = True
        held[:] = 22.5

    rows = open_sparse_rows(frame, binary=False, columns=["a"], before_values=hook)
    assert calls == [("a",)]
    assert rows.fold(lambda block: (np.array([np.sum(block.values)]),))[0][0] == 5 * 22.5  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pandas.arrays.SparseArray([1, CANARY], fill_value=1),
            "column 'a' has dtype Sparse[int64, 1], so that what is not stored is not 0; convert it with "
            ".sparse.to_dense()",
        ),
        (
            pandas.arrays.SparseArray(["x", str(CANARY)], dtype="Sparse[object]"),
            "column 'a' has dtype Sparse[object, nan], which is not numeric; select columns with columns=[...] or "
            "convert it",
        ),
        (
            pandas.arrays.SparseArray([1j, CANARY]),
            "column 'a' has dtype Sparse[complex128, nan], which is not numeric; select columns with columns=[...] or "
            "convert it",
        ),
    ],
)
def test_other_sparse_columns_are_refused_by_their_dtype(column: Any, message: str) -> None:
    frame = pandas.DataFrame({"a": column, "b": pandas.arrays.SparseArray([0, 1])})
    with pytest.raises(ArgumentError) as caught:
        open_sparse_rows(frame, binary=True)
    assert str(caught.value) == f"data: {message}"
    assert read(frame, binary=True, columns=["b"]) == (("b",), [[], [(0, 1.0)]])


def test_a_column_of_text_beside_sparse_ones_is_refused() -> None:
    frame = pandas.DataFrame({"a": pandas.arrays.SparseArray([0, 1]), "b": [str(CANARY), "x"]})
    with pytest.raises(ArgumentError, match=r"column 'b' has dtype .*, which is not numeric; select columns"):
        open_sparse_rows(frame, binary=True)


def test_real_numbers_are_not_sparse() -> None:
    frame = pandas.DataFrame({"a": pandas.arrays.SparseArray([0.0, CANARY])})
    with pytest.raises(ArgumentError) as caught:
        open_rows(frame)
    assert str(caught.value) == (
        "data: column 'a' has dtype Sparse[float64, nan], which is for 0/1 data or counts; pass kind='binary' or "
        "kind='nonnegative', or convert it with .sparse.to_dense()"
    )
    empty = frame.iloc[:0]
    with pytest.raises(ArgumentError, match="a table of 0 rows × 1 columns has no mean"):
        open_sparse_rows(empty, binary=True)
