"""pandas, polars and Arrow: what they may hold, what is refused, and what their columns are called."""

from typing import Any

import numpy as np
import pytest

from plandp.data.array import ArrayTable
from plandp.data.open import open_rows
from plandp.data.pandas_frame import PandasTable, open_pandas
from plandp.errors import ArgumentError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

SECRET = 48151623


def refusal(data: object, **arguments: Any) -> str:
    with pytest.raises(ArgumentError) as caught:
        open_rows(data, **arguments)
    assert str(SECRET) not in str(caught.value)
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (pandas.Series([str(SECRET)], dtype=object), "object"),
        (pandas.Series([str(SECRET)], dtype="string"), "string"),
        (pandas.Series([SECRET], dtype="category"), "category"),
        (pandas.Series([SECRET], dtype="M8[ns]"), "datetime64[ns]"),
        (pandas.Series([SECRET], dtype="m8[ns]"), "timedelta64[ns]"),
        (pandas.Series([SECRET], dtype=complex), "complex128"),
        (pandas.Series([None], dtype=pandas.ArrowDtype(pyarrow.decimal128(12, -2))), "decimal128"),
        (pandas.Series([str(SECRET)], dtype=pandas.ArrowDtype(pyarrow.string())), "string"),
        (polars.Series([str(SECRET)]), "String"),
        (polars.Series([str(SECRET)], dtype=polars.Enum([str(SECRET)])), "Enum"),
        (polars.Series([str(SECRET)], dtype=polars.Categorical), "Categorical"),
        (polars.Series([SECRET], dtype=polars.Datetime), "Datetime"),
        (polars.Series([[str(SECRET)]]), "large_list"),
        (pyarrow.array([str(SECRET)]), "string"),
        (pyarrow.array([[str(SECRET)]], pyarrow.list_(pyarrow.string(), 1)), "fixed_size_list"),
        (pyarrow.array([SECRET], type=pyarrow.timestamp("s")), "timestamp"),
        (pyarrow.array([str(SECRET)]).dictionary_encode(), "dictionary"),
    ],
)
def test_a_column_that_is_not_numeric_is_named_with_its_dtype(column: Any, dtype: str) -> None:
    data: Any
    if isinstance(column, pandas.Series):
        data = pandas.DataFrame({"fine": [1.0], "odd": column})
    elif isinstance(column, polars.Series):
        data = polars.DataFrame({"fine": [1.0], "odd": column})
    else:
        data = pyarrow.table({"fine": [1.0], "odd": column})
    message = refusal(data)
    assert message.startswith(f"data: column 'odd' has dtype {dtype}")
    assert "columns=[...]" in message
    assert open_rows(data, columns=["fine"]).labels == ("fine",)


@pytest.mark.parametrize(
    "data",
    [
        pandas.DataFrame([[1, 2]], columns=["x", "x"]),
        pyarrow.table([[1], [2]], names=["x", "x"]),
        pyarrow.record_batch([pyarrow.array([1]), pyarrow.array([2])], names=["x", "x"]),
    ],
)
def test_labels_that_occur_twice_are_refused(data: object) -> None:
    assert "the column 'x' occurs more than once" in refusal(data)


@pytest.mark.parametrize(
    "columns",
    [[("a", "b"), ("a", "c")], [1.5, 2.5], [None, "x"], [True, False], pandas.to_datetime(["2020", "2021"])],
)
def test_labels_are_str_or_int(columns: Any) -> None:
    assert "column labels must be str or int" in refusal(pandas.DataFrame([[1, 2]], columns=columns))


def test_integer_labels_of_pandas_are_labels_not_positions() -> None:
    frame = pandas.DataFrame([[1.0, 2.0]], columns=[7, 0])
    rows = open_rows(frame, columns=[0])
    assert rows.labels == (0,)
    assert type(open_rows(frame).labels[0]) is int
    assert rows.fold(lambda block: (block.astype(np.int64).sum(axis=0),))[0].tolist() == [2]


def test_series_are_one_column() -> None:
    for data, label in (
        (pandas.Series([1.0, 2.0], name="x"), "x"),
        (pandas.Series([1.0, 2.0]), 0),
        (pandas.Series([1, None], dtype="Int64", name="x"), "x"),
        (polars.Series("x", [1.0, 2.0]), "x"),
    ):
        rows = open_rows(data)
        assert (rows.n, rows.d, rows.labels) == (2, 1, (label,))


def test_subclasses_of_frames_are_frames() -> None:
    class Frame(pandas.DataFrame):
        pass

    assert open_rows(Frame({"x": [1.0]})).labels == ("x",)


@pytest.mark.parametrize(
    "data",
    [
        pandas.DataFrame({"x": []}),
        pandas.DataFrame(index=range(3)),
        pandas.DataFrame({"x": pandas.array([], dtype="Int64")}),
        polars.DataFrame({"x": []}),
        polars.DataFrame(),
        pyarrow.table({"x": []}),
        pyarrow.table({}),
    ],
)
def test_empty_frames_are_refused(data: object) -> None:
    assert "has no mean" in refusal(data)


@pytest.mark.parametrize(
    "data",
    [
        pandas.Index([SECRET]),
        polars.LazyFrame({"x": [SECRET]}),
        pyarrow.array([SECRET]),
        pyarrow.chunked_array([[SECRET]]),
    ],
)
def test_other_objects_of_the_frame_libraries_are_refused(data: object) -> None:
    assert "is not accepted; pass a NumPy array" in refusal(data)


def test_a_column_without_any_value_is_all_missing() -> None:
    for data in (
        polars.DataFrame({"x": [None, None]}),
        pyarrow.table({"x": pyarrow.nulls(2)}),
        pandas.DataFrame({"x": pandas.array([None, None], dtype=pandas.ArrowDtype(pyarrow.null()))}),
    ):
        (missing,) = open_rows(data).fold(lambda block: (np.isnan(block).sum(axis=0),))
        assert missing.tolist() == [2]


def test_a_frame_that_is_one_array_is_read_as_that_array() -> None:
    frame = pandas.DataFrame(np.arange(12.0).reshape(4, 3))
    table = open_pandas(frame, None)
    assert isinstance(table, ArrayTable)
    assert np.shares_memory(table.array, frame.to_numpy())
    apart = pandas.concat([frame, frame.add_suffix("b")], axis=1)  # two arrays of one dtype
    for several in (apart, frame.assign(whole=np.arange(4))):
        other = open_pandas(several, None)
        assert isinstance(other, PandasTable)
        np.testing.assert_array_equal(other.read(slice(1, 3)), several.to_numpy(dtype=float)[1:3])
