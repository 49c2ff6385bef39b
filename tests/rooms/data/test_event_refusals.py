"""What is refused of events: by what is public, and without showing a cell."""

from collections import Counter
from collections.abc import Callable
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pytest
from event_tables import CANARY, CONTAINERS, EVENTS, Columns, as_frame, event_rows, every_container, refused, rows_of

from plandp.data.events import open_events
from plandp.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("own_folder")


NAMES = "name one that it has.  The first line of a CSV or TSV file must name the columns"


@every_container
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"person": "person"}, "person: the table has no column 'person'; "),
        ({"item": "item"}, "item: the table has no column 'item'; "),
        ({"measure": "sum"}, "measure: the table has no column 'sum'; "),
        ({"item": "user"}, "item: 'user' is the column of the person already; name another"),
        ({"measure": "page"}, "measure: 'page' is the column of the item already; name another"),
        ({"person": None}, "person: must be the name of a column"),
    ],
)
def test_columns_that_are_not_there(put: Callable[[Columns], object], arguments: Any, message: str) -> None:
    table = put(EVENTS)
    names = "its columns are 'user', 'page', 'time'"
    assert refused(table, **arguments) == message + (names if message.endswith("; ") else "")


def test_a_file_with_none_of_the_columns_shows_none(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_text(f"{CANARY},home\n")
    assert refused(file, person="usr", item="pge", measure="sum") == f"person: the table has no column 'usr'; {NAMES}"


def test_a_table_without_columns_and_one_with_many() -> None:
    assert refused(pandas.DataFrame()) == "person: the table has no column 'user'; it has no columns"
    wide = polars.DataFrame({f"c{place}": [1] for place in range(20)})
    assert refused(wide).endswith("its columns are 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', … (20 in all)")


@pytest.mark.parametrize("mark", [",", "\t"])
def test_a_file_without_names_does_not_show_its_first_event(mark: str) -> None:
    name = "events.csv" if mark == "," else "events.tsv"
    Path(name).write_text(f"{CANARY}{mark}{CANARY}-page\nbob{mark}home\n")
    assert refused(name) == f"person: the table has no column 'user'; {NAMES}"


NEITHER = "must be texts that are not empty, or integers of up to 128 bits; item number 1 is neither, but of type "


ONCE = "name each item once (7 and '7' are the same item), from public knowledge: never pass the column of the events"


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "no item is named; name all that can count, from public knowledge"),
        ("home", "pass a list of all items that can count, such as items=['home', 'search']"),
        ({"home"}, "a set has no order, and the estimates have: pass a list, such as sorted(items)"),
        ({"home": 1}.keys(), "a set has no order, and the estimates have: pass a list, such as sorted(items)"),
        ({"home": 1}, "pass a list of all items that can count, such as items=['home', 'search']"),
        (7, "pass a list of all items that can count, such as items=['home', 'search']"),
        (["a", "b", "c", "b"], f"item number 4 is number 2 again; {ONCE}"),
        ([7, "7"], f"item number 2 is number 1 again; {ONCE}"),
        (as_frame(EVENTS)["page"].dropna(), f"item number 3 is number 1 again; {ONCE}"),
        ([""], NEITHER + "str"),
        ([1.5], NEITHER + "float"),
        ([None], NEITHER + "NoneType"),
        ([10**5000], NEITHER + "int"),
        ([True], NEITHER + "bool"),
    ],
)
def test_lists_of_items_that_are_refused(items: object, problem: str) -> None:
    assert refused(as_frame(EVENTS), items=items) == f"items: {problem}"


class Page(str, Enum):  # noqa: UP042  # whose str() is not its text
    HOME = "home"
    LETTER = "é"


def test_items_of_every_list() -> None:
    for items in (np.array([1, 2]), pandas.Series([1, 2]), pandas.Index([1, 2]), range(1, 3), (1, 2), iter([1, 2])):
        rows = open_events(as_frame(EVENTS), person="page", item="user", items=items, people=9, measure="presence")
        assert rows.labels == (1, 2)
        assert {type(label) for label in rows.labels} == {int}
    pages = open_events(as_frame(EVENTS), person="user", item="page", items=list(Page), people=7, measure="presence")
    assert pages.labels == ("home", "é")
    assert {type(label) for label in pages.labels} == {str}
    assert rows_of(pages)[frozenset({(0, 1.0)})] == 2


@pytest.mark.parametrize(
    ("people", "given"),
    [
        (0, "0 (int)"),
        (-1, "-1 (int)"),
        (9000.5, "9000.5 (float)"),
        (float("nan"), "nan (float)"),
        (float("inf"), "inf (float)"),
        (1e11, "100000000000.0 (float)"),
        (np.float64(7.25), "np.float64(7.25) (float64)"),
        (True, "True (bool)"),
        (10**10 + 1, "10000000001 (int)"),
        pytest.param(10**5000, "an int", id="thousands of digits"),
        ("7", "a str"),
        (None, "a NoneType"),
        (pandas.Series([CANARY]), "a Series"),
    ],
)
def test_numbers_of_people_that_are_refused(people: object, given: str) -> None:
    assert refused(as_frame(EVENTS), people=people) == (
        f"people: must be the public number of people, a whole number from 1 to 1e10, not {given}; it is never "
        "counted from the table"
    )


@pytest.mark.parametrize("people", [7.0, np.float64(7), np.int8(7)])
def test_whole_floats_count_people_as_on_the_command_line(people: Any) -> None:
    rows = open_events(as_frame(EVENTS), person="user", item="page", items=["home"], people=people, measure="presence")
    assert rows.n == 7
    assert type(rows.n) is int


FLOATS = [1.0, None]
LOST = (
    "Where one null has turned integers into floats, ids may have been lost: read the column again as Int64 or as text"
)


@pytest.mark.parametrize("argument", ["person", "item"])
@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (pandas.Series(FLOATS), "float64"),
        (pandas.Series(FLOATS, dtype="Float64"), "Float64"),
        (pandas.Series([True, False]), "bool"),
        (pandas.Series([True, None], dtype="boolean"), "boolean"),
        (pandas.Series(FLOATS, dtype="category"), "category of float64"),
        (pandas.Series(pandas.to_datetime(["2026-01-01", None])).astype("datetime64[ns]"), "datetime64[ns]"),
        (pandas.Series(FLOATS, dtype="float[pyarrow]"), "float[pyarrow]"),
        (polars.Series(FLOATS), "Float64"),
        (polars.Series([True, None]), "Boolean"),
        (polars.Series([[1], None]), "List"),
        (polars.Series([date(2026, 1, 1), None]), "Date"),
        (pyarrow.array([date(2026, 1, 1), None]), "date32"),
        (pyarrow.array(FLOATS), "double"),
        (pyarrow.array([b"x", None]), "binary"),
        (pyarrow.array([[1], None]), "list<item: int64>"),
        (pyarrow.array([1.0, None]).dictionary_encode(), "dictionary<values=double, indices=int32, ordered=0>"),
    ],
    ids=str,
)
def test_ids_of_other_types_are_refused(column: Any, dtype: str, argument: str) -> None:
    other = "page" if argument == "person" else "user"
    mine = "user" if argument == "person" else "page"
    make: Any = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}
    table = make[type(column).__module__.split(".")[0]]({mine: column, other: ["a", CANARY]})
    shown = refused(table)
    assert shown.startswith(f"{argument}: column {mine!r} has dtype ")
    advice = (
        LOST if any(name in dtype.lower() for name in ("float", "double")) else "Convert the column to text or integers"
    )
    assert shown.endswith(f"; ids are integers or text.  {advice}")
    assert dtype.split("<")[0].split("[")[0].lower() in shown.lower()


@pytest.mark.parametrize("put", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_a_measure_of_text_is_refused(put: Callable[[Any], object]) -> None:
    shown = refused(put({"user": [1], "page": ["a"], "time": [CANARY]}), measure="time")
    assert shown.startswith("measure: column 'time' has dtype ")
    assert shown.endswith("which is not numeric; name a numeric column or convert it")


def test_a_file_without_names_does_not_show_what_its_first_event_repeats() -> None:
    Path("events.csv").write_text(f"alice,{CANARY},{CANARY}\nbob,home,home\n")
    assert refused("events.csv") == f"person: the table has no column 'user'; {NAMES}"
    Path("events.csv").write_text("user,page,x,x\n1,a,2,3\n")
    assert event_rows("events.csv", items=["a"], people=1) == Counter({frozenset({(0, 1.0)}): 1})
    Path("events.csv").write_text("user,page,page\n1,a,2\n")
    assert refused("events.csv") == "item: the column 'page' occurs more than once; rename one of them"


def test_a_repeated_column_is_refused_only_where_it_matters() -> None:
    frame = pandas.DataFrame([[1, "a", 2, 3]], columns=["user", "page", "time", "time"])
    assert event_rows(frame, items=["a"], people=1) == Counter({frozenset({(0, 1.0)}): 1})
    assert refused(frame, measure="time") == "measure: the column 'time' occurs more than once; rename one of them"


@pytest.mark.parametrize(
    "table", [[(1, "a")], {"user": [1]}, pandas.Series([1]), polars.DataFrame({"user": [1]}).lazy(), None]
)
def test_other_tables_are_refused(table: object) -> None:
    assert refused(table).startswith(
        f"table: a {type(table).__name__} is not accepted; pass a pandas, polars or Spark DataFrame"
    )


def test_a_frame_of_dask_is_called_so() -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    events = dataframe.from_pandas(pandas.DataFrame({"user": [1], "page": ["a"]}), npartitions=1)
    assert refused(events).startswith("table: a DataFrame of Dask is not accepted; pass a pandas, polars or Spark")


def test_an_empty_path_is_no_table_of_events() -> None:
    assert refused("").startswith("table: an empty text names no file")


def test_files_that_are_refused() -> None:
    assert refused("events.csv") == "table: there is no file 'events.csv'; a string is taken for the path of a file"
    Path("events.npy").write_bytes(b"x")
    assert refused("events.npy") == (
        "table: the file 'events.npy' must end in one of .csv, .tsv, .parquet, .pq, .arrow, .arrows, .ipc, .feather"
    )
    Path("events.CSV.GZ").write_bytes(b"x")
    assert refused("events.CSV.GZ") == (
        "table: the file 'events.CSV.GZ' is compressed; decompress it first, to one of .csv, .tsv, .parquet, .pq, "
        ".arrow, .arrows, .ipc, .feather"
    )
    Path("events.csv").write_bytes(b"")
    assert refused("events.csv") == "table: the file 'events.csv' is empty; name one that holds a table"
    Path("events.csv").write_text(f"17,{CANARY}\n")
    assert refused("events.csv").startswith("table: a name in the first line of the file is a number")
    for suffix in ("parquet", "arrow", "feather"):
        name = f"events.{suffix}"
        Path(name).write_text(f"user,page\n1,{CANARY}\n")
        assert refused(name).startswith(f"table: the file '{name}' is cut off, damaged or not a")
        assert refused(name).endswith(" file of events; write or copy it again")


@pytest.mark.parametrize("name", ["parquet", "feather", "arrow stream"])
def test_damaged_files_are_told_without_cells(name: str) -> None:
    """Whatever bytes are turned over, there is a release or one sentence about the file."""
    path = Path(str(CONTAINERS[name](EVENTS | {"page": [CANARY] * 9})))
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(150):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        told = None
        try:
            event_rows(path, items=["a"], people=4)
        except ArgumentError as error:
            told = error
        assert CANARY not in str(told)
        assert told is None or (told.__cause__, told.__context__) == (None, None)


def test_a_file_whose_dictionary_is_too_short_is_damaged() -> None:
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 7]), pyarrow.array(["x", CANARY]), safe=False)
    pyarrow.feather.write_feather(pyarrow.table({"user": words, "page": ["a"] * 3}), "events.feather")
    assert refused("events.feather").startswith("table: the file 'events.feather' is cut off, damaged or not a")
