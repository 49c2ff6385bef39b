"""Ids of people and items: exact texts, and cells that are none are nobody."""

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from event_tables import EVENTS, ITEMS, PRESENCE, as_frame, event_rows, frame_of, refused, rows_of, write_csv

from plandp.data.event_ids import canonical_id
from plandp.data.events import open_events
from plandp.data.id_column import number_integers

pytestmark = pytest.mark.usefixtures("own_folder")


def test_an_id_is_its_text() -> None:
    assert canonical_id(7) == canonical_id("7") == canonical_id(np.uint8(7)) == b"7"
    assert canonical_id(-3) == b"-3"
    assert canonical_id(2**127) == str(2**127).encode()
    distinct = ["007", " 7", "7 ", "7.0", "7\0", "7\n", "+7", "٧", "é", "e\u0301", "a\0b", "a\0c", "\ud800"]
    assert len({canonical_id(text) for text in [*distinct, "7"]}) == len(distinct) + 1
    for null in (None, "", True, np.True_, 7.0, float("nan"), pandas.NA, b"7", 2**128, 10**5000, [7], pandas.NaT):
        assert canonical_id(null) is None


@pytest.mark.parametrize("kind", [pyarrow.int64(), pyarrow.uint64()])
def test_large_integers_with_a_null_are_exact(kind: Any) -> None:
    large = [2**53, 2**53 + 1, 2**53 + 2, 2**62 + 1, 2**62, None, 2**63 - 1]
    page = ["a"] * len(large)
    table = pyarrow.table({"user": pyarrow.array(large, kind), "page": page})
    text = pyarrow.table({"user": [None if user is None else str(user) for user in large], "page": page})
    nullable = "Int64" if kind == pyarrow.int64() else "UInt64"
    for shown in (
        table,
        polars.from_arrow(table),
        table.to_pandas(types_mapper={kind: getattr(pandas, nullable + "Dtype")()}.get),
    ):
        for people in (2, 4, 6):
            expected = Counter({frozenset({(0, 1.0)}): people})
            assert event_rows(shown, items=["a"], people=people) == expected
            assert event_rows(text, items=["a"], people=people) == expected
        by_item = {"person": "page", "item": "user", "items": [2**53 + 1, "9223372036854775807"], "people": 1}
        rows = open_events(shown, **by_item, measure="count")
        assert rows_of(rows) == Counter({frozenset({(0, 1.0), (1, 1.0)}): 1})


@pytest.mark.parametrize(
    "values",
    [
        np.array([-128, 127, 0, 127], dtype=np.int8),
        np.arange(-100, 128, dtype=np.int8),
        np.array([0, 2**64 - 1, 5, 2**64 - 1], dtype=np.uint64),
        np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1]),
        np.array([-(2**63), -(2**63) + 1, -(2**63)]),
        np.arange(1000, dtype=np.int16) % 7,
        np.array([3]),
    ],
)
def test_integers_of_every_width_are_numbered(values: np.ndarray) -> None:
    column = number_integers(values)
    texts = column.ids()
    assert [texts[number] for number in column.numbers] == [str(value).encode() for value in values.tolist()]
    assert len(set(texts)) == len(texts)
    null = np.arange(len(values)) % 2 == 0
    assert [number == -1 for number in number_integers(values, null).numbers] == null.tolist()


@pytest.mark.parametrize(
    "put", [frame_of, lambda events: polars.DataFrame(events, schema=["user", "page", "time"], orient="row")]
)
def test_texts_with_zero_characters_are_different_ids(put: Callable[[Any], object]) -> None:
    events = [(user, "a", 1.0) for user in ("x", "x\0", "x\0a", "x\0b")] + [("y", "a\0", 1.0), ("y", "a\0b", 1.0)]
    assert event_rows(put(events), items=["a", "a\0b"], people=6) == Counter(
        {frozenset({(0, 1.0)}): 4, frozenset({(1, 1.0)}): 1, frozenset(): 1}
    )


@pytest.mark.parametrize("kind", ["object", "str", "string[python]", "category", "large_string[pyarrow]"])
def test_an_empty_text_is_null(kind: str) -> None:
    events = {"user": ["", "x", "x", ""], "page": ["a", "a", "", "a"]}
    frame = pandas.DataFrame(events, dtype=kind)
    arrow = pyarrow.table(events)
    dictionaries = pyarrow.table({name: arrow[name].dictionary_encode() for name in events})
    write_csv(events, "events.csv")
    for table in (frame, polars.DataFrame(events), arrow, dictionaries, "events.csv"):
        assert event_rows(table, items=["a"], people=2, measure="count") == Counter(
            {frozenset({(0, 1.0)}): 1, frozenset(): 1}
        )


def test_unicode_is_not_normalised() -> None:
    events = [(1, "é", 1.0), (1, "e\u0301", 1.0), (2, "E\u0301", 1.0), (3, "ﬁ", 1.0), (4, "日本", 1.0)]
    found = event_rows(frame_of(events), items=["é", "e\u0301", "fi", "日本"], people=4)
    assert found == Counter({frozenset({(0, 1.0), (1, 1.0)}): 1, frozenset({(3, 1.0)}): 1, frozenset(): 2})


def test_strange_objects_are_null_and_change_nobody_else() -> None:
    """True == 1 == 1.0 in Python: numbering cells by equality would give one person's cell the fate of another's."""
    strange = [True, 1.0, b"1", ["1"], {"1": 1}, float("nan"), pandas.NaT, object(), 10**5000, np.float64(1), ""]
    real = [(1, "a", 1.0), ("1", 7, 1.0), (2, "7", 1.0)]
    expected = Counter({frozenset({(0, 1.0), (1, 1.0)}): 1, frozenset({(1, 1.0)}): 1, frozenset(): 18})
    for first, last in (([(cell, cell, 1.0) for cell in strange], []), ([], [(cell, "a", 1.0) for cell in strange])):
        assert event_rows(frame_of([*first, *real, *last]), items=["a", 7], people=20, measure="count") == expected


@pytest.mark.parametrize("span", [(5, "D"), ("NaT",), (5, "ns"), (5,), ("NaT", "ns"), (5, "Y"), (10**15, "us")])
def test_spans_of_time_are_null(span: tuple[Any, ...]) -> None:
    """NumPy counts them among its integers, and int() of them is a number or raises, by their unit."""
    cell = np.timedelta64(*span)
    assert canonical_id(cell) is None
    cells = np.array(["a", None, "b"], dtype=object)
    cells[1] = cell
    frame = pandas.DataFrame({"user": pandas.Series(["1", "2", "3"]), "page": pandas.Series(cells, dtype=object)})
    assert frame["page"].array[1] is cell
    swapped = frame.rename(columns={"user": "page", "page": "user"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert event_rows(frame, items=["a", 5], people=3) == Counter({frozenset({(0, 1.0)}): 1, frozenset(): 2})
        assert event_rows(swapped, items=["2"], people=3) == Counter({frozenset(): 3})
    assert refused(frame, items=[cell]).startswith("items: must be texts that are not empty, or integers")


def test_categories_that_nobody_has_are_nobody() -> None:
    frame = as_frame(EVENTS, "category", "category")
    frame["user"] = frame["user"].cat.add_categories(list(range(100, 200)))
    assert event_rows(frame, items=ITEMS, people=7) == PRESENCE
    assert event_rows(frame, items=ITEMS, people=4).total() == 4
    mixed = pandas.DataFrame({"user": pandas.Categorical([7, "7", 8], categories=[7, "7", 8]), "page": ["a", "b", "a"]})
    assert event_rows(mixed, items=["a", "b"], people=2) == Counter(
        {frozenset({(0, 1.0), (1, 1.0)}): 1, frozenset({(0, 1.0)}): 1}
    )


def test_a_dictionary_may_repeat_its_words_and_hold_null() -> None:
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2, 3, None]), pyarrow.array(["a", "b", "a", None]))
    table = pyarrow.table({"user": ["x"] * 5, "page": words})
    assert event_rows(table, items=["a", "b"], people=1, measure="count") == Counter(
        {frozenset({(0, 2.0), (1, 1.0)}): 1}
    )
    numbers = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 0, None]), pyarrow.array([2**60 + 1, 2**60]))
    table = pyarrow.table({"user": numbers, "page": ["a"] * 4})
    assert event_rows(table, items=["a"], people=3, measure="count") == Counter(
        {frozenset({(0, 2.0)}): 1, frozenset({(0, 1.0)}): 1, frozenset(): 1}
    )


def test_a_long_text_that_many_events_share_is_stored_once() -> None:
    """Written out, the column would hold more than the 2**31 bytes that 32-bit offsets reach."""
    places = np.zeros(2200, dtype=np.int32)
    places[0] = 1
    for first in ("x", "x" * 1_000_000):
        words = pyarrow.DictionaryArray.from_arrays(pyarrow.array(places), pyarrow.array([first, "a"]))
        for table in (
            pyarrow.table({"user": ["1"] * 2200, "page": words}),
            pyarrow.table([words] * 2, ["page", "user"]),
        ):
            pyarrow.feather.write_feather(table, "events.feather")
            for source in (table, "events.feather"):
                assert event_rows(source, items=["a"], people=2) == Counter({frozenset({(0, 1.0)}): 1, frozenset(): 1})


@pytest.mark.parametrize("index", [pyarrow.int8(), pyarrow.uint8(), pyarrow.uint64()])
@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.int16(), pyarrow.uint64()])
def test_chunks_with_different_dictionaries_are_the_plain_column(index: Any, kind: Any) -> None:
    """More words in all chunks together than the type of the indices could number."""
    rng = np.random.default_rng(4)
    words = [pyarrow.array([*map(str, range(100 * k, 100 * k + 100)), None]).cast(kind) for k in (0, 1, 1, 2, 0)]
    places = [[None if place > 100 else place for place in rng.integers(0, 110, 60).tolist()] for _ in words]
    chunks = [
        pyarrow.DictionaryArray.from_arrays(pyarrow.array(where, index), what)
        for where, what in zip(places, words, strict=True)
    ]
    column = pyarrow.chunked_array([chunk.slice(3) for chunk in chunks])
    page = pyarrow.array(["a", "b", "c", None, ""] * 57)
    plain = pyarrow.chunked_array([chunk.slice(3).cast(kind) for chunk in chunks])
    for people in (50, 400):
        one, other = (
            event_rows(pyarrow.table({"user": user, "page": page}), items=list("abc"), people=people, measure="count")
            for user in (column, plain)
        )
        assert one == other
    assert event_rows(pyarrow.table({"user": column[:0], "page": page[:0]}), items=["a"], people=1).total() == 1


def test_text_that_is_not_utf8_is_an_id_like_another() -> None:
    text = pyarrow.array([b"\xff", b"\xfe", b"a"]).view(pyarrow.string())
    table = pyarrow.table({"user": text, "page": text})
    pyarrow.parquet.write_table(table, "events.parquet")
    pyarrow.feather.write_feather(table, "events.feather")
    dictionaries = pyarrow.table({name: table[name].dictionary_encode() for name in table.column_names})
    pyarrow.feather.write_feather(dictionaries, "events.arrow")
    for source in (table, dictionaries, "events.parquet", "events.feather", "events.arrow"):
        assert event_rows(source, items=["a"], people=3) == Counter({frozenset({(0, 1.0)}): 1, frozenset(): 2})
        assert event_rows(source, items=["a"], people=1).total() == 1
