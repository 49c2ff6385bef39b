"""Events in every container give the same rows, and none of them is changed."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from event_tables import (
    CANARY,
    CONTAINERS,
    COUNT,
    EVENTS,
    ITEMS,
    PRESENCE,
    TIME,
    Columns,
    as_arrow,
    as_frame,
    event_rows,
    every_container,
    frame_of,
    rows_of,
)

from plandp.data.compressed_rows import CompressedRows
from plandp.data.event_ids import public_hash
from plandp.data.events import open_events

pytestmark = pytest.mark.usefixtures("own_folder")


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
