"""One person's events are one row: neighbouring tables of events, whatever is in them, differ in one row."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from event_rows import Event, Row, event_rows, frame_of, slow_rows
from hypothesis import given, settings
from hypothesis import strategies as st

ITEMS: list[Any] = ["a", "b", 7]
MEASURES = ["presence", "count", "time"]
OTHERS = ["u", "v", "w", "7", 8, -3, None, True, 1.0, ""]
CHANGED, FRESH = "x", "y"

cells = st.sampled_from([*ITEMS, "7", "unknown", None, "", 7.0])
strange = st.sampled_from(
    [1.0, 0.1, -0.1, 0.0, -1.0, 1e16, 1e-300, 2.0**101, float("inf"), -float("inf"), float("nan")]
)
values = st.one_of(strange, st.floats(-1, 10), st.floats(0, 1))


def events_of(persons: list[Any], most: int = 8) -> st.SearchStrategy[list[Event]]:
    return st.lists(st.tuples(st.sampled_from(persons), cells, values), max_size=most)


def distance(one: Counter[Row], other: Counter[Row]) -> int:
    assert one.total() == other.total()
    return (one - other).total()


@given(
    others=events_of(OTHERS, 20),
    before=events_of([CHANGED]),
    after=st.one_of(events_of([CHANGED]), events_of([FRESH])),
    people=st.integers(1, 8),
    measure=st.sampled_from(MEASURES),
    shuffle=st.randoms(use_true_random=False),
)
@settings(max_examples=250, deadline=None)
def test_neighbouring_event_tables_differ_in_one_row(
    others: list[Event], before: list[Event], after: list[Event], people: int, measure: str, shuffle: Any
) -> None:
    tables = [[*others, *before], [*others, *after]]
    for table in tables:
        shuffle.shuffle(table)
    one, other = (event_rows(frame_of(table), items=ITEMS, people=people, measure=measure) for table in tables)
    assert distance(one, other) <= 1


def test_an_id_of_any_place_in_the_public_order_moves_one_row() -> None:
    """20 ids, 10 of them kept, each replaced by each of 20 fresh ones: all cases of the proof occur."""
    ids = [f"p{place}" for place in range(20)]
    others = {name: [(name, item, 1.0) for item in "abc"[: 1 + place % 3]] for place, name in enumerate(ids)}
    whole = event_rows(
        frame_of([event for events in others.values() for event in events]), items=["a", "b", "c"], people=10
    )
    moved: Counter[int] = Counter()
    for gone in ids:
        rest = [event for name in ids if name != gone for event in others[name]]
        for fresh in [[(f"fresh{place}", "a", 1.0), (f"fresh{place}", "c", 1.0)] for place in range(20)] + [[]]:
            changed = event_rows(frame_of([*rest, *fresh]), items=["a", "b", "c"], people=10)
            moved[distance(whole, changed)] += 1
    assert set(moved) == {0, 1}


@pytest.mark.parametrize("cell", ['"1"', "1,2"])
def test_how_one_event_is_written_does_not_change_how_the_last_line_is_read(tmp_path: Path, cell: str) -> None:
    """The last line ends in \\r alone, and its cell is "a" whether or not somebody else has a quote."""
    tables = {name: tmp_path / f"{name}.csv" for name in ("one", "other")}
    tables["one"].write_bytes(b"user,page\n1,zzz\n2,b\n3,a\r")
    tables["other"].write_bytes(b"user,page\n" + cell.encode() + b",a\n2,b\n3,a\r")
    one, other = (event_rows(table, items=["a", "b"], people=10) for table in tables.values())
    assert distance(one, other) <= 1


@pytest.mark.parametrize("measure", MEASURES)
def test_one_person_with_a_million_events_is_one_row(measure: str) -> None:
    others: list[Event] = [(place, "a", 2.0) for place in range(50)]
    few = frame_of([*others, ("x", "b", 1.0)])
    many = frame_of([*others]).iloc[np.r_[:50, np.zeros(10**6, dtype=int)]].reset_index(drop=True)
    many.loc[50:, "user"] = "x"
    many.loc[50:, "page"] = np.array(["a", "b", "unknown", "c"], dtype=object)[np.arange(10**6) % 4]
    many.loc[50:, "time"] = 1e300
    one, other = (event_rows(table, items=["a", "b", "c"], people=50, measure=measure) for table in (few, many))
    assert distance(one, other) <= 1


@given(
    events=st.one_of(events_of([*OTHERS, "x"], 30), events_of(["x"], 30)),  # many people, or many events of one
    people=st.integers(1, 8),
    measure=st.sampled_from(MEASURES),
    shuffle=st.randoms(use_true_random=False),
)
@settings(max_examples=150, deadline=None)
def test_the_order_of_events_does_not_matter(events: list[Event], people: int, measure: str, shuffle: Any) -> None:
    shuffled = list(events)
    shuffle.shuffle(shuffled)
    one, other = (
        event_rows(frame_of(table), items=ITEMS, people=people, measure=measure) for table in (events, shuffled)
    )
    assert one == other


@given(
    events=events_of([*OTHERS, "x", "é", "e\u0301"], 30), people=st.integers(1, 8), measure=st.sampled_from(MEASURES)
)
@settings(max_examples=150, deadline=None)
def test_rows_are_what_the_slow_way_finds(events: list[Event], people: int, measure: str) -> None:
    arguments: dict[str, Any] = {"items": ITEMS, "people": people, "measure": measure}
    assert event_rows(frame_of(events), **arguments) == slow_rows(events, **arguments)
