"""Real `plandp mean` processes, stopped at chosen and at random moments: the ledger knows what may have been read."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import plandp

pytest.importorskip("sqlalchemy")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fdinfo").exists(), reason="how far others have read is told in /proc"
)

PLANDP = (sys.executable, "-c", "import sys; from plandp.cli.main import main; sys.exit(main())")
RHO = Fraction(1, 64)
HEADER = b"a,b\n"
ROWS = b"41.5,60.25\n" * 30_000
MANY = 200  # times the rows: reading them takes longer than seeing that they are read
LONGEST = 60


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> plandp.Ledger:
    monkeypatch.chdir(tmp_path)
    kept = plandp.Ledger("budget.sqlite")
    kept.register("survey", rho=1)
    return kept


def started(file: str) -> "subprocess.Popen[str]":
    asked = ["--bounds", "0:100", "--rho", str(RHO), "--method", "gaussian", "--json"]
    return subprocess.Popen(
        [*PLANDP, "mean", file, *asked, "--ledger", "budget.sqlite", "--dataset", "survey"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def states(ledger: plandp.Ledger) -> list[str]:
    return [one.state for one in ledger.status("survey").reservations]


def wait_for(ledger: plandp.Ledger, state: str) -> None:
    end = time.monotonic() + LONGEST
    while states(ledger) != [state]:
        assert time.monotonic() < end, states(ledger)
        time.sleep(0.02)


def position(process: "subprocess.Popen[str]", name: str) -> int:
    """How far the process has read this file, 0 where it does not hold it open."""
    for held in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if held.readlink().name == name:
                return int(Path(f"/proc/{process.pid}/fdinfo/{held.name}").read_text().split()[1])
    return 0


@pytest.fixture
def reading(ledger: plandp.Ledger) -> Iterator["subprocess.Popen[str]"]:
    """A process that has reserved, and reads a large file."""
    Path("rows.csv").write_bytes(HEADER + MANY * ROWS)
    process = started("rows.csv")
    try:
        wait_for(ledger, "running")
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_stopped_while_rows_are_read_the_budget_is_spent(
    ledger: plandp.Ledger, reading: "subprocess.Popen[str]", number: signal.Signals
) -> None:
    while position(reading, "rows.csv") < len(ROWS):
        assert reading.poll() is None
        time.sleep(0.001)
    reading.send_signal(number)
    out, err = reading.communicate(timeout=LONGEST)
    assert out == ""
    assert reading.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert err.startswith("plandp: stopped; rho = 1/64 of dataset 'survey' stays spent")
        assert err.count("\n") == 1
    assert states(ledger) == ["interrupted"]
    assert ledger.status("survey").spent == RHO
    shown = subprocess.run(
        [*PLANDP, "ledger", "show", "budget.sqlite", "survey"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"^ +2 +interrupted +0\.015625 ", shown.stdout, re.MULTILINE)
    assert ledger.verify().entries == 2


def test_killed_at_once_the_safe_side_is_spent(ledger: plandp.Ledger, reading: "subprocess.Popen[str]") -> None:
    reading.kill()
    reading.communicate(timeout=LONGEST)
    assert states(ledger) == ["interrupted"]
    assert ledger.status("survey").spent == RHO


def stop_at_random(ledger: plandp.Ledger, *, runs: int, seed: int) -> None:
    """Stop every run somewhere between its start and a little after its end, and count what came of it."""
    rng = np.random.default_rng(seed)
    Path("survey.csv").write_bytes(HEADER + ROWS)
    begin = time.monotonic()
    assert started("survey.csv").communicate()[0]
    usual = time.monotonic() - begin
    released = 1
    for run in range(runs):
        process = started("survey.csv")
        time.sleep(float(rng.uniform(0.2, 1.1)) * usual)
        number = signal.SIGKILL if run % 2 else signal.SIGINT
        process.send_signal(number)
        out, err = process.communicate(timeout=LONGEST)
        verified = ledger.verify()
        status = ledger.status("survey")
        released += bool(out)
        assert out == "" or plandp.MeanRelease.from_json(out).receipt.rho == RHO
        assert status.count("running") == 0
        assert status.spent == RHO * (status.count("committed") + status.count("interrupted"))
        assert released <= status.count("committed") == verified.releases  # no release that the ledger lacks
        if process.returncode == 130 and status.reservations[-1].pid == process.pid:
            last = status.reservations[-1].state
            told = {
                "cancelled": "nothing of dataset 'survey' was read or spent",
                "interrupted": "rho = 1/64 of dataset 'survey' stays spent",
                "committed": "rho = 1/64 of dataset 'survey' is spent, and the release is stored",
            }
            assert told[last] in err
    assert ledger.status("survey").count("committed") < runs + 1


def test_stopped_at_random_moments(ledger: plandp.Ledger) -> None:
    stop_at_random(ledger, runs=5, seed=5)


@pytest.mark.long
def test_stopped_at_very_many_random_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = plandp.Ledger("budget.sqlite")
    kept.register("survey", rho=10)
    stop_at_random(kept, runs=200, seed=6)


def test_a_pipe_is_refused_before_anything_is_spent(ledger: plandp.Ledger) -> None:
    os.mkfifo("rows.csv")
    process = started("rows.csv")
    out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, out) == (2, "")
    assert "'rows.csv' is a pipe or device, and files are read more than once; write it to a file first" in err
    assert states(ledger) in ([], ["cancelled"])
    assert ledger.status("survey").spent == 0
