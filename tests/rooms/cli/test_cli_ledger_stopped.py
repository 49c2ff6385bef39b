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
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and named pipes are those of POSIX")

PLANDP = (sys.executable, "-c", "import sys; from plandp.cli.main import main; sys.exit(main())")
RHO = Fraction(1, 64)
HEADER = b"a,b\n"
ROWS = b"41.5,60.25\n" * 30_000  # far more than a pipe holds: who has written it knows that rows are being read
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


@pytest.fixture
def pipe(ledger: plandp.Ledger) -> Iterator["subprocess.Popen[str]"]:
    """A process that has reserved and waits for its file, of which nothing was written yet."""
    os.mkfifo("rows.csv")
    process = started("rows.csv")
    try:
        wait_for(ledger, "running")
        yield process
    finally:
        process.kill()
        process.communicate()


def test_stopped_while_the_file_is_opened_nothing_is_spent(
    ledger: plandp.Ledger, pipe: "subprocess.Popen[str]"
) -> None:
    pipe.send_signal(signal.SIGINT)
    out, err = pipe.communicate(timeout=LONGEST)
    assert (pipe.returncode, out) == (130, "")
    assert err == "plandp: stopped; nothing of dataset 'survey' was read or spent\n"
    assert states(ledger) == ["cancelled"]
    assert ledger.status("survey").spent == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_stopped_while_rows_are_read_the_budget_is_spent(
    ledger: plandp.Ledger, pipe: "subprocess.Popen[str]", number: signal.Signals
) -> None:
    with open("rows.csv", "wb", buffering=0) as file:
        file.write(HEADER)
        file.write(ROWS)
        pipe.send_signal(number)
        with suppress(BrokenPipeError):  # rows go on coming, as in a file: who waits for them does not feel a signal
            while pipe.poll() is None:
                file.write(ROWS)
        out, err = pipe.communicate(timeout=LONGEST)
    assert out == ""
    assert pipe.returncode == (130 if number == signal.SIGINT else -number)
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


def test_killed_before_the_file_is_read_the_safe_side_is_spent(
    ledger: plandp.Ledger, pipe: "subprocess.Popen[str]"
) -> None:
    pipe.kill()
    pipe.communicate(timeout=LONGEST)
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
