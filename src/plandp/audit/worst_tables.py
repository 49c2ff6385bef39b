"""Tables that differ in one row, chosen to be as far apart as rows can be: what the audit feeds to the front doors."""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plandp
from plandp.audit.plan import AuditPlan

FloatArray = NDArray[np.float64]
Entries = list[tuple[int, float]]  # (column, value) as stored in a sparse matrix, perhaps more than once

NAN, INF = float("nan"), float("inf")
SAMPLED = 9_000  # rows: so many that only a sample of them is read for centres and spreads


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stage:
    """A front door with its public arguments, and tables of which each is a neighbour of every other."""

    name: str
    release: Callable[[Any], plandp.MeanRelease]
    tables: tuple[Any, ...]
    rows: tuple[str, ...]  # what stands in the row in which they differ
    alone: tuple[Any, ...] = ()  # tables whose rows are all alike, and ...
    together: Any = None  # ... the table that holds each of their rows equally often


def stages(plan: AuditPlan) -> tuple[Stage, ...]:
    """All front doors that are attacked."""
    real = [stage for method in plan.methods for stage in _of_method(method, plan.rho)]
    return (
        *real,
        *(_sparse_stages(plan.rho) if plan.sparse else ()),
        *(stage for method in plan.taking_items for stage in _item_stages(method, plan.rho)),
        *(_event_stages(plan.rho) if plan.sparse else ()),
    )


# --- tables of real numbers


def _of_method(method: str, rho: Fraction) -> list[Stage]:
    wide = 2.0**599
    small = [
        _real(method, rho, n=1, d=1, high=1.0),
        _real(method, rho, n=12, d=3, high=50.0, smallest_spread=0.5),
        _real(method, rho, n=5, d=2, high=wide, error_scale="bounds", missing=1.0),
    ]
    if method == "gaussian":
        return small
    # so many rows that centres and spreads are looked for
    enough = 4 * min(max(75, math.ceil(75 / math.sqrt(rho))), 7_500)
    return [
        *small,
        _real(method, rho, n=enough, d=3, high=50.0, smallest_spread=0.5),
        _real(method, rho, n=enough, d=1, high=50.0, smallest_spread=0.5, error_norm=1),
        _real(method, rho, n=enough, d=2, high=50.0, spread=[1.0, 3.0], smallest_spread=0.5, missing=0.0),
        _real(method, rho, n=SAMPLED, d=2, high=8.0, smallest_spread=0.5),
    ]


def extreme_rows(d: int, high: float) -> dict[str, FloatArray]:
    """Rows as far apart as the bounds allow, and others that could trip code up; the most telling ones first."""
    signs = np.where(np.arange(d) % 2, -1.0, 1.0)
    return {
        "low corner": np.full(d, -high),
        "high corner": np.full(d, high),
        "NaN": np.full(d, NAN),
        "middle": np.zeros(d),
        "mixed corner": signs * high,
        "infinite": np.full(d, INF),
        "minus infinite": np.full(d, -INF),
        "NaN and infinite": np.where(np.arange(d) % 2, NAN, -INF),
        "1.7e308": np.full(d, 1.7e308) * signs,
        "5e-324": np.full(d, 5e-324),
        "one large value": np.eye(1, d)[0] * high,
        "another large value": np.eye(1, d, d - 1)[0] * high,
        "a hair within": np.full(d, np.nextafter(high, 0.0)),
    }


def lone_rows(d: int, high: float) -> list[FloatArray]:
    """Rows of different sizes that fall between the points of any lattice, and one without values."""
    roots = np.sqrt(np.array([2.0, 3, 5, 7, 11])[:d])
    signs = np.where(np.arange(d) % 2, 1.0, -1.0)
    return [high * roots / 4.0, -1e-3 * high / roots, signs * min(high, 1.0) * roots / 7.0, np.full(d, NAN)]


def _real(method: str, rho: Fraction, *, n: int, d: int, high: float, **arguments: Any) -> Stage:
    rows = extreme_rows(d, high)
    # ordinary company, the same for all: a sequence without chance that fills [-1, 1] evenly
    others = np.modf(np.outer(np.arange(1, n + 1), np.sqrt(np.array([2.0, 3, 5, 7, 11])[:d])))[0] * 2.0 - 1.0
    place = n // 2
    tables = []
    for row in rows.values():
        table = others.copy()
        table[place] = row
        tables.append(table)
    lone = lone_rows(d, high)
    even = n % len(lone) == 0 and n < SAMPLED
    return Stage(
        name=f"mean, {method}, n = {n}, d = {d}"
        + "".join(f", {name}" for name in arguments if name != "smallest_spread"),
        release=lambda table: plandp.mean(table, bounds=(-high, high), rho=rho, method=method, **arguments),
        tables=tuple(tables),
        rows=tuple(rows),
        alone=tuple(np.tile(row, (n, 1)) for row in lone) if even else (),
        together=np.tile(np.array(lone), (n // len(lone), 1)) if even else None,
    )


# --- sparse rows


def sparse_rows(d: int) -> dict[str, Entries]:
    """Rows of items, from none to all of them, stored in odd ways."""
    everything = range(d)
    return {
        "nothing": [],
        "everything": [(item, 1.0) for item in everything],
        "one item": [(0, 1.0)],
        "NaN": [(item, NAN) for item in everything],
        "a rare item": [(d - 1, 1.0)],
        "huge": [(item, 1e308) for item in everything],
        "rare items": [(item, 1.0) for item in range(d // 2, d)],
        "infinite": [(item, INF) for item in range(min(2, d))],
        "one huge item": [(0, 1e308)],
        "another huge item": [(d - 1, 1e308)],
        "tiny": [(item, 5e-324) for item in everything],
        "negative": [(item, -3.0) for item in everything],
        "one item, stored without end": [(0, 1.0)] * 500,
        "everything twice, backwards": [(item, 1e300) for item in everything][::-1] * 2,
    }


def _sparse_stages(rho: Fraction) -> list[Stage]:
    shapes: list[dict[str, Any]] = [
        {"n": 12, "d": 12, "error_norm": 1},
        {"n": 40, "d": 60, "error_norm": 2, "refine": ()},
        {"n": 1, "d": 1, "error_norm": 3.5},
    ]
    return [_sparse(kind, rho, **shape) for kind in ("binary", "nonnegative") for shape in shapes]


def _item_stages(method: str, rho: Fraction) -> list[Stage]:
    shapes: list[dict[str, Any]] = [{"n": 12, "d": 12, "error_norm": 1}, {"n": 1, "d": 1, "error_norm": 3.5}]
    return [_sparse("binary", rho, method=method, **shape) for shape in shapes]


def _sparse(kind: str, rho: Fraction, *, n: int, d: int, **arguments: Any) -> Stage:
    rows = sparse_rows(d)
    others: list[Entries] = [
        [(item, float(1 + (row * item) % 7)) for item in range(d) if (row * 7 + item * item) % (2 + item) == 0]
        for row in range(n)
    ]
    place = n // 2
    lone: list[Entries] = [
        [],
        [(item, 1.0 / 3.0 + item) for item in range(d)],
        [(0, 1e-3)],
        [(d - 1, 7.7), (1 % d, NAN)],
    ]
    even = n % len(lone) == 0
    bounds = None if kind == "binary" else (0, 20)
    return Stage(
        name=", ".join(
            [
                f"mean, {kind}, n = {n}, d = {d}",
                *(value if name == "method" else name for name, value in arguments.items()),
            ]
        ),
        release=lambda table: plandp.mean(table, bounds=bounds, rho=rho, kind=kind, **arguments),
        tables=tuple(_matrix([*others[:place], row, *others[place + 1 :]], d) for row in rows.values()),
        rows=tuple(rows),
        alone=tuple(_matrix([row] * n, d) for row in lone) if even else (),
        together=_matrix(lone * (n // len(lone)), d) if even else None,
    )


def _matrix(rows: Sequence[Entries], d: int) -> Any:
    """A compressed matrix that holds these entries unchecked, in this order."""
    from scipy.sparse import csr_array

    matrix = csr_array((len(rows), d))
    matrix.indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    matrix.indices = np.array([item for row in rows for item, _ in row], dtype=np.int32)
    matrix.data = np.array([value for row in rows for _, value in row], dtype=np.float64)
    return matrix


# --- events

ITEMS = [f"i{place}" for place in range(20)]
PEOPLE = 30


def _event_stages(rho: Fraction) -> list[Stage]:
    few, many = [(measure, 25) for measure in ("presence", "count", "time")], [("presence", 60)]
    return [_events(measure, ids, rho) for measure, ids in few + many]


def _events(measure: str, ids: int, rho: Fraction) -> Stage:
    """Events of `ids` people, more or fewer than count, and of one whose events are replaced."""
    others = [
        f"p{person},{ITEMS[(person * place) % len(ITEMS)]},{1 + place}"
        for person in range(ids)
        for place in range(person % 5)
    ]

    def of_one(user: str, items: Sequence[str], time: str = "1") -> list[str]:
        return [f"{user},{item},{time}" for item in items]

    changes = {
        "no events": [],
        "one item": of_one("x", ITEMS[:1]),
        "all items without end": of_one("x", ITEMS * 100, "1e300"),
        "NaN": of_one("x", ITEMS, "nan"),
        "another id": of_one("y", ITEMS[5:15]),
        "a rare item": of_one("x", ITEMS[-1:]),
        "all items": of_one("x", ITEMS),
        "infinite": of_one("x", ITEMS[:3], "inf"),
        "tiny": of_one("x", ITEMS, "5e-324"),
        "no numbers": of_one("x", ITEMS, '"1,000,000"'),
        "unknown items": of_one("x", ["unknown", ""] * 5),
        "yet another id": of_one("zz", ITEMS[5:15], "20"),
    }
    tables = ["\n".join(["user,page,time", *others, *events, ""]).encode() for events in changes.values()]

    def release(content: bytes) -> plandp.MeanRelease:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "events.csv"
            file.write_bytes(content)
            return plandp.mean_of_events(
                file,
                person="user",
                item="page",
                items=ITEMS,
                people=PEOPLE,
                measure=measure,
                bounds=None if measure == "presence" else (0, 20),
                rho=rho,
            )

    return Stage(
        name=f"mean_of_events, {measure}, {ids} ids and {PEOPLE} people",
        release=release,
        tables=tuple(tables),
        rows=tuple(changes),
    )
