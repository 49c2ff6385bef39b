"""Runs what is still to be run, over processes, and keeps every result at once."""

import os
import signal
import sys
from collections.abc import Iterable, Sequence
from multiprocessing import get_context

from tqdm import tqdm

from plandp_lab.reproduce.cells import Cell, Record, Task, run_task
from plandp_lab.reproduce.journal import Journal

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def tasks_left(cells: Iterable[Cell], records: Sequence[Record]) -> list[Task]:
    """What is not measured yet: first runs of all cells, then second ones, so that stopping early is fair."""
    done = {(record["cell"], record["entrant"], record["run"]) for record in records}
    wanted: dict[tuple[int, str], Task] = {}
    for cell in cells:
        for run in range(cell.runs):
            before = wanted.get((run, cell.key))
            named = dict.fromkeys((*(before.entrants if before else ()), *cell.entrants))
            missing = tuple(name for name in named if run < cell.runs_of(name) and (cell.key, name, run) not in done)
            if missing:
                wanted[run, cell.key] = Task(cell=cell, entrants=missing, run=run)
    # the longest first, or the last process would keep the others waiting
    return sorted(wanted.values(), key=lambda task: (task.run, -task.seconds))


def run_all(tasks: Sequence[Task], journal: Journal, *, processes: int) -> None:
    """Measure every task; what is finished when this is interrupted is in the journal."""
    if not tasks:
        return
    total = sum(task.seconds for task in tasks)
    bar = "{desc} {percentage:3.0f}%|{bar}| {elapsed} so far, {remaining} left"
    with tqdm(total=total, desc=f"{len(tasks)} tables", bar_format=bar, file=sys.stderr) as progress:
        if processes == 1:
            for task in tasks:
                journal.append(run_task(task))
                progress.update(task.seconds)
            return
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        # one thread each, or the processes would fight over the cores; spawned children read this when NumPy loads
        os.environ.update(ONE_THREAD)
        try:
            with get_context("spawn").Pool(processes, _deaf_to_interrupts) as pool:
                for seconds, records in pool.imap_unordered(_measured, tasks):
                    journal.append(records)
                    progress.update(seconds)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def _deaf_to_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal: the parent alone decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _measured(task: Task) -> tuple[float, list[Record]]:
    return task.seconds, run_task(task)
