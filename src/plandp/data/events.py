"""The way in for events: from a table with one row per event to sparse rows, one row per person."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from operator import index

import numpy as np

from plandp.data.arrow_events import arrow_events
from plandp.data.compressed_rows import CompressedRows
from plandp.data.event_file import open_event_file
from plandp.data.event_ids import canonical_id
from plandp.data.event_table import Accept, EventColumns, EventTable
from plandp.data.id_column import places_of
from plandp.data.labels import BeforeValues, nothing_before
from plandp.data.pandas_events import pandas_events
from plandp.data.paths import refuse_open_file
from plandp.data.person_rows import group_events, keep_people
from plandp.data.polars_events import polars_events
from plandp.data.spark_events import SparkEvents, spark_events
from plandp.data.sparse_rows import SparseRows
from plandp.errors import ArgumentError
from plandp.terms.columns import Label, fits_label
from plandp.terms.counts import whole_number
from plandp.terms.text_table import with_article

MOST_PEOPLE = 10**10

_OPENERS: dict[str, Callable[[object], EventTable | SparkEvents | None]] = {
    "pandas": pandas_events,
    "polars": polars_events,
    "pyarrow": arrow_events,
    "pyspark": spark_events,
}


@np.errstate(all="ignore")
def open_events(
    table: object,
    *,
    person: Label,
    item: Label,
    items: Sequence[Label],
    people: int,
    measure: Label,
    before_values: BeforeValues = nothing_before,
    progress: bool = False,
) -> SparseRows:
    """Return a table of events as `people` sparse rows, one per person, with one column for each of `items`.

    Guarantee: if the events of one person are replaced by any others, of the same or of one fresh person, at most one
    of the rows changes (docs/proofs/event_rows.md).  No cell can raise or warn, and the table is never changed.

    An id is an integer or text, and its text is what counts: 7 is "7", and "007" is not (see `canonical_id`).  Events
    without a person or item, and of items that are not listed, add nothing.  People without events are empty rows.  If
    more than `people` have events, those that come first in a public order of ids are kept.

    `measure` says what a person's row holds of an item: "presence" one; "count" the number of events; the name of a
    numeric column its exact sum over those events, rounded once to float64 whatever their order.  In such a sum NaN
    and null add nothing, each value is clipped to ±2**100, and items whose sum is not above zero are left out.

    `before_values` is called once, with the items, when all that is public was accepted and before a cell is read.
    """
    labels, places = _read_items(items)
    n = _read_people(people)
    by_events = isinstance(measure, str) and measure in ("presence", "count")
    names = {"person": person, "item": item} | ({} if by_events else {"measure": measure})
    _check_distinct(names)

    def accept(events: EventColumns) -> None:
        _refuse_columns(events, names)
        before_values(labels)

    events = _open(table, names, accept, progress)
    if isinstance(events, SparkEvents):
        return events.rows(
            person=person,
            item=item,
            measure=None if by_events else measure,
            places=places,
            labels=labels,
            n=n,
            count=measure == "count",
        )
    persons = keep_people(events.ids(person), n)
    found = places_of(events.ids(item), places)
    values = events.values(measure) if "measure" in names else None
    rows = group_events(persons, found, values, n=n, d=len(labels), count=measure == "count")
    return CompressedRows(n=n, labels=labels, blocks=rows.blocks, in_memory=True)


def _read_items(items: object) -> tuple[tuple[Label, ...], dict[bytes, int]]:
    """Return the items as labels, and the place of each by its canonical id."""
    if isinstance(items, Set):
        raise ArgumentError("items", "a set has no order, and the estimates have: pass a list, such as sorted(items)")
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable) or getattr(items, "ndim", 1) == 0:
        raise ArgumentError("items", "pass a list of all items that can count, such as items=['home', 'search']")
    labels: list[Label] = []
    places: dict[bytes, int] = {}
    for entry in items:
        text = canonical_id(entry)
        if text is None:
            raise ArgumentError(
                "items",
                f"must be texts that are not empty, or integers of up to 128 bits; item number {len(labels) + 1} is "
                f"neither, but of type {type(entry).__name__}",
            )
        if text in places:
            # The item itself is not shown: the list may be the column of the events, passed by mistake.
            raise ArgumentError(
                "items",
                f"item number {len(labels) + 1} is number {places[text] + 1} again; name each item once (7 and '7' are "
                "the same item), from public knowledge: never pass the column of the events",
            )
        places[text] = len(labels)
        labels.append(text.decode("utf-8", "surrogatepass") if isinstance(entry, str) else index(entry))
    if not labels:
        raise ArgumentError("items", "no item is named; name all that can count, from public knowledge")
    return tuple(labels), places


def _read_people(people: object) -> int:
    count = whole_number(people, most=MOST_PEOPLE)
    if count is not None:
        return count
    # Of other objects the type alone: a table that was passed by mistake must not be shown.
    kind = type(people).__name__
    # Python writes no integers of thousands of digits
    shown = isinstance(people, float | np.number) or (isinstance(people, int) and abs(people) < 10**30)
    given = f"{people!r} ({kind})" if shown else with_article(kind)
    raise ArgumentError(
        "people",
        f"must be the public number of people, a whole number from 1 to 1e10, not {given}; it is "
        "never counted from the table",
    )


def _check_distinct(names: dict[str, Label]) -> None:
    first: dict[Label, str] = {}
    for argument, label in names.items():
        if (
            isinstance(label, bool)
            or not isinstance(label, str | int)
            or (type(label) is int and not fits_label(label))
        ):
            raise ArgumentError(argument, "must be the name of a column")
        if label in first:
            raise ArgumentError(argument, f"{label!r} is the column of the {first[label]} already; name another")
        first[label] = argument


def _open(table: object, names: dict[str, Label], accept: Accept, progress: bool) -> EventTable | SparkEvents:
    if isinstance(table, str | os.PathLike):
        ids, values = [names["person"], names["item"]], [names[name] for name in names if name == "measure"]
        try:
            return open_event_file(table, ids=ids, values=values, accept=accept, progress=progress)
        except ArgumentError as error:
            if error.argument != "data":
                raise
            problem = error.problem
        raise ArgumentError("table", problem)
    # Subclasses count too, and no package is imported that the table did not come from.
    modules = {base.__module__.split(".")[0] for base in type(table).__mro__}
    for package, opener in _OPENERS.items():
        events = opener(table) if package in modules else None
        if events is not None:
            accept(events)
            return events
    refuse_open_file(table, argument="table")
    name = f"{type(table).__name__} of Dask" if "dask" in modules else type(table).__name__
    raise ArgumentError(
        "table",
        f"{with_article(name)} is not accepted; pass a pandas, polars or Spark DataFrame (collect a LazyFrame, compute "
        "one of Dask first), a pyarrow Table or RecordBatch, or the path of a file, with one row per event",
    )


def _refuse_columns(events: EventColumns, names: dict[str, Label]) -> None:
    """Refuse a table by its labels and types."""
    for argument, label in names.items():
        found = events.labels.count(label)
        if found == 0:
            raise ArgumentError(argument, f"the table has no column {label!r}; {events.offer(names.values())}")
        if found > 1:
            raise ArgumentError(argument, f"the column {label!r} occurs more than once; rename one of them")
    for argument, label in names.items():
        if argument == "measure":
            events.refuse_values(label)
        else:
            events.refuse_ids(label, argument)
