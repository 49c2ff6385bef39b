"""Results outlive interruption: finished runs are kept and not repeated, damaged ones are run again."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from plandp_lab.reproduce import runner
from plandp_lab.reproduce.cells import Cell, Record, run_task
from plandp_lab.reproduce.journal import Journal
from plandp_lab.reproduce.runner import run_all, tasks_left
from plandp_lab.reproduce.workloads import case_a

CELL = Cell(workload=case_a(4, n=200), rho="1", entrants=("gaussian", "sampling error"), runs=3)
LONG_RUN = """
import signal, sys
from plandp.cli.main import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run in the background
    sys.exit(main(["reproduce", "variance", "--out", sys.argv[1], "--processes", "2"]))
"""


def record(run: int, error: float = 1.0) -> Record:
    return {"cell": "c", "entrant": "e", "run": run, "errors": {"m": error}, "seconds": 0.0}


def without_times(records: tuple[Record, ...]) -> list[Record]:
    return sorted(({**found, "seconds": 0} for found in records), key=str)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    assert journal.read().records == ()
    journal.append([record(0), record(1)])
    journal.append([record(2)])
    assert journal.read().records == (record(0), record(1), record(2))
    assert journal.read().damaged == 0


def test_of_a_run_that_was_measured_twice_the_last_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.append([record(0, 1.0)])
    journal.append([record(0, 2.0)])
    assert journal.read().records == (record(0, 2.0),)


def test_a_line_that_was_cut_off_or_changed_is_left_out_and_those_after_it_are_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.append([record(0), record(1)])
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-7])
    journal.append([record(2)])
    kept = journal.read()
    assert [found["run"] for found in kept.records] == [0, 2]
    assert kept.damaged == 1
    journal.path.write_bytes(whole.replace(b"1.0", b"9.0", 1))
    assert [found["run"] for found in journal.read().records] == [1]


def test_an_interrupted_run_goes_on_where_it_was_and_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Journal(tmp_path / "whole")
    run_all(tasks_left([CELL], ()), whole, processes=1)
    stopped, calls = Journal(tmp_path / "stopped"), []

    def interrupted(task: object) -> list[Record]:
        calls.append(task)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_task(task)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "run_task", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_all(tasks_left([CELL], ()), stopped, processes=1)
    kept = stopped.read().records
    assert len(kept) == 2  # one run of two entrants
    left = tasks_left([CELL], kept)
    assert [task.run for task in left] == [1, 2]
    run_all(left, stopped, processes=1)
    assert without_times(stopped.read().records) == without_times(whole.read().records)
    assert tasks_left([CELL], whole.read().records) == []


def test_a_cell_of_two_exhibits_is_measured_once_for_all_who_take_part() -> None:
    other = replace(CELL, entrants=("plan", "sampling error"))
    tasks = tasks_left([CELL, other], ())
    assert [task.run for task in tasks] == [0, 1, 2]
    assert {task.entrants for task in tasks} == {("gaussian", "sampling error", "plan")}


def test_some_are_run_less_often() -> None:
    tasks = tasks_left([replace(CELL, fewer=(("gaussian", 1),))], ())
    assert [task.entrants for task in tasks] == [CELL.entrants, ("sampling error",), ("sampling error",)]


@pytest.mark.long
def test_ctrl_c_stops_all_processes_and_loses_nothing(tmp_path: Path) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(LONG_RUN)
    journal = Journal(out / "runs.journal")
    started = subprocess.Popen(
        [sys.executable, str(script), str(out)],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    deadline = time.monotonic() + 120
    while not journal.read().records and time.monotonic() < deadline:
        time.sleep(0.2)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: parent and children
    _, complaint = started.communicate(timeout=60)
    assert started.returncode == 130
    assert b"the same command goes on from there" in complaint
    kept = journal.read()
    assert kept.records
    assert kept.damaged == 0
    assert (out / "results.csv").exists()
