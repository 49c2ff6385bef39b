"""Ledger files: damaged bytes, cells changed by hand, tables gone; a ledger is read, or refused in plain words."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st

import plandp
from plandp.cli.main import main
from plandp_lab.fuzz.canary import CANARY
from plandp_lab.fuzz.files import damage
from plandp_lab.fuzz.values import Draw, one_in, strange
from plandp_lab.fuzz.watch import Broken, watched

_TABLE = np.array([[1.0, 2.0], [float(CANARY), 4.0]])
_CELLS: list[Any] = [
    None, 0, 1, -1, 3, 2**62, 1.5, "", "x",
    "register", "reserve", "commit", "cancel", "{}", "[]", "null", "1/2", "1/0", b"",
    b"\xff\x00", "\x00", "a" * 5000, '{"kind": "reserve"}', "0" * 64, "rows", "survey", "9" * 5000,
]  # fmt: skip


@cache
def kept_ledger() -> bytes:
    """Return the file of a ledger with releases, a cancelled reservation and one that was interrupted."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "budget.sqlite"
        ledger = plandp.Ledger(path)
        ledger.register("survey", rho=10)
        ledger.register("visits", rho="1/2", person="user")
        for _ in range(2):
            plandp.mean(_TABLE, bounds=(0, 5), rho=1, method="gaussian", ledger=ledger, dataset="survey")
        with ledger.reserve("survey", rho="1/8"):
            pass
        with suppress(KeyboardInterrupt), ledger.reserve("visits", rho="1/8", person="user") as reservation:
            reservation.reading()
            raise KeyboardInterrupt
        return path.read_bytes()


def ledgers(draw: Draw) -> str:
    """Use a ledger that is not as it was written, or in a way that it is not meant for."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "budget.sqlite"
        path.write_bytes(kept_ledger())
        way = draw(st.integers(0, 9))
        if way <= 3:
            path.write_bytes(draw(damage(kept_ledger())))
        elif way <= 7:
            _change(draw, path)
        elif way == 8:
            path.write_bytes(draw(st.binary(max_size=200)))
        before = Path.cwd()
        os.chdir(folder)  # a strange place can be the name of a file
        try:
            return _used(draw, path, everything_right=way <= 8)
        finally:
            os.chdir(before)


def _change(draw: Draw, path: Path) -> None:
    """Change a few cells by hand, or take rows or a whole table away."""
    with closing(sqlite3.connect(path)) as database, database:
        names = [
            name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        ]
        for _ in range(draw(st.integers(1, 2))):
            name = draw(st.sampled_from(names))
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
            rows = [row for (row,) in database.execute(f"SELECT rowid FROM {name}")]
            if one_in(draw, 12):
                database.execute(f"DROP TABLE {name}")
                return
            if not rows:
                continue
            row, column = draw(st.sampled_from(rows)), draw(st.sampled_from(columns))
            with suppress(sqlite3.Error):  # what the file itself does not allow
                if one_in(draw, 6):
                    database.execute(f"DELETE FROM {name} WHERE rowid = ?", (row,))
                else:
                    value = draw(st.one_of(st.sampled_from(_CELLS), st.text(max_size=5), st.integers(-9, 9)))
                    database.execute(f"UPDATE {name} SET {column} = ? WHERE rowid = ?", (_storable(value), row))


def _storable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _used(draw: Draw, path: Path, *, everything_right: bool) -> str:
    if one_in(draw, 3):
        words = ["ledger", draw(st.sampled_from(["show", "history", "verify", "export"])), str(path)]
        words += draw(st.sampled_from([[], ["survey"], ["visits"], ["--json"], ["nobody"]]))
        outcome = watched(partial(_run, words))
        told = "\n".join(map(str, outcome.shown))
        if outcome.kind not in ("exit 0", "exit 1", "exit 2") or "Traceback" in told or "unexpected" in told:
            raise Broken(f"{words} ended with {outcome.kind}: {told}")
        return outcome.kind
    place: Any = path if everything_right else draw(st.one_of(st.just(path), strange))
    dataset: Any = "survey" if everything_right else draw(st.one_of(st.just("survey"), strange))
    other: Any = 1 if everything_right else draw(strange)
    uses: dict[str, Callable[[], object]] = {
        "datasets": lambda: repr(plandp.Ledger(place).datasets()),
        "status": lambda: plandp.Ledger(place).status(dataset).to_dict(),
        "history": lambda: repr(plandp.Ledger(place).history(dataset)),
        "release": lambda: repr(plandp.Ledger(place).release(dataset, other)),
        "verify": lambda: repr(plandp.Ledger(place).verify()),
        "export": lambda: plandp.Ledger(place).export(),
        "register": lambda: plandp.Ledger(place).register("new" if everything_right else dataset, rho=other),
        "reserve": lambda: plandp.Ledger(place).reserve(dataset, rho=other),
        "mean": lambda: plandp.mean(
            _TABLE, bounds=(0, 5), rho=1, method="gaussian", ledger=place, dataset=dataset
        ),
    }  # fmt: skip
    use = uses[draw(st.sampled_from(sorted(uses)))]
    return watched(lambda: _done(use)).kind


def _done(use: Callable[[], object]) -> str:
    use()
    return "done"


def _run(arguments: list[str]) -> None:
    raise SystemExit(main(arguments))
