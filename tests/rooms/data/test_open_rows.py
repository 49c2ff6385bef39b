"""What `open_rows` accepts and refuses: decided by types, shapes and labels, never by values."""

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from plandp.data.open import open_rows
from plandp.data.rows import FloatBlock, Sums
from plandp.errors import ArgumentError

SECRET = 48151623


@dataclass(frozen=True)
class Bits:
    """The bit patterns of a table with few rows: row r in slot r, so that nothing cancels."""

    def __call__(self, block: FloatBlock, /) -> Sums:
        return (block.view(np.int64).copy(),)


def bits(data: object, **arguments: Any) -> list[list[int]]:
    (patterns,) = open_rows(data, **arguments).fold(Bits())
    result: list[list[int]] = patterns.tolist()
    return result


def refusal(data: object, **arguments: Any) -> str:
    with pytest.raises(ArgumentError) as caught:
        open_rows(data, **arguments)
    assert str(SECRET) not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


def test_a_vector_is_one_column() -> None:
    rows = open_rows(np.array([1.0, 2.0, 3.0]))
    assert (rows.n, rows.d, rows.labels) == (3, 1, (0,))


def test_a_subclass_of_arrays_is_read_as_the_plain_array_it_holds() -> None:
    class Odd(np.ndarray):
        def __getitem__(self, key: Any) -> Any:
            raise RuntimeError("a subclass may do anything here")

    table = np.arange(6.0).reshape(3, 2)
    assert bits(table.view(Odd)) == bits(table)


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.full((2, 2), SECRET, dtype=complex), "complex numbers, which is not numeric"),
        (np.full((2, 2), SECRET, dtype=object), "Python objects"),
        (np.full((2, 2), str(SECRET)), "holds text, which"),
        (np.full((2, 2), SECRET, dtype="M8[s]"), "dates"),
        (np.full((2, 2), SECRET, dtype="m8[s]"), "time differences"),
        (np.full(2, SECRET, dtype=[("a", float), ("b", float)]), "records"),
        (np.array(float(SECRET)), "0 dimensions"),
        (np.full((2, 2, 2), SECRET), "3 dimensions"),
        (np.ma.masked_equal(np.full((2, 2), SECRET), 0), "filled(numpy.nan)"),
        (np.zeros((0, 3)), "0 rows × 3 columns"),
        (np.zeros((3, 0)), "3 rows × 0 columns"),
        (np.zeros(0), "0 rows × 1 columns"),
    ],
)
def test_arrays_that_are_not_tables_of_numbers_are_refused(array: np.ndarray, problem: str) -> None:
    message = refusal(array)
    assert message.startswith("data: ")
    assert problem in message


@pytest.mark.parametrize(
    "data",
    [
        [[SECRET, 2], [3]],
        [SECRET, 2, 3],
        [],
        [[], []],
        [[[SECRET]]],
        [[SECRET, "x"]],
        [[SECRET, "x", None]],
        [[SECRET, None, object()]],
        [[1, None, str(SECRET)]],
        [[SECRET * 1j, 2]],
        [[SECRET, np.complex128(1), None]],
        [{"a": SECRET}],
        "text",
        {"a": [SECRET]},
        {SECRET},
        None,
        SECRET,
        iter([[SECRET]]),
    ],
)
def test_other_things_are_refused_without_a_word_of_what_they_hold(data: object) -> None:
    assert refusal(data).startswith("data: ")


def test_sparse_matrices_are_told_what_to_do() -> None:
    for matrix in (scipy.sparse.csr_matrix(np.eye(3)), scipy.sparse.csr_array(np.eye(3))):
        told = refusal(matrix)
        assert all(way in told for way in ("kind='binary'", "kind='nonnegative'", "data.toarray()"))


def test_lists_of_rows_read_like_arrays() -> None:
    assert bits([[1, 2.5], [True, 4]]) == bits(np.array([[1, 2.5], [1, 4]]))
    assert bits(((1, 2), (3, 4))) == bits([(1, np.int8(2)), [3, 4]])


def test_integers_beyond_64_bits_and_none_are_ordinary_in_lists() -> None:
    expected = np.array([[1e30, np.nan], [np.inf, -np.inf], [2.0**53, 0.5]])
    assert bits([[10**30, None], [10**400, -(10**400)], [2**53 + 1, 0.5]]) == bits(expected)


def test_the_refusal_of_a_list_says_nothing_about_its_cells() -> None:
    # NumPy's dtype of a list of texts is as wide as the longest text
    said = {refusal([[1.0, text]]) for text in ("a", "b" * 99)}
    assert said == {"data: a cell of the list is not a number; use numbers, and None where one is missing"}


@settings(max_examples=100, deadline=None)
@given(
    rest=st.lists(st.one_of(st.none(), st.integers(), st.floats(), st.booleans()), min_size=1, max_size=4),
    one=st.one_of(st.none(), st.integers(), st.floats(), st.booleans()),
    other=st.one_of(st.none(), st.integers(), st.floats(), st.booleans()),
)
def test_in_a_list_one_row_never_changes_how_the_others_are_read(rest: list, one: object, other: object) -> None:
    first = bits([[one]] + [[value] for value in rest])
    second = bits([[other]] + [[value] for value in rest])
    assert first[1:] == second[1:]


def test_columns_select_and_order() -> None:
    table = np.arange(8.0).reshape(2, 4)
    assert bits(table, columns=[3, 0]) == bits(table[:, [3, 0]])
    assert bits(table, columns=np.array([1, 2])) == bits(table[:, [1, 2]])
    assert open_rows(table, columns=[3, 0]).labels == (3, 0)


def test_columns_name_frame_labels() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    table = {"a": [1.0, 2.0], "text": ["x", "y"], "b": [3, 4]}
    nullable = pandas.DataFrame(table).astype({"b": "Int64"})
    for data in (
        pandas.DataFrame(table),
        nullable,
        polars.DataFrame(table),
        polars.DataFrame(table).to_arrow(),
    ):
        rows = open_rows(data, columns=["b", "a"])
        assert rows.labels == ("b", "a")
        assert bits(data, columns=["b", "a"]) == bits([[3, 1], [4, 2]])
        assert bits(data, columns=("b",)) == bits([[3], [4]])


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ([0, 7], "no column 7; its columns are 0, 1, 2"),
        ([-1], "no column -1"),
        (["a"], "no column 'a'"),
        ([0, 0], "column 0 occurs more than once"),
        ([True], "True is a bool"),
        ([1.0], "1.0 is a float"),
        ("a", "list of column labels"),
        (1, "list of column labels"),
        ([], "no column is named"),
    ],
)
def test_columns_that_are_not_there_are_named(columns: object, problem: str) -> None:
    message = refusal(np.zeros((2, 3)), columns=columns)
    assert message.startswith("columns: ")
    assert problem in message


def test_a_long_list_of_labels_is_cut_short() -> None:
    assert refusal(np.zeros((1, 900)), columns=["x"]).endswith("6, 7, … (900 in all)")


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_arrays_need_no_frame_library(package: str) -> None:
    program = (
        "import sys, numpy\n"
        "from plandp.data.open import open_rows\n"
        "open_rows(numpy.zeros((2, 2)))\n"
        "open_rows([[1, 2]])\n"
        f"sys.exit({package!r} in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
