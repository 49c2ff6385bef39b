"""The lines on events of docs/bad-input.md: what is fine, and what is refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet

import plandp

ITEMS = ["home", "search"]
PUBLIC: dict[str, Any] = {"person": "user", "item": "page", "items": ITEMS, "people": 100, "rho": 1}
NAN, INF = float("nan"), float("inf")
CANARY = "canary48.15"

Event = tuple[object, object, object]
VISITS: list[Event] = [
    (f"u{person}", page, 1.0 + person % 5) for person in range(60) for page in ITEMS[: 1 + person % 2] for _ in range(2)
]

ACCEPTED_EVENTS: dict[str, Callable[[], None]] = {}
REFUSED_EVENTS: dict[str, Callable[[], Iterator[tuple[Callable[[], object], None]]]] = {}


def frame(events: list[Event]) -> pandas.DataFrame:
    user, page, seconds = zip(*events, strict=True) if events else ((), (), ())
    return pandas.DataFrame(
        {
            "user": pandas.Series(list(user), dtype=object),
            "page": pandas.Series(list(page), dtype=object),
            "seconds": pandas.Series(list(seconds), dtype=float),
        }
    )


def release(table: object, **arguments: Any) -> plandp.MeanRelease:
    return plandp.mean_of_events(table, **(PUBLIC | {"testing_seed": 3} | arguments))


def same(strange: object, plain: object, **arguments: Any) -> None:
    """Both give the same release, bit for bit, whatever is measured."""
    for measure in ({}, {"measure": "count", "bounds": (0, 20)}, {"measure": "seconds", "bounds": (0, 20)}):
        one, other = release(strange, **measure, **arguments), release(plain, **measure, **arguments)
        assert np.all(np.isfinite(one.estimate))
        assert one == other


def fine(case: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(check: Callable[[], None]) -> Callable[[], None]:
        ACCEPTED_EVENTS[case] = check
        return check

    return keep


def refused(case: str, *calls: Callable[[], object]) -> None:
    REFUSED_EVENTS[case] = lambda: iter([(call, None) for call in calls])


def wrong(case: str, *variants: dict[str, Any]) -> None:
    """The table is right, in every container, and these arguments are not."""
    tables = [frame(VISITS), polars.from_pandas(frame(VISITS)), pyarrow.Table.from_pandas(frame(VISITS))]
    refused(
        case, *((lambda table=table, given=given: release(table, **given)) for table in tables for given in variants)
    )


# -- what is fine


@fine("null persons")
def _() -> None:
    nobody: list[Event] = [(null, "home", 7.0) for null in (None, NAN, pandas.NA, "")]
    same(frame([*nobody, *VISITS, *nobody]), frame(VISITS))


@fine("null items")
def _() -> None:
    same(frame([*VISITS, *(("u1", null, 7.0) for null in (None, NAN, pandas.NA, ""))]), frame(VISITS))
    # the person counts: of more people than are asked for, those without a known item can be kept too
    nothing: list[Event] = [(f"v{person}", None, 1.0) for person in range(60)]
    assert release(frame([*VISITS, *nothing]), people=60) != release(frame(VISITS), people=60)


@fine("an empty event table")
def _() -> None:
    empty = frame([])
    for table in (polars.from_pandas(empty), pyarrow.Table.from_pandas(empty), empty.astype({"user": "Int64"})):
        same(table, empty)
    assert abs(release(empty).estimate).max() < 0.5


@fine("one person owning all events")
def _() -> None:
    same(frame([("u1", page, seconds) for _, page, seconds in VISITS]), frame([("x", *rest) for _, *rest in VISITS]))
    assert abs(release(frame([("u1", page, 1.0) for page in ITEMS * 1000])).estimate).max() < 0.5


@fine("fewer people than `people`")
def _() -> None:
    found = release(frame(VISITS), people=60_000, rho=100)
    np.testing.assert_allclose(found.estimate, [60 / 60_000, 30 / 60_000], atol=2e-3)
    assert found.receipt.n == 60_000


@fine("more people than `people`")
def _() -> None:
    backwards = VISITS[::-1] + [event for event in VISITS if event[0] == "u7"] * 9
    assert release(frame(VISITS), people=20) == release(frame(backwards), people=20)
    assert release(frame(VISITS), people=20).receipt.n == 20


@fine("items that are not listed")
def _() -> None:
    same(frame([*VISITS, *(("u1", item, 7.0) for item in ("Home", "home ", "strange", 7))]), frame(VISITS))


@fine("unicode items")
def _() -> None:
    events = frame([("x", "é", 1.0), ("y", "e\u0301", 1.0), ("z", "日本", 1.0)])
    items = ["é", "e\u0301", "日本"]
    found = release(events, items=items, people=3, rho=10**4)
    assert found.labels == tuple(items)
    np.testing.assert_allclose(found.estimate, 1 / 3, atol=0.1)


@fine("an item repeated thousands of times")
def _() -> None:
    again: list[Event] = [("u0", "home", 1.0)] * 5000
    assert release(frame([*VISITS, *again])) == release(frame(VISITS))
    bounded = [event for event in VISITS if event[:2] != ("u0", "home")] + [("u0", "home", 1.0)] * 20
    for measure in ("count", "seconds"):
        arguments = {"measure": measure, "bounds": (0, 20)}
        assert release(frame([*VISITS, *again]), **arguments) == release(frame(bounded), **arguments)


@fine("negative, NaN and infinite values")
def _() -> None:
    arguments = {"measure": "seconds", "bounds": (0, 20)}
    for values, same_values in (
        ([NAN, None], []),
        ([-5.0], []),
        ([3.0, -3.0], []),
        ([INF], [20.0]),
        ([INF, -INF], []),
        ([1e300, -1e300, 4.0], [4.0]),
        ([NAN, 4.0], [4.0]),
    ):
        events, plain = (frame([*VISITS, *(("x", "home", value) for value in of)]) for of in (values, same_values))
        assert release(events, **arguments) == release(plain, **arguments)


@fine("ids as integers and as text")
def _() -> None:
    numbers: list[Event] = [(int(str(user)[1:]), 7 if page == "home" else 8, seconds) for user, page, seconds in VISITS]
    texts: list[Event] = [(str(user), str(page), seconds) for user, page, seconds in numbers]
    mixed = [one if place % 2 else other for place, (one, other) in enumerate(zip(numbers, texts, strict=True))]
    for events in (texts, mixed):
        same(frame(events), frame(numbers), items=[7, "8"], people=30)
    other = [(f"0{user}", page, seconds) for user, page, seconds in texts]
    assert release(frame(other), items=["07", 8]) != release(frame(texts), items=["7", 8])


@fine("integer ids with a null")
def _() -> None:
    users = [2**60 + place for place in range(10)]
    table = pyarrow.table({"user": [None, *users], "page": ["home"] * 11, "seconds": [1.0] * 11})
    text = frame([(str(user), "home", 1.0) for user in users])
    same(table, text)
    same(polars.from_arrow(table), text)
    same(table.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get), text)


@fine("a pandas column of objects with other cells")
def _() -> None:
    strange = [1.0, True, b"u1", ["u1"], 10**5000, pandas.Timestamp(0), object()]
    same(frame([*((cell, "home", 1.0) for cell in strange), *VISITS]), frame(VISITS))
    same(frame([*(("u1", cell, 1.0) for cell in strange), *VISITS]), frame(VISITS))


@fine("events of the wrong length in a CSV file")
def _() -> None:
    lines = [f"{user},{page},{seconds}" for user, page, seconds in VISITS]
    Path("visits.csv").write_text("\n".join(["user,page,seconds", *lines, "u1,home", "u1,home,1,1", "", "u1"]))
    same("visits.csv", frame(VISITS))


# -- what is refused

wrong("an event column that is not there", {"person": "usr"})


def _in_text() -> Iterator[tuple[Callable[[], object], None]]:
    for name, mark in (("visits.csv", ","), ("visits.tsv", "\t")):
        Path(name).write_text(f"{CANARY}a{mark}{CANARY}b\nu1{mark}home\n")
        yield (lambda name=name: release(name, person="usr", item="pge")), None


REFUSED_EVENTS["no event column is there, in a CSV or TSV file"] = _in_text
wrong("one column for both", {"item": "user"})
refused(
    "ids that are floats",
    lambda: release(pandas.DataFrame({"user": [48.15, None], "page": ["home", CANARY]})),
)
refused(
    "ids of other types",
    lambda: release(pandas.DataFrame({"user": [True, False], "page": ["home", CANARY]})),
    lambda: release(pyarrow.table({"user": [True, None], "page": ["home", CANARY]})),
)
refused(
    "a measure that is text",
    lambda: release(frame(VISITS).astype({"seconds": object}), measure="seconds", bounds=(0, 1)),
)
wrong("no items", {"items": []})
wrong("items that are not a list", {"items": "home"}, {"items": None})
wrong("items in a set", {"items": {"home", "search"}}, {"items": frozenset(ITEMS)})
wrong("an item list with duplicates", *({"items": items} for items in (["home", "home"], [7, "7"], [CANARY, CANARY])))
wrong("an item that is no id", {"items": [1.5]}, {"items": [-48.15]})
wrong("people that are no number of people", {"people": 9000.5})
wrong("one person's presence beyond 1", {"bounds": (0, 5)})
wrong("counts that begin elsewhere than at 0", {"measure": "count", "bounds": (1, 5)})
wrong("bounds that are one number or text", {"measure": "count", "bounds": 50}, {"measure": "seconds", "bounds": 50})
wrong("a count without bounds", {"measure": "count"}, {"measure": "seconds"})
refused("a pattern of event files", lambda: release("visits/*.csv"))
refused("a table of something else", lambda: release([("u1", CANARY)]))


def _damaged() -> Iterator[tuple[Callable[[], object], None]]:
    pyarrow.parquet.write_table(pyarrow.table({"user": [CANARY], "page": [CANARY]}), "visits.parquet")
    whole = Path("visits.parquet").read_bytes()
    for content in (whole[: len(whole) * 2 // 3], b"user,page\n" + CANARY.encode()):
        Path("visits.parquet").write_bytes(content)
        yield (lambda: release("visits.parquet")), None


REFUSED_EVENTS["an event file that is damaged"] = _damaged
