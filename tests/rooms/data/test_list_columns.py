"""Columns of lists: every place is a column of its own, and each list is read by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import feather, parquet

import plandp
from plandp.data import arrow_numbers, batches, list_columns, streamed_rows
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

LISTS: list[Any] = [[1.0, 2.0, 3.0], None, [4.0, None, 5.0], [float("nan"), float("inf"), -0.0], [6.0, 7.0, 8.0]]
NAN = np.nan
CELLS = np.array([[1, 2, 3], [NAN] * 3, [4, NAN, 5], [NAN, np.inf, -0.0], [6, 7, 8]])


def fixed(lists: list[Any] = LISTS, kind: Any = pyarrow.float64()) -> Any:  # noqa: B008
    return pyarrow.array(lists, pyarrow.list_(kind, 3))


def cells(rows: Any) -> NDArray[np.float64]:
    return np.concatenate(list(rows.blocks()))


@pytest.mark.parametrize(
    "kind", [pyarrow.float64(), pyarrow.float32(), pyarrow.float16(), pyarrow.int8(), pyarrow.bool_()]
)
def test_each_place_is_a_column(kind: Any) -> None:
    lists: list[Any] = [[1, 0, 1], None, [0, None, 1]]
    if pyarrow.types.is_float16(kind):
        lists = [row and [None if cell is None else np.float16(cell) for cell in row] for row in lists]
    elif pyarrow.types.is_boolean(kind):
        lists = [row and [None if cell is None else bool(cell) for cell in row] for row in lists]
    rows = open_rows(pyarrow.table({"x": fixed(lists, kind), "y": [7.0, 8.0, 9.0]}))
    assert rows.labels == ("x[0]", "x[1]", "x[2]", "y")
    expected = [[1, 0, 1, 7], [NAN, NAN, NAN, 8], [0, NAN, 1, 9]]
    assert np.array_equal(cells(rows), expected, equal_nan=True)


def test_the_only_column_is_an_array() -> None:
    rows = open_rows(pyarrow.table({"x": fixed()}))
    assert rows.labels == (0, 1, 2)
    assert np.array_equal(cells(rows), CELLS, equal_nan=True)
    assert np.array_equal(cells(open_rows(pyarrow.table({"x": fixed()}), columns=[2, 0])), CELLS[:, [2, 0]], True)


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("width", [3, -1])
@pytest.mark.parametrize("source", ["table", "t.parquet", "t.feather", "batches", "polars"])
def test_places_of_the_only_column_can_be_asked_for_as_those_of_any(source: str, width: int) -> None:
    table = pyarrow.table({"x": pyarrow.array(LISTS, pyarrow.list_(pyarrow.float64(), width))})
    parquet.write_table(table, "t.parquet")
    feather.write_feather(table, "t.feather")
    held: dict[str, Any] = {"table": table, "batches": lambda: iter([table]), "polars": polars.from_arrow(table)}
    rows = open_rows(held.get(source, source), columns=["x[2]", "x[0]"])
    assert rows.labels == ("x[2]", "x[0]")
    assert np.array_equal(cells(rows), CELLS[:, [2, 0]], equal_nan=True)
    pairs = {"x[0]": (0, 9), "x[2]": (0, 9)}
    assert plandp.mean(held.get(source, source), bounds=pairs, rho=1).labels == ("x[0]", "x[2]")
    with pytest.raises(ArgumentError, match=r"^columns: the data has no column 0; its columns are 'x\[0\]'"):
        open_rows(held.get(source, source), columns=["x[2]", 0])


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        (["x"], ("x[0]", "x[1]", "x[2]")),
        (["y", "x"], ("y", "x[0]", "x[1]", "x[2]")),
        (["x[2]", "y", "x[0]"], ("x[2]", "y", "x[0]")),
        ({"x", "y"}, ("x[0]", "x[1]", "x[2]", "y")),
    ],
)
def test_the_name_of_the_column_stands_for_all_places(asked: Any, labels: tuple[str, ...]) -> None:
    rows = open_rows(pyarrow.table({"x": fixed(), "y": [7.0] * 5, "name": ["canary"] * 5}), columns=asked)
    assert rows.labels == labels
    whole = dict(zip(("x[0]", "x[1]", "x[2]", "y"), [*CELLS.T, np.full(5, 7.0)], strict=True))
    assert np.array_equal(cells(rows), np.stack([whole[label] for label in labels], axis=1), equal_nan=True)


@pytest.mark.parametrize("large", [False, True])
def test_lists_without_a_width_have_the_places_that_are_named(large: bool) -> None:
    kind = pyarrow.large_list(pyarrow.float64()) if large else pyarrow.list_(pyarrow.float64())
    lists = pyarrow.array([[1, 2], None, [], [3, 4, 5, 6], [7]], kind)
    rows = open_rows(pyarrow.table({"x": lists, "y": [0.0] * 5}), columns=["x[0]", "x[2]"])
    assert np.array_equal(cells(rows), [[1, NAN], [NAN] * 2, [NAN] * 2, [3, 5], [7, NAN]], equal_nan=True)
    alone = open_rows(pyarrow.table({"x": lists}), columns=[0, 2])
    assert np.array_equal(cells(alone), cells(rows), equal_nan=True)
    for asked in (None, ["x"]):
        with pytest.raises(ArgumentError, match=r"^data: column 'x' holds lists of no fixed width; store it as"):
            open_rows(pyarrow.table({"x": lists, "y": [0.0] * 5}), columns=asked)
    for asked in (None, ["x"], ["0"], ["y"]):
        with pytest.raises(ArgumentError, match=r"^data: column 'x' holds lists of no fixed width; store it as"):
            open_rows(pyarrow.table({"x": lists}), columns=asked)
    for wrong in (["x[01]"], ["x[9999999]"], ["z[0]"], ["x[-1]"]):
        with pytest.raises(ArgumentError, match=r"^columns: the data has no column"):
            open_rows(pyarrow.table({"x": lists, "y": [0.0] * 5}), columns=wrong)


def test_lists_of_something_else_are_refused_by_name() -> None:
    for kind in (pyarrow.list_(pyarrow.string(), 1), pyarrow.list_(pyarrow.list_(pyarrow.float64(), 1), 1)):
        empty = pyarrow.array([None], kind)
        with pytest.raises(ArgumentError, match=r"^data: column 'x' has dtype fixed_size_list.*not numeric"):
            open_rows(pyarrow.table({"x": empty, "y": [1.0]}))
        assert open_rows(pyarrow.table({"x": empty, "y": [1.0]}), columns=["y"]).labels == ("y",)
    with pytest.raises(ArgumentError, match=r"^data: the column 'x\[0\]' occurs more than once"):
        open_rows(pyarrow.table({"x": fixed(), "x[0]": [1.0] * 5}))


def test_polars_arrays_and_lists() -> None:
    frame = polars.DataFrame({"x": polars.Series(LISTS, dtype=polars.Array(polars.Float64, 3)), "y": [1.0] * 5})
    rows = open_rows(frame, columns=["x"])
    assert np.array_equal(cells(rows), CELLS, equal_nan=True)
    loose = frame.with_columns(polars.col("x").arr.to_list())
    assert np.array_equal(cells(open_rows(loose, columns=["x[1]"])), CELLS[:, [1]], equal_nan=True)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("in_memory", [0, 10**6])
def test_files_of_lists(tmp_path: Path, suffix: str, in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", in_memory)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 20)
    table = pyarrow.table({"id": np.arange(50), "x": pyarrow.concat_arrays([fixed()] * 10), "y": np.arange(50.0)})
    path = str(tmp_path / f"t{suffix}")
    if suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=8)
    else:
        feather.write_feather(table, path, chunksize=8)
    rows = open_rows(path, columns=["y", "x"])
    expected = np.column_stack([np.arange(50.0), np.tile(CELLS, (10, 1))])
    assert np.array_equal(cells(rows), expected, equal_nan=True)
    chosen = np.array([1, 7, 8, 30, 49])
    assert np.array_equal(cells(rows.sample(chosen)), expected[chosen], equal_nan=True)


WIDE = np.random.default_rng(8).integers(-9, 9, (200, 4)).astype(np.float64)

KINDS: dict[str, Any] = {
    "list": pyarrow.list_(pyarrow.float64()),
    "large list": pyarrow.large_list(pyarrow.float64()),
    "width as asked": pyarrow.list_(pyarrow.float64(), 4),
    "decimals": pyarrow.list_(pyarrow.decimal128(5, 1)),
    "decimals of a width": pyarrow.list_(pyarrow.decimal128(5, 1), 4),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lost", [0, 7])
def test_of_lists_only_those_of_the_rows_that_are_read_are_converted(
    kind: str, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many blocks there are; decimals go through text, which takes its time."""
    converted: list[int] = []

    def counted(column: Any) -> NDArray[Any]:
        converted.append(len(column))
        return arrow_numbers.arrow_numbers(column)

    monkeypatch.setattr(list_columns, "arrow_numbers", counted)
    column = pyarrow.array([[0.0] * 4] * lost + WIDE.tolist()).cast(KINDS[kind])[
        lost:
    ]  # a slice, which lies further on
    for width in (4, 3):
        found = [
            list_columns.list_values(pyarrow.chunked_array([column]), slice(first, first + 10), width)
            for first in range(0, 200, 10)
        ]
        assert np.array_equal(np.concatenate(found), WIDE[:, :width])
        assert converted == [40] * 20
        converted.clear()
    chosen = np.array([50, 53, 59])
    assert np.array_equal(list_columns.list_values(pyarrow.chunked_array([column]), chosen, 4), WIDE[chosen])
    assert converted == [40]


@pytest.mark.parametrize("width", [4, 3])
@pytest.mark.parametrize("variable", [False, True])
def test_what_lies_behind_a_missing_list_is_never_read(variable: bool, width: int) -> None:
    """Masks leave numbers where they are: all rows, some and those of a slice are read alike."""
    missing = np.arange(200) % 3 == 0
    numbers, mask = pyarrow.array(WIDE.ravel()), pyarrow.array(missing)
    if variable:
        begins = pyarrow.array(np.arange(0, 801, 4), pyarrow.int32())
        column = pyarrow.ListArray.from_arrays(begins, numbers, mask=mask)
    else:
        column = pyarrow.FixedSizeListArray.from_arrays(numbers, 4, mask=mask)
    expected = np.where(missing[:, None], np.nan, WIDE)[:, :width]
    whole = pyarrow.chunked_array([column[:70], column[70:]])
    for rows in (slice(0, 200), slice(61, 103), np.array([0, 3, 4, 60, 71, 72, 199])):
        assert np.array_equal(list_columns.list_values(whole, rows, width), expected[rows], equal_nan=True)


lists = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.floats()), max_size=5))


@settings(max_examples=60, deadline=None)
@given(rest=st.lists(lists, min_size=2, max_size=6), one=lists, other=lists)
def test_one_list_never_changes_how_the_others_are_read(rest: list[Any], one: Any, other: Any) -> None:
    found = []
    for first in (one, other):
        column = pyarrow.array([first, *rest], pyarrow.list_(pyarrow.float64()))
        rows = open_rows(pyarrow.table({"x": column}), columns=[0, 1, 2])
        found.append(cells(rows)[1:])
        assert np.array_equal(cells(rows.sample(np.array([1, 2]))), found[-1][:2], equal_nan=True)
    assert np.array_equal(*found, equal_nan=True)
    expected = [
        [NAN if not row or place >= len(row) or row[place] is None else row[place] for place in range(3)]
        for row in rest
    ]
    assert np.array_equal(found[0], expected, equal_nan=True)


def test_columns_that_are_an_array_without_dimensions_are_refused_by_name() -> None:
    table = pyarrow.table({"x": pyarrow.array([[1.0, 2.0]] * 5, pyarrow.list_(pyarrow.float64(), 2))})
    with pytest.raises(ArgumentError, match=r"^columns: "):
        plandp.mean(table, bounds=(0, 1), rho=1, columns=np.array(5.0))


@pytest.mark.parametrize("columns", [range(2), ["y"]])
def test_whoever_asks_for_a_place_by_another_name_is_told_what_it_is_called(columns: Any) -> None:
    """In Spark a column of row numbers does not count, and places are 0, 1, …."""
    table = pyarrow.table({"id": np.arange(4), "x": pyarrow.array([[1.0, 2.0]] * 4)})
    with pytest.raises(
        ArgumentError, match=r"^columns: the data has no column .*'x' holds lists, whose places are"
    ) as e:
        open_rows(table, columns=columns, row_index="id")
    assert e.value.__context__ is None
    assert open_rows(table, columns=["x[1]"], row_index="id").labels == ("x[1]",)
    with pytest.raises(ArgumentError, match=r"^columns: the data has no column 'y'; its columns are 'id'$"):
        open_rows(table.select(["id"]), columns=["y"])


@pytest.mark.parametrize(
    ("lists", "asked", "told"),
    [
        (
            {"f": fixed()},
            {"columns": ["y"], "row_index": "nope"},
            "has no column 'nope'; its columns are 'id', 'y', 'f[0]', 'f[1]', 'f[2]'",
        ),
        (
            {"emb": pyarrow.array(LISTS), "x": pyarrow.array(LISTS)},
            {"columns": range(2)},
            "; 2 columns hold lists, whose places are 'emb[0]', 'emb[1]', …, 'x[0]', 'x[1]', … where there is another "
            "column, such as one of row numbers",
        ),
        (
            {"emb": pyarrow.array(LISTS), "x": pyarrow.array(LISTS)},
            {"columns": ["x[a]", "y"]},
            "; 'x' holds lists, whose places are 'x[0]', 'x[1]', … where there is another column, such as one of row "
            "numbers",
        ),
    ],
)
def test_lists_are_named_to_those_who_may_mean_them(lists: Any, asked: dict[str, Any], told: str) -> None:
    table = pyarrow.table({"id": np.arange(5), "y": np.zeros(5), **lists})
    with pytest.raises(ArgumentError) as caught:
        plandp.mean(table, bounds=(0, 9), rho=1, **asked)
    assert str(caught.value).endswith(told)
