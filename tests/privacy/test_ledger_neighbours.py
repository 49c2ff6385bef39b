"""What a ledger holds after a run on either of two neighbours is the same, but for the released values."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse

import plandp
from plandp.ledger import chain
from plandp.methods import PLAN, Estimator

pytest.importorskip("sqlalchemy")

TABLE = np.random.default_rng(8).uniform(0, 1, (300, 4))
STRANGE = {
    "other": [0.9, 0.1, 0.0, 1.0],
    "nan": [np.nan] * 4,
    "inf": [np.inf, -np.inf, np.inf, -np.inf],
    "huge": [1.7e308, -1.7e308, 5e-324, 1e300],
}


def neighbour(row: str) -> Any:
    table = TABLE.copy()
    table[17] = STRANGE[row]
    return table


def as_file(table: Any) -> str:
    pandas.DataFrame(table, columns=list("abcd")).to_csv("rows.csv", index=False)
    return "rows.csv"


def as_dirty_file(table: Any) -> str:
    """The strange row as text of a million letters: it takes longer to read, and nobody may see that."""
    pandas.DataFrame(TABLE, columns=list("abcd")).to_csv("rows.csv", index=False)
    if table is not TABLE:
        lines = Path("rows.csv").read_text().splitlines()
        lines[17] = "x" * 1_000_000
        Path("rows.csv").write_text("\n".join([*lines, ""]))
    return "rows.csv"


def of_rows(table: Any, **asked: Any) -> plandp.MeanRelease:
    return plandp.mean(table, **({"bounds": (0, 1)} | asked), rho="1/8", ledger="budget.sqlite", dataset="rows")


def of_people(table: Any) -> plandp.MeanRelease:
    """One person's events are the strange row: none, or very many."""
    user, page = list(range(200)) * 2, ["home", "help"] * 200
    if table is not TABLE:
        user, page = user + [7] * 50_000, page + ["home", "gone"] * 25_000
    frame = pandas.DataFrame({"user": user, "page": page})
    asked = {"person": "user", "item": "page", "items": ["home", "help"], "people": 200, "rho": "1/8"}
    return plandp.mean_of_events(frame, **asked, ledger="budget.sqlite", dataset="people")


RUNS: dict[str, Callable[[Any], object]] = {
    "array": of_rows,
    "gaussian": lambda table: of_rows(table, method="gaussian"),
    "list": lambda table: of_rows(table.tolist()),
    "file": lambda table: of_rows(as_file(table)),
    "dirty file": lambda table: of_rows(as_dirty_file(table)),
    "items": lambda table: of_rows(scipy.sparse.csr_array(table), kind="binary"),
    "values": lambda table: of_rows(scipy.sparse.csr_array(table), kind="nonnegative"),
    "people": of_people,
    "wrong bounds": lambda table: of_rows(table, bounds=(1, 0)),
    "wrong column": lambda table: of_rows(as_file(table), columns=["gone"]),
    "too much": lambda table: plandp.mean(table, bounds=(0, 1), rho=9, ledger="budget.sqlite", dataset="rows"),
}


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chain, "this_minute", lambda: datetime(2026, 11, 16, tzinfo=UTC))


def written(run: Callable[[], object]) -> list[tuple[Any, ...]]:
    """All rows of all tables of a new ledger after a run, without what follows from the released values."""
    Path("budget.sqlite").unlink(missing_ok=True)
    ledger = plandp.Ledger("budget.sqlite")
    ledger.register("rows", rho=1)
    ledger.register("people", rho=1, person="user")
    with suppress(plandp.PlandpError, ArithmeticError):
        run()
    ledger.verify()
    with closing(sqlite3.connect("budget.sqlite")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [
            (name, *map(without_released, row))
            for name in sorted(names)
            for row in connection.execute(f"SELECT * FROM {name}")  # in the order of writing
        ]


def without_released(cell: Any) -> Any:
    if isinstance(cell, str) and len(cell) == 64 and not set(cell) - set("0123456789abcdef"):
        return "a hash"
    if not (isinstance(cell, str) and cell.startswith("{")):
        return cell
    return json.dumps(kept(json.loads(cell)), sort_keys=True)


def kept(said: dict[str, Any]) -> dict[str, Any]:
    """An entry but for the hashes that cover the release; of a release what was public before it was made."""
    if "receipt" not in said:
        return {key: value for key, value in said.items() if key not in ("previous", "release_hash")}
    receipt = {key: said["receipt"][key] for key in ("rho", "n", "d", "bounds", "method", "neighbours", "privacy_unit")}
    return {"labels": said["labels"], "kind": said["kind"], "keys": sorted(said), "receipt": receipt}


@pytest.mark.parametrize("row", STRANGE)
@pytest.mark.parametrize("name", RUNS)
def test_neighbours_leave_the_same_in_the_ledger(name: str, row: str) -> None:
    first = written(lambda: RUNS[name](TABLE))
    second = written(lambda: RUNS[name](neighbour(row)))
    assert first == second
    commits = [cell for entry in first for cell in entry if isinstance(cell, str) and '"kind": "commit"' in cell]
    assert len(commits) == (0 if name in ("wrong bounds", "wrong column", "too much") else 1)


def test_a_long_run_leaves_no_trace_of_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits have no time of their own, and that of the reservation was taken before anything was read."""
    now = datetime(2026, 11, 16, tzinfo=UTC)
    monkeypatch.setattr(chain, "this_minute", lambda: now)

    def run_of(minutes: int) -> Callable[[], object]:
        def run(*given: Any) -> Any:
            nonlocal now
            now += timedelta(minutes=minutes)
            return PLAN.run(*given)

        return lambda: of_rows(TABLE, method=Estimator(name="plan", plan=PLAN.plan, run=run))

    short = written(run_of(0))
    assert short == written(run_of(20))


@pytest.mark.parametrize("row", STRANGE)
def test_a_run_that_fails_while_reading_leaves_the_same(row: str) -> None:
    def fail(rows: Any, *_: object) -> Any:
        rows.fold(lambda block: (np.zeros(1, np.int64),))
        raise ArithmeticError

    estimator = Estimator(name="plan", plan=PLAN.plan, run=fail)
    first = written(lambda: of_rows(TABLE, method=estimator))
    assert first == written(lambda: of_rows(neighbour(row), method=estimator))
    assert "reserve" in str(first)
    assert '"kind": "commit"' not in str(first)
