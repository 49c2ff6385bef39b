"""Forks, threads and dead processes: who may cancel, and what is shown as running or interrupted."""

import gc
import os
import subprocess
import sys
import threading
import time
from fractions import Fraction

import pytest
from forked import in_a_fork

from plandp import ArgumentError, BudgetExceeded, Ledger
from plandp.ledger import process

DIES = (
    "import os, sys\n"
    "from plandp import Ledger\n"
    "reservation = Ledger(sys.argv[1]).reserve('survey', rho='1/8')\n"
    "reservation.reading()\n"
    "print(reservation.number, flush=True)\n"
    "sys.stdin.read()\n"
    "os._exit(1)\n"
)


def states(ledger):
    return [one.state for one in ledger.status("survey").reservations]


def test_a_run_is_running_while_its_process_lives_and_interrupted_afterwards(ledger, place):
    command = [sys.executable, "-c", DIES, place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"2\n"
        assert states(ledger) == ["running"]
        run.kill()
        deadline = time.monotonic() + 30
        while states(ledger) == ["running"] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert states(ledger) == ["interrupted"]  # though nobody has collected it yet: a zombie does not run
    assert states(ledger) == ["interrupted"]
    assert ledger.status("survey").spent == Fraction(1, 8)


def test_a_process_elsewhere_or_with_a_used_number_counts_as_interrupted(file_ledger, monkeypatch):
    file_ledger.reserve("survey", rho="1/8")
    assert states(file_ledger) == ["running"]
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(process, "this_host", lambda: "elsewhere")
        assert states(file_ledger) == ["interrupted"]
    with monkeypatch.context() as later:
        later.setattr(process, "process_start", lambda pid: "another start")
        assert states(file_ledger) == ["interrupted"]
    with monkeypatch.context() as untold:  # systems without /proc
        untold.setattr(process, "process_start", lambda pid: None)
        assert states(file_ledger) == ["interrupted"]
        assert process.is_running(process.this_host(), os.getpid(), None)
    for pid in (0, -1, 2**40, None):
        assert not process.is_running(process.this_host(), pid, None)


def test_a_forked_child_does_not_cancel_what_its_parent_reads(ledger):
    with ledger.reserve("survey", rho="1/8") as reservation:

        def leave():
            reservation.__exit__(None, None, None)

        in_a_fork(leave)
        assert ledger.status("survey").spent == Fraction(1, 8)
        reservation.reading()
    assert ledger.status("survey").spent == Fraction(1, 8)


def test_a_forked_child_may_not_read_under_a_reservation_that_its_parent_can_give_back(ledger):
    with ledger.reserve("survey", rho="1/8") as reservation:

        def read():
            with pytest.raises(ArgumentError, match="belongs to the process"):
                reservation.reading()

        in_a_fork(read)
    assert ledger.status("survey").spent == 0


def test_a_ledger_can_be_used_after_a_fork_on_both_sides(ledger):
    before = ledger.reserve("survey", rho="1/8").number
    in_the_child = in_a_fork(lambda: ledger.reserve("survey", rho="1/8").number)
    after = ledger.reserve("survey", rho="1/8").number
    assert (before, in_the_child, after) == (2, 3, 4)
    ledger.verify()


def test_a_fork_waits_for_transactions_of_other_threads(ledger):
    """Or the child would hold a copy of an open connection, and of whatever locks were held inside of it."""
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with ledger._store.writing():
            inside.set()
            leave.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert inside.wait(30)
    threading.Timer(0.3, leave.set).start()
    begun = time.monotonic()
    assert in_a_fork(lambda: ledger.reserve("survey", rho="1/8").number) == 2
    assert time.monotonic() - begun >= 0.2
    holder.join()


@pytest.mark.parametrize("places", [1, 8], ids=["one ledger", "a ledger each"])
def test_threads_share_a_budget_exactly(ledger, place, places):
    ledgers = [Ledger(place) for _ in range(places)]
    served, refused = [], []

    def work(number):
        for _ in range(4):
            try:
                served.append(ledgers[number % places].reserve("survey", rho="1/20").number)
            except BudgetExceeded:
                refused.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(served), len(refused)) == (list(range(2, 22)), 12)
    assert ledger.status("survey").left == 0


def test_many_at_once_may_make_the_same_ledger(place):
    """Of those who register the same dataset in a new place at once, one succeeds."""
    outcomes, together = [], threading.Barrier(6)

    def work():
        together.wait()
        try:
            outcomes.append(Ledger(place).register("survey", rho=1).dataset)
        except Exception as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refusal = "dataset: 'survey' is registered already; its total and its unit stay as they are"
    assert sorted(outcomes) == [refusal] * 5 + ["survey"]


def test_no_handle_stays_open(file_ledger):
    gc.collect()  # what earlier tests left open
    handles = len(os.listdir("/dev/fd"))
    for _ in range(20):
        file_ledger.status("survey")
        with file_ledger.reserve("survey", rho="1/8"):
            pass
    assert len(os.listdir("/dev/fd")) < handles + 10  # other threads open and close some of their own
