"""The slow, obvious way from events to rows, and rows as a multiset that can be compared."""

from collections import Counter, defaultdict
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas

from plandp.data.events import open_events
from plandp.data.sparse_rows import SparseBlock, SparseRows

Event = tuple[object, object, float]
Row = frozenset[tuple[int, float]]


def text_of(value: object) -> str | None:
    """The id that a cell holds."""
    if isinstance(value, str):
        return value or None
    return str(int(value)) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None


def slow_rows(events: list[Event], *, items: list[Any], people: int, measure: str) -> Counter[Row]:
    """The rows of everybody, by the rules as they are written in the documents."""
    of_person: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        person = text_of(event[0])
        if person is not None:
            of_person[person].append(event)
    digest = {
        person: blake2b(person.encode(), digest_size=16, person=b"plandp person").digest() for person in of_person
    }
    kept = sorted(of_person, key=lambda person: (digest[person], person.encode()))[:people]
    rows = [_row(of_person[person], [text_of(item) for item in items], measure) for person in kept]
    return Counter(rows + [frozenset()] * (people - len(kept)))


def _row(events: list[Event], items: list[str | None], measure: str) -> Row:
    held: dict[int, list[float]] = defaultdict(list)
    for _, item, value in events:
        if text_of(item) in items:
            held[items.index(text_of(item))].append(value)
    if measure == "presence":
        return frozenset((item, 1.0) for item in held)
    if measure == "count":
        return frozenset((item, float(len(values))) for item, values in held.items())
    sums = {item: _sum(values) for item, values in held.items()}
    return frozenset((item, total) for item, total in sums.items() if total > 0)


def _sum(values: list[float]) -> float:
    limit = 2.0**100
    return float(sum(Fraction(min(max(value, -limit), limit)) for value in values if value == value))


class Rows:
    """A block function that keeps the rows themselves."""

    def __init__(self) -> None:
        self.rows: Counter[Row] = Counter()

    def __call__(self, block: SparseBlock) -> tuple[Any, ...]:
        values = np.ones(len(block.items)) if block.values is None else block.values
        for start, end in zip(block.begin[:-1].tolist(), block.begin[1:].tolist(), strict=True):
            items = block.items[start:end].tolist()
            assert len(items) == len(set(items))
            self.rows[frozenset(zip(items, map(float, values[start:end]), strict=True))] += 1
        return (np.array([len(block.begin) - 1]),)


def rows_of(source: SparseRows) -> Counter[Row]:
    """All rows of a source; their number is what it says."""
    seen = Rows()
    (n,) = source.fold(seen)
    assert n[0] == source.n == seen.rows.total()
    return seen.rows


def frame_of(events: list[Event]) -> pandas.DataFrame:
    """A pandas frame of objects, which can hold any cell."""
    persons, found, values = zip(*events, strict=True) if events else ((), (), ())
    return pandas.DataFrame(
        {
            "user": pandas.Series(list(persons), dtype=object),
            "page": pandas.Series(list(found), dtype=object),
            "time": pandas.Series(list(values), dtype=float),
        }
    )


def event_rows(table: object, *, items: list[Any], people: int, measure: str = "presence") -> Counter[Row]:
    """The rows that plandp makes of a table of events."""
    return rows_of(open_events(table, person="user", item="page", items=items, people=people, measure=measure))
