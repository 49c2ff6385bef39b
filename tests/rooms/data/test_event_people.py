"""Whose events count where there are more people than the public number: a public order of ids decides."""

from typing import Any

import numpy as np
import pandas
import pytest
from event_tables import EVENTS, ITEMS, as_frame, event_rows, frame_of

from plandp.data.event_ids import first_people, public_hash
from plandp.data.events import open_events
from plandp.data.person_rows import ROWS_PER_BLOCK

pytestmark = pytest.mark.usefixtures("own_folder")


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
