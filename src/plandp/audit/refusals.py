"""Errors: public arguments are refused before a row is read, in the same words for all; values are never refused."""

import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import plandp
from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan
from plandp.audit.watching import kind_and_place

READERS = frozenset(  # in plandp.data: of rows, of what a matrix stores, and of events
    {
        *("read", "fold", "blocks", "sample", "list_array", "cell_blocks", "decimal_numbers"),
        *("stored_rows", "distinct_items"),
        *("ids", "values", "keep_people", "group_events"),
    }
)
WORKERS = ("plandp.mechanisms", "plandp.kernels", "plandp.steps")
REPEATS = 5

Release = Callable[..., plandp.MeanRelease]


@dataclass(kw_only=True)
class Reads:
    """How many functions that read or work on rows were called."""

    calls: int = 0
    names: set[str] = field(default_factory=set)


@contextmanager
def counted_reads() -> Iterator[Reads]:
    """Count, by the interpreter's own hook for profilers, so that nothing of the library is changed."""
    reads = Reads()

    def on_call(frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if (module.startswith("plandp.data") and name in READERS) or module.startswith(WORKERS):
            reads.calls += 1
            reads.names.add(f"{module}.{name}")

    before = sys.getprofile()
    sys.setprofile(on_call)
    try:
        yield reads
    finally:
        sys.setprofile(before)


@dataclass(frozen=True, kw_only=True)
class Refusals:
    """Do errors depend on public arguments alone?"""

    name: str = "errors"

    def run(self, plan: AuditPlan) -> Finding:
        """Refuse wrong arguments on neighbouring tables, and release tables of awkward values."""
        clock = Clock(seconds=plan.seconds)
        problems: dict[str, None] = {}
        apart, refused, released = [], 0, 0
        for number in clock.rounds():
            for front, release, tables, wrong in _wrong_arguments(plan):
                for name, arguments in wrong:
                    found, times = _refused(f"{front}, wrong {name}", release, tables, arguments)
                    problems.update(dict.fromkeys(found))
                    apart.append(times)
                    refused += 1
            if number == 0:
                for front, made in _awkward(plan):
                    problems.update(dict.fromkeys(_accepted(front, made)))
                    released += 1
            if clock.left < 0 or number >= 3:
                break
        seconds = [statistics.median(times[place] for times in apart) * 1e6 for place in (0, 1)]
        return Finding(
            name=self.name,
            claim="wrong arguments are refused before a row is read, whatever the rows; no value raises or warns",
            found=f"BROKEN: {len(problems)} ways in which values or reading show"
            if problems
            else f"{refused} refusals without a read, {released} awkward tables released",
            broken=bool(problems),
            detail="\n".join(list(problems)[:8])
            if problems
            else f"median time of a refusal on neighbouring tables: {seconds[0]:.0f} and {seconds[1]:.0f} microseconds "
            "(shown, not judged: times are not promised)",
            false_alarm=0.0,
            runs=(2 * (REPEATS + 1) + 1) * refused + released,
        )


def _refused(
    name: str, release: Release, tables: tuple[Any, Any], arguments: dict[str, Any]
) -> tuple[list[str], tuple[float, float]]:
    """What is wrong with how these arguments are refused on two tables, and how long that took on each."""
    found: list[str] = []
    texts: list[str] = []
    _error_text(release, tables[0], arguments)  # not counted: what it imports, by its arguments alone, is no read
    for table in tables:
        with counted_reads() as reads:
            texts.append(_error_text(release, table, arguments))
        if reads.calls:
            found.append(f"{name}: rows were read first ({sorted(reads.names)[0]})")
    if texts[0] != texts[1]:
        found.append(f"{name}: refused in other words on a neighbouring table")
    if not all(text.startswith("ArgumentError") for text in texts):
        found.append(f"{name}: was not refused")
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        for place, table in enumerate(tables):
            began = time.perf_counter()
            _error_text(release, table, arguments)
            times[place].append(time.perf_counter() - began)
    return found, (statistics.median(times[0]), statistics.median(times[1]))


def _error_text(release: Release, table: Any, arguments: dict[str, Any]) -> str:
    try:
        release(table, **arguments)
    except Exception as error:  # its text is what is compared
        return f"{type(error).__name__}: {error}"
    return "released"


def _accepted(front: str, made: Callable[[], plandp.MeanRelease]) -> list[str]:
    """What values did that they must not: raise, warn, or leave no finite estimate."""
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="raise"):
        warnings.simplefilter("always")
        try:
            release = made()
        except Exception as error:  # no value may raise, whatever it is
            return [f"{front}: values raised {kind_and_place(error)}"]
    if heard:
        return [f"{front}: values led to a warning ({heard[0].category.__name__})"]
    if not np.isfinite(release.estimate).all():
        return [f"{front}: values led to an estimate that is not finite"]
    return []


Wrong = list[tuple[str, dict[str, Any]]]


def _wrong_arguments(plan: AuditPlan) -> Iterator[tuple[str, Release, tuple[Any, Any], Wrong]]:
    """Front doors, two neighbouring tables for each, and arguments that must be refused."""
    rho = plan.rho
    table = np.zeros((20, 2))
    other = table.copy()
    other[3] = [np.nan, -np.inf]
    right: dict[str, Any] = {"bounds": (-1, 1), "rho": rho}
    budgets: Wrong = [
        ("rho", {**right, "rho": 0}),
        ("rho", {**right, "rho": "much"}),
        ("rho and epsilon", {**right, "epsilon": 1.0}),
        ("delta", {"bounds": (-1, 1), "epsilon": 1.0, "delta": 0}),
        ("error_norm", {**right, "error_norm": 0.5}),
        ("sampler", {**right, "sampler": "none"}),
    ]
    yield (
        "mean",
        plandp.mean,
        (table, other),
        [
            *budgets,
            ("bounds", {"rho": rho}),
            ("bounds", {"rho": rho, "bounds": (1, -1)}),
            ("bounds", {"rho": rho, "bounds": [(0, 1)] * 3}),
            ("columns", {**right, "columns": [7]}),
            ("error_scale", {**right, "error_scale": [1.0, -1.0]}),
            ("smallest_spread", {**right, "smallest_spread": 0}),
            ("spread", {**right, "spread": [1.0]}),
            ("missing", {**right, "missing": float("inf")}),
            ("method", {**right, "method": "best"}),
            ("kind", {**right, "kind": "text"}),
            ("refine", {**right, "refine": ["polish"]}),
        ],
    )
    if not plan.sparse:
        return
    from scipy.sparse import csr_array

    sparse = csr_array(np.eye(6)), csr_array(np.where(np.arange(6)[:, None] == 2, np.inf, np.eye(6)))
    items: dict[str, Any] = {"kind": "nonnegative", "bounds": (0, 5), "rho": rho}
    yield (
        "mean of items",
        plandp.mean,
        sparse,
        [
            ("bounds", {**items, "bounds": (-1, 5)}),
            ("bounds", {**items, "kind": "binary"}),
            ("missing", {**items, "missing": 0}),
            ("method", {**items, "method": "gaussian"}),
            ("columns", {**items, "columns": [9]}),
        ],
    )
    events = {"person": "user", "item": "page", "items": ["a", "b"], "people": 5, "rho": rho}
    texts = "user,page\nx,a\ny,b\n", "user,page\nx,a\n" + "y,a\n" * 50
    yield (
        "mean_of_events",
        _of_text,
        texts,
        [
            ("person", {**events, "person": "who"}),
            ("items", {**events, "items": ["a", "a"]}),
            ("people", {**events, "people": 0}),
            ("bounds", {**events, "measure": "count"}),
            ("bounds", {**events, "bounds": (0, 3)}),
            ("measure", {**events, "measure": "money", "bounds": (0, 1)}),
        ],
    )


def _of_text(text: str | bytes, **arguments: Any) -> plandp.MeanRelease:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.csv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        # the name of the folder is no part of what is compared
        try:
            return plandp.mean_of_events(file, **arguments)
        except plandp.ArgumentError as error:
            raise plandp.ArgumentError(error.argument, error.problem.replace(str(folder), "")) from None


def _awkward(plan: AuditPlan) -> Iterator[tuple[str, Callable[[], plandp.MeanRelease]]]:
    """Tables of values that could trip code up, by front door."""
    rho = plan.rho
    tables: dict[str, Any] = {
        "all NaN": np.full((30, 3), np.nan),
        "all infinite": np.full((30, 3), np.inf),
        "all minus infinite": np.full((30, 3), -np.inf),
        "all equal": np.full((30, 3), 0.1),
        "all 1.7e308 and -1.7e308": np.where(np.arange(90).reshape(30, 3) % 2, 1.7e308, -1.7e308),
        "all 5e-324": np.full((30, 3), 5e-324),
        "all equal but one": np.where(np.arange(30)[:, None] == 7, 1e308, np.zeros((30, 3))),
        "one row": np.full((1, 3), np.nan),
        "ties at the ends of lattice cells": np.tile(np.arange(30)[:, None] / 15.0 - 1.0, 3),
        "uint64": np.full((30, 3), 2**64 - 1, dtype=np.uint64),
        "float16": np.full((30, 3), np.inf, dtype=np.float16),
        "bool": np.ones((30, 3), dtype=bool),
        "a list with None": [[None, 1.0, float("nan")]] * 30,
    }
    for method in plan.methods:
        for name, table in tables.items():
            yield (
                f"mean, {method}, {name}",
                lambda table=table, method=method: plandp.mean(table, bounds=(-1, 1), rho=rho, method=method),  # type: ignore[misc]
            )
    if not plan.sparse:
        return
    from scipy.sparse import coo_array, csr_array

    repeated = (np.tile([np.inf, -np.inf, 1.0, np.nan], 100), (np.full(400, 5), np.arange(400) % 3))
    matrices = {name: table for name, table in tables.items() if name not in ("float16", "a list with None")}
    matrices = {
        **{name: csr_array(table) for name, table in matrices.items()},
        "no entry": csr_array((30, 3)),
        "cells stored often": coo_array(repeated, shape=(30, 3)),
    }
    for kind, bounds in (("binary", None), ("nonnegative", (0, 9))):
        for name, matrix in matrices.items():
            yield (
                f"mean, {kind}, {name}",
                lambda m=matrix, kind=kind, bounds=bounds: plandp.mean(m, kind=kind, bounds=bounds, rho=rho),  # type: ignore[misc]
            )
    texts: dict[str, bytes] = {
        "no events": b"user,page,time\n",
        "rows of the wrong length": b'user,page,time\nx\nx,a,1,2,3\n"x,a\n\n,,,\n',
        "no text": b"user,page,time\n\xff\xfe,\x00,nan\n",
        "numbers without end": b"user,page,time\n" + b"x,a,1e308\n" * 50 + b"x,b,-inf\nx,b,inf\ny,a,nan\n",
    }
    for measure in ("presence", "count", "time"):
        for name, text in texts.items():
            bounds = None if measure == "presence" else (0, 9)
            arguments = {"person": "user", "item": "page", "items": ["a", "b"], "people": 4, "rho": rho}
            yield (
                f"mean_of_events, {measure}, {name}",
                lambda t=text, m=measure, b=bounds, a=arguments: _of_text(t, **a, measure=m, bounds=b),  # type: ignore[misc]
            )
