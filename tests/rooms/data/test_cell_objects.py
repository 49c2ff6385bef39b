"""Matrices in lists and dictionaries: one row's objects, whatever they are, decide about that row alone."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from plandp.data.open_sparse import open_sparse_rows

Row = list[tuple[int, float]]


def rows_of(matrix: Any, *, binary: bool = False) -> list[Row]:
    found: list[Row] = []

    def collect(block: Any) -> tuple[np.ndarray[Any, Any], ...]:
        for start, end in zip(block.begin[:-1], block.begin[1:], strict=True):
            items = block.items[start:end].tolist()
            values = [1.0] * len(items) if block.values is None else block.values[start:end].tolist()
            found.append(sorted(zip(items, values, strict=True)))
        return (np.zeros(1, np.int64),)

    open_sparse_rows(matrix, binary=binary).fold(collect)
    return found


def lists(first_columns: Any, first_values: Any, dtype: type = np.float64) -> Any:
    matrix = sp.lil_array(np.array([[0, 0, 0], [0, 5, 7], [1, 0, 0]], dtype))
    matrix.rows[0], matrix.data[0] = first_columns, first_values
    return matrix


OTHERS = [[(1, 5.0), (2, 7.0)], [(0, 1.0)]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.bool_])
@pytest.mark.parametrize(
    ("columns", "values", "row"),
    [
        ([-1, 3, 2**31, -(2**31) - 1, 2**63, -(2**70), 1], [1.0] * 7, [(1, 1.0)]),
        ([None, "1", 1.5, [1], 2], [1.0] * 5, [(2, 1.0)]),
        ([0, 1, 2], [300, 2**70, 10**400], [(0, 300.0), (1, 2.0**70), (2, np.inf)]),
        ([0, 1, 2], [-(10**400), np.nan, np.longdouble(2)], [(2, 2.0)]),
        ([0, 1, 2], ["3", None, [4]], []),
        ([0, 1, 2], [1j, np.complex128(1), np.timedelta64(3, "D")], []),
        ([0, 1, 2], [np.datetime64("NaT"), np.timedelta64("NaT"), True], [(2, 1.0)]),
        ([0, 1, 2], [4.0], [(0, 4.0)]),
        ([0], [4.0, 5.0], [(0, 4.0)]),
        ([0, 0, 0], [4.0, np.float64(5), np.int8(1)], [(0, 10.0)]),
        (None, [1.0], []),
        ((0, 1), [1.0], []),
    ],
)
def test_a_row_of_lists_never_raises_and_leaves_others_alone(columns: Any, values: Any, row: Row, dtype: type) -> None:
    others = [[(item, float(dtype(value))) for item, value in other] for other in OTHERS]
    assert rows_of(lists(columns, values, dtype)) == [row, *others]
    present = rows_of(lists(columns, values, dtype), binary=True)
    assert present[1:] == [[(item, 1.0) for item, _ in other] for other in others]


def test_a_matrix_in_lists_is_not_changed() -> None:
    columns, values = [2, 2**40, 0], [1.0, "x", 3.0]
    matrix = lists(columns, values)
    rows_of(matrix)
    assert matrix.rows[0] is columns
    assert columns == [2, 2**40, 0]
    assert values == [1.0, "x", 3.0]


@pytest.mark.parametrize("key", [(0, 2**40), (0, -1), (-1, 0), (3, 0), (0, 2**70), (0, None), (2**70, 0)])
@pytest.mark.parametrize("value", [1.0, "x", None, 10**400, 1j])
def test_a_cell_of_a_dictionary_never_raises(key: Any, value: Any) -> None:
    matrix = sp.dok_array(np.array([[0.0, 0, 0], [0, 5, 7], [1, 0, 0]]))
    matrix._dict[key] = value
    assert rows_of(matrix) == [[], *OTHERS]


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "i8", "f4", "f8", "g"])
@pytest.mark.parametrize("name", ["lil", "dok"])
def test_all_types_are_what_their_rows_are(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    table = np.where(rng.random((40, 9)) < 0.3, rng.integers(0, 100, (40, 9)) / 7.0, 0.0).astype(dtype)
    assert rows_of(sp.csr_array(table).asformat(name)) == rows_of(sp.csr_array(table)) == rows_of(table)
