"""Events into rows: every container gives the same rows, ids are exact, and no cell can raise."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from plandp.data.compressed_rows import CompressedRows
from plandp.data.event_ids import canonical_id, first_people, public_hash
from plandp.data.events import open_events
from plandp.data.id_column import number_integers
from plandp.data.person_rows import ROWS_PER_BLOCK, exact_sums
from plandp.data.sparse_rows import SparseBlock, SparseRows
from plandp.errors import ArgumentError

Columns = dict[str, list[Any]]
CANARY = "canary48151623"

EVENTS: Columns = {
    "user": [3, 1, None, 3, 2, 3, 1, 12, 12],
    "page": ["home", "a,b", "home", "home", None, "strange", "é", "home", "home"],
    "time": [1.5, 2.0, 4.0, 0.25, 1.0, 1.0, None, -1.0, 0.5],
}
ITEMS = ["é", "home", "a,b", "nobody was here"]
PRESENCE = Counter({frozenset({(1, 1.0)}): 2, frozenset({(0, 1.0), (2, 1.0)}): 1, frozenset(): 4})
COUNT = Counter({frozenset({(1, 2.0)}): 2, frozenset({(0, 1.0), (2, 1.0)}): 1, frozenset(): 4})
TIME = Counter({frozenset({(1, 1.75)}): 1, frozenset({(2, 2.0)}): 1, frozenset(): 5})


def rows_of(source: SparseRows) -> Counter[frozenset[tuple[int, float]]]:
    """All rows of a source, each as a set of items with their values."""
    rows: Counter[frozenset[tuple[int, float]]] = Counter()

    def note(block: SparseBlock) -> tuple[Any, ...]:
        values = np.ones(len(block.items)) if block.values is None else block.values
        for start, end in zip(block.begin[:-1].tolist(), block.begin[1:].tolist(), strict=True):
            rows[frozenset(zip(block.items[start:end].tolist(), values[start:end].tolist(), strict=True))] += 1
        return (np.array([len(block.begin) - 1]),)

    (n,) = source.fold(note)
    assert n[0] == source.n
    return rows


def event_rows(table: object, *, items: list[Any], people: int, measure: str = "presence") -> Counter[Any]:
    return rows_of(open_events(table, person="user", item="page", items=items, people=people, measure=measure))


def frame_of(events: list[tuple[object, object, float]]) -> pandas.DataFrame:
    """A frame of objects, which can hold any cell."""
    user, page, time = zip(*events, strict=True)
    objects = {name: pandas.Series(list(cells), dtype=object) for name, cells in (("user", user), ("page", page))}
    return pandas.DataFrame(objects | {"time": list(time)})


def as_text(columns: Columns) -> Columns:
    return {name: [None if cell is None else str(cell) for cell in cells] for name, cells in columns.items()}


def as_frame(columns: Columns, user: str = "Int64", page: str = "str") -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "user": pandas.Series(columns["user"], dtype=object).astype(user),
            "page": pandas.Series(columns["page"], dtype=object).astype(page),
            "time": pandas.Series(columns["time"], dtype=float),
        }
    )


def as_arrow(columns: Columns, user: Any = None, page: Any = None) -> pyarrow.Table:
    kinds = {"user": user or pyarrow.int64(), "page": page or pyarrow.string(), "time": pyarrow.float64()}
    cells = as_text(columns) if user is not None and not pyarrow.types.is_integer(user) else columns
    return pyarrow.table(
        {
            name: pyarrow.array(columns["time"] if name == "time" else cells[name]).cast(kind)
            for name, kind in kinds.items()
        }
    )


def as_file(name: str, write: Callable[[Columns, str], object]) -> Callable[[Columns], object]:
    def put(columns: Columns) -> object:
        write(columns, name)
        return name

    return put


def write_csv(columns: Columns, name: str) -> None:
    mark = "," if name.endswith(".csv") else "\t"
    lines = [
        mark.join("" if cell is None else f'"{cell}"' if mark in str(cell) else str(cell) for cell in cells)
        for cells in zip(*columns.values(), strict=True)
    ]
    Path(name).write_text("\n".join([mark.join(columns), *lines]) + "\n", encoding="utf-8")


def write_stream(columns: Columns, name: str) -> None:
    table = as_arrow(columns)
    with pyarrow.OSFile(name, "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=2)


CONTAINERS: dict[str, Callable[[Columns], object]] = {
    "pandas": as_frame,
    "pandas objects": lambda columns: as_frame(columns, "object", "object"),
    "pandas text": lambda columns: as_frame(as_text(columns) | {"time": columns["time"]}, "string[python]", "string"),
    "pandas categories": lambda columns: as_frame(columns, "category", "category"),
    "pandas narrow": lambda columns: as_frame(columns, "UInt8"),
    "pandas arrow": lambda columns: as_frame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda columns: polars.DataFrame(columns),
    "polars text": lambda columns: polars.DataFrame(columns).with_columns(polars.col("user").cast(polars.String)),
    "polars categories": lambda columns: polars.DataFrame(columns).with_columns(
        polars.col("page").cast(polars.Categorical)
    ),
    "polars wide": lambda columns: polars.DataFrame(columns).with_columns(polars.col("user").cast(polars.Int128)),
    "arrow": as_arrow,
    "arrow batch": lambda columns: as_arrow(columns).to_batches()[0],
    "arrow chunks": lambda columns: pyarrow.concat_tables([as_arrow(columns).slice(0, 4), as_arrow(columns).slice(4)]),
    "arrow views": lambda columns: as_arrow(columns, pyarrow.large_string(), pyarrow.string_view()),
    "arrow narrow": lambda columns: as_arrow(columns, pyarrow.uint8()),
    "arrow dictionaries": lambda columns: pyarrow.concat_tables(
        [
            as_arrow(columns, pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), pyarrow.large_string()).slice(*part)
            for part in ((0, 3), (3,))
        ]
    ),
    "csv": as_file("events.csv", write_csv),
    "tsv": as_file("events.tsv", write_csv),
    "parquet": as_file(
        "events.parquet", lambda columns, name: pyarrow.parquet.write_table(as_arrow(columns), name, row_group_size=2)
    ),
    "feather": as_file("events.feather", lambda columns, name: pyarrow.feather.write_feather(as_arrow(columns), name)),
    "arrow stream": as_file("events.arrow", write_stream),
}
every_container = pytest.mark.parametrize("put", CONTAINERS.values(), ids=CONTAINERS)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---- the same rows from every container


@every_container
@pytest.mark.parametrize(("measure", "expected"), [("presence", PRESENCE), ("count", COUNT), ("time", TIME)])
def test_every_container_gives_the_same_rows(
    put: Callable[[Columns], object], measure: str, expected: Counter[Any]
) -> None:
    assert event_rows(put(EVENTS), items=ITEMS, people=7, measure=measure) == expected


@pytest.mark.parametrize("put", [put for name, put in CONTAINERS.items() if name.startswith("polars")])
def test_polars_needs_no_other_package(put: Callable[[Columns], object], monkeypatch: pytest.MonkeyPatch) -> None:
    table = put(EVENTS)
    monkeypatch.setattr("plandp.data.polars_events.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert event_rows(table, items=ITEMS, people=7, measure="time") == TIME


@every_container
def test_the_same_people_are_kept_in_every_container(put: Callable[[Columns], object]) -> None:
    events: Columns = {
        "user": [place % 100 for place in range(300)],
        "page": [f"p{place * place % 97}" for place in range(300)],
        "time": [1.0] * 300,
    }
    items = [f"p{place}" for place in range(97)]
    kept = set(sorted(range(100), key=lambda user: public_hash(str(user).encode()))[:40])
    few = [event for event in zip(*events.values(), strict=True) if event[0] in kept]
    expected = event_rows(frame_of(few), items=items, people=40, measure="count")
    assert event_rows(put(events), items=items, people=40, measure="count") == expected


@every_container
@pytest.mark.parametrize("measure", ["presence", "count", "time"])
def test_no_events_are_empty_rows(put: Callable[[Columns], object], measure: str) -> None:
    whole = put(EVENTS)
    if isinstance(whole, str):
        write = {name: cells[:0] for name, cells in EVENTS.items()}
        if whole.endswith("sv"):
            whole = put(write)
        else:
            table = as_arrow(EVENTS).slice(0, 0)
            pyarrow.parquet.write_table(table, "events.parquet")
            pyarrow.feather.write_feather(table, "events.feather")
            with pyarrow.OSFile("events.arrow", "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema):
                pass
        empty: Any = whole
    else:
        empty = whole[:0] if hasattr(whole, "iloc") else whole.slice(0, 0)
    assert event_rows(empty, items=ITEMS, people=3, measure=measure) == Counter({frozenset(): 3})


def test_the_source_says_what_is_public() -> None:
    rows = open_events(as_frame(EVENTS), person="user", item="page", items=ITEMS, people=7, measure="time")
    assert isinstance(rows, CompressedRows)
    assert (rows.n, rows.d, rows.labels, rows.passes) == (7, 4, tuple(ITEMS), 0)
    rows_of(rows)
    rows_of(rows)
    assert rows.passes == 2
    assert CANARY not in repr(rows)


def test_types_and_shapes_do_not_depend_on_the_events() -> None:
    seen = set()
    for events in (EVENTS, {name: cells[:1] for name, cells in EVENTS.items()}):
        for measure in ("presence", "count", "time"):
            rows = open_events(as_frame(events), person="user", item="page", items=ITEMS, people=7, measure=measure)
            kinds: list[Any] = []
            rows.fold(lambda block, kinds=kinds: kinds.append(block) or (np.zeros(1, dtype=np.int64),))
            seen.add(
                (
                    measure,
                    *((len(b.begin), b.begin.dtype, b.items.dtype, getattr(b.values, "dtype", None)) for b in kinds),
                )
            )
    assert len(seen) == 3


# ---- ids


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


# ---- who is kept


def test_who_is_kept_is_what_the_public_order_says() -> None:
    ids = [str(place).encode() for place in range(1000)]
    order = sorted(range(1000), key=lambda place: public_hash(ids[place]))
    assert list(first_people(enumerate(ids), 10)) == order[:10]
    assert order[:10] != sorted(order[:10])
    # the hash is public and must never change: who is kept would change with it
    assert public_hash(b"7").hex() == "be40f60c8f8e5adc99096d8d04ed91d6"


def test_ties_are_broken_by_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.data.event_ids.public_hash", lambda text: b"same")
    for ids in ([b"c", b"a", b"b"], [b"a", b"b", b"c"]):
        assert {ids[number] for number in first_people(enumerate(ids), 2)} == {b"a", b"b"}


def test_people_with_unknown_items_compete_and_people_without_id_do_not() -> None:
    known = [(f"known{place}", "a", 1.0) for place in range(200)]
    unknown = [(f"unknown{place}", "strange", 1.0) for place in range(200)]
    nobody = [(None, "a", 1.0)] * 200
    found = event_rows(frame_of([*known, *unknown, *nobody]), items=["a"], people=200)
    ids = [str(user) for user, _, _ in [*known, *unknown]]
    kept = sorted(ids, key=lambda user: public_hash(user.encode()))[:200]
    assert found[frozenset()] == sum(user.startswith("unknown") for user in kept)
    assert 70 < found[frozenset()] < 130  # about half: 5 standard deviations of a fair choice, and fixed by the hash
    assert event_rows(frame_of([*known, *nobody]), items=["a"], people=200)[frozenset()] == 0


def test_neither_the_first_nor_the_most_active_are_preferred() -> None:
    events = [(place, "a", 1.0) for place in range(1000) for _ in range(1 if place >= 500 else 3)]
    kept = event_rows(frame_of(events), items=["a"], people=500, measure="count")
    assert 190 < kept[frozenset({(0, 3.0)})] < 310


@pytest.mark.parametrize("people", [1, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 1, 3 * ROWS_PER_BLOCK + 5])
def test_rows_are_cut_into_blocks_that_hold_each_once(people: int) -> None:
    rng = np.random.default_rng(3)
    users = rng.integers(0, 2 * ROWS_PER_BLOCK, 300_000)
    frame = pandas.DataFrame({"user": users, "page": rng.integers(0, 50, 300_000)})
    rows = open_events(frame, person="user", item="page", items=list(range(40)), people=people, measure="count")

    def totals(block: Any) -> Any:
        assert len(block.begin) <= ROWS_PER_BLOCK + 1
        assert block.begin[0] == 0
        assert len(block.items) == len(block.values) == block.begin[-1]
        return np.array([len(block.begin) - 1, block.values.sum()]), np.bincount(block.items, block.values, 40).astype(
            int
        )

    (n, events), by_item = rows.fold(totals)
    assert n == people
    if people > 2 * ROWS_PER_BLOCK:
        counted = frame[frame["page"] < 40]
        assert events == len(counted)
        np.testing.assert_array_equal(by_item, np.bincount(counted["page"], minlength=40))


def test_a_thousand_million_people_take_no_memory() -> None:
    rows = open_events(as_frame(EVENTS), person="user", item="page", items=ITEMS, people=10**9, measure="presence")
    assert rows.n == 10**9


# ---- sums


def test_sums_are_exact_whatever_the_order() -> None:
    rng = np.random.default_rng(5)
    wild = np.concatenate(
        [rng.normal(size=300) * 10.0 ** rng.integers(-300, 30, 300), [1e300, -1e300, np.inf, -np.inf]]
    )
    limit = 2.0**100
    whole = rng.integers(-50, 50, 300) * 2.0 ** rng.integers(0, 90, 300)
    for values in (
        wild,
        whole,
        rng.integers(-50, 50, 300).astype(float),
        rng.normal(size=300),
        np.full(300, 2.0**52 + 1),
    ):
        clipped = np.clip(values, -limit, limit)
        expected = float(sum(map(Fraction, clipped.tolist())))
        for _ in range(5):
            first = np.array([0, len(values)])
            assert exact_sums(np.append(rng.permutation(values), 3.0), first).tolist() == [expected, 3.0]


def test_a_sum_does_not_depend_on_other_people() -> None:
    """A cumulative sum over all values would lose the small ones behind a large one."""
    small = [("x", "a", 0.1), ("x", "a", 0.2), ("x", "a", 2.0**-60)]
    exact = float(Fraction(0.1) + Fraction(0.2) + Fraction(2.0**-60))
    for others in ([], [("w", "a", 1e300)], [("w", "a", float("inf")), ("y", "a", float("nan"))], [("y", "a", -1e300)]):
        found = event_rows(frame_of([*others, *small]), items=["a"], people=5, measure="time")
        assert found[frozenset({(0, exact)})] == 1


def test_counts_of_many_events_are_exact() -> None:
    frame = pandas.DataFrame({"user": np.zeros(3_000_001, dtype=np.int8), "page": "a"})
    assert event_rows(frame, items=["a"], people=1, measure="count") == Counter({frozenset({(0, 3_000_001.0)}): 1})


def test_sums_that_are_not_above_zero_are_left_out() -> None:
    nan, inf = float("nan"), float("inf")
    cases = {
        "minus": [-1.0, 0.5],
        "zero": [1.0, -1.0],
        "nan": [nan],
        "inf": [inf, -inf],
        "less": [-inf, 1e300],
        "none": [],
    }
    events = [(user, "a", value) for user, values in cases.items() for value in values]
    assert event_rows(frame_of(events), items=["a"], people=6, measure="time") == Counter({frozenset(): 6})
    kept = [("nan", "a", nan), ("nan", "a", 2.0), ("inf", "a", inf), ("inf", "a", -1.0), ("least", "a", 5e-324)]
    expected = {frozenset({(0, value)}): 1 for value in (2.0, 2.0**100, 5e-324)}
    assert event_rows(frame_of(kept), items=["a"], people=3, measure="time") == Counter(expected)


@pytest.mark.parametrize("kind", ["int8", "uint64", "bool", "float32", "Int32", "boolean", "Float64"])
def test_values_of_every_numeric_type_are_read(kind: str) -> None:
    frame = pandas.DataFrame({"user": ["x", "x"], "page": ["a", "a"], "time": pandas.Series([1, 1], dtype=kind)})
    for table in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        assert event_rows(table, items=["a"], people=1, measure="time") == Counter({frozenset({(0, 2.0)}): 1})


# ---- CSV


def test_csv_cells_are_exact_texts() -> None:
    lines = [
        "user,n,page",
        "7,1,x",
        " 7,1,x",
        "007,1, x",
        '"7",1,"x"',
        "7.0,1,7",
        '"a""b",2,"x\r\ny"',
        "NA,1,nan",
        "7,1,x\r",
    ]
    Path("events.csv").write_bytes("\n".join([*lines, "ж,1,x", ""]).encode())
    found = event_rows("events.csv", items=["x", 7, " x", "x\r\ny", "nan"], people=10, measure="count")
    assert found == Counter(
        {
            frozenset({(0, 3.0)}): 1,  # 7
            frozenset({(0, 1.0)}): 2,  # " 7" and ж
            frozenset({(2, 1.0)}): 1,  # 007
            frozenset({(1, 1.0)}): 1,  # 7.0
            frozenset({(3, 1.0)}): 1,  # a"b
            frozenset({(4, 1.0)}): 1,  # NA is a name like another
            frozenset(): 3,
        }
    )


def test_strange_csv_records_are_dropped() -> None:
    text = b"user,page\nx,a\n\nx\n,a\nx,\nx,a,b\n\xff\xfe,a\nx,\xff\n\xef\xbb\xbfx,a\nx,a"
    Path("events.csv").write_bytes(text)
    assert event_rows("events.csv", items=["a"], people=4, measure="count") == Counter(
        {frozenset({(0, 2.0)}): 1, frozenset({(0, 1.0)}): 2, frozenset(): 1}
    )


def test_the_last_cell_of_a_csv_file_is_exact_too() -> None:
    for end in ("", "\n", "\r\n"):
        Path("events.csv").write_text(f'user,page\nx,"a\n"{end}', newline="")
        assert event_rows("events.csv", items=["a\n"], people=1) == Counter({frozenset({(0, 1.0)}): 1})
        Path("events.csv").write_text(f"user,page\nx,a{end}", newline="")
        assert event_rows("events.csv", items=["a"], people=1) == Counter({frozenset({(0, 1.0)}): 1})


def test_csv_values_are_decimal_numbers() -> None:
    Path("events.tsv").write_text("user\tpage\ttime\nx\ta\t 1.5\nx\ta\ttrue\nx\ta\t\nx\ta\t1_0\nx\ta\t2e0\n")
    assert event_rows("events.tsv", items=["a"], people=1, measure="time") == Counter({frozenset({(0, 3.5)}): 1})


def test_csv_files_longer_than_a_block_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.data.csv_file.BYTES_PER_BLOCK", 16)
    put = CONTAINERS["csv"]
    assert event_rows(put(EVENTS), items=ITEMS, people=7, measure="time") == TIME


# ---- nothing is changed, nothing warns


@every_container
def test_the_table_is_not_changed(put: Callable[[Columns], object]) -> None:
    table = put(EVENTS)
    before = Path(table).read_bytes() if isinstance(table, str) else table.__reduce_ex__(4)
    copy = table if isinstance(table, str) else (table.copy() if isinstance(table, pandas.DataFrame) else table)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for measure in ("presence", "count", "time"):
            event_rows(table, items=ITEMS, people=2, measure=measure)
    if isinstance(table, str):
        assert Path(table).read_bytes() == before
    elif isinstance(table, pandas.DataFrame):
        pandas.testing.assert_frame_equal(table, copy)
    else:
        assert table.equals(put(EVENTS))


# ---- what is refused, by what is public


def refused(table: object, **arguments: Any) -> str:
    given = {"person": "user", "item": "page", "items": ["a"], "people": 5, "measure": "presence"} | arguments
    with pytest.raises(ArgumentError) as caught:
        open_events(table, **given)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in str(caught.value)
    return str(caught.value)


NAMES = "name one that it has.  The first line of a CSV or TSV file must name the columns"


@every_container
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"person": "person"}, f"person: the table has no column 'person'; {NAMES}"),
        ({"item": "item"}, f"item: the table has no column 'item'; {NAMES}"),
        ({"measure": "sum"}, f"measure: the table has no column 'sum'; {NAMES}"),
        ({"item": "user"}, "item: 'user' is the column of the person already; name another"),
        ({"measure": "page"}, "measure: 'page' is the column of the item already; name another"),
        ({"person": None}, "person: must be the name of a column"),
    ],
)
def test_columns_that_are_not_there(put: Callable[[Columns], object], arguments: Any, message: str) -> None:
    assert refused(put(EVENTS), **arguments) == message


@pytest.mark.parametrize("mark", [",", "\t"])
def test_a_file_without_names_does_not_show_its_first_event(mark: str) -> None:
    name = "events.csv" if mark == "," else "events.tsv"
    Path(name).write_text(f"{CANARY}{mark}{CANARY}-page\nbob{mark}home\n")
    assert refused(name) == f"person: the table has no column 'user'; {NAMES}"
    assert refused(pandas.read_csv(name, sep=mark)) == f"person: the table has no column 'user'; {NAMES}"


NEITHER = "must be texts that are not empty, or integers of up to 128 bits; item number 1 is neither, but of type "


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "no item is named; name all that can count, from public knowledge"),
        ("home", "pass a list of all items that can count, such as items=['home', 'search']"),
        ({"home"}, "pass a list of all items that can count, such as items=['home', 'search']"),
        (7, "pass a list of all items that can count, such as items=['home', 'search']"),
        (["a", "b", "a"], "'a' occurs more than once; name each item once (7 and '7' are the same item)"),
        ([7, "7"], "'7' occurs more than once; name each item once (7 and '7' are the same item)"),
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


@pytest.mark.parametrize("people", [0, -1, 1.5, "7", True, None, 10**10 + 1, float("nan")])
def test_numbers_of_people_that_are_refused(people: object) -> None:
    assert refused(as_frame(EVENTS), people=people) == (
        "people: must be the public number of people, a whole number from 1 to 1e10; it is never counted from the table"
    )


FLOATS = [1.0, None]
ADVICE = (
    "ids are integers or text.  Where one null has turned integers into floats, ids may have been lost: read the "
    "column again as Int64 or as text"
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
    assert shown.endswith(f"; {ADVICE}")
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
        f"table: a {type(table).__name__} is not accepted; pass a pandas or polars DataFrame"
    )


def test_files_that_are_refused() -> None:
    assert refused("events.csv") == "table: there is no file 'events.csv'; a string is taken for the path of a file"
    Path("events.npy").write_bytes(b"x")
    assert refused("events.npy") == (
        "table: the file 'events.npy' must end in one of .csv, .tsv, .parquet, .arrow, .feather"
    )
    Path("events.csv").write_bytes(b"")
    assert refused("events.csv") == "table: the file 'events.csv' is empty; name one that holds a table"
    Path("events.csv").write_text(f"17,{CANARY}\n")
    assert refused("events.csv").startswith("table: a name in the first line of the file is a number")
    for suffix in ("parquet", "arrow", "feather"):
        name = f"events.{suffix}"
        Path(name).write_text(f"user,page\n1,{CANARY}\n")
        assert refused(name).startswith(f"table: the file '{name}' is cut off, damaged or not a ")
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
    assert refused("events.feather").startswith("table: the file 'events.feather' is cut off, damaged or not a ")


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
