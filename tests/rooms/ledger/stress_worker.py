"""One process of the stress test: threads that reserve, commit, cancel, fail and fork, and write down what they saw.

Each line of the log is one system call, so that what was seen before a SIGKILL is kept.
"""

import os
import random
import signal
import threading
import time
from dataclasses import replace
from fractions import Fraction

from plandp import ArgumentError, BudgetExceeded, Ledger, LedgerUnavailable, MeanRelease
from plandp.ledger.entries import text_hash

TOTAL = Fraction(40)
PRICES = [Fraction(parts, 3) for parts in (1, 2, 3, 5, 7)]


def dataset_of(generation: int) -> str:
    """Return the name of the dataset that all workers use until it has nothing left."""
    return f"survey-{generation}"


class Log:
    """Lines that outlive the process."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, *words: object) -> None:
        """Append a line with the process id."""
        os.write(self._file, (" ".join(map(str, (os.getpid(), *words))) + "\n").encode())


class Worker:
    """What all threads of a process share: one Ledger, one log."""

    def __init__(self, place: str, log: Log, release: MeanRelease, stop: threading.Event, generation: int) -> None:
        self.ledger = Ledger(place)
        self.log = log
        self.release = release
        self.stop = stop
        self.generation = generation

    def work(self, seed: int) -> None:
        """Do operations until told to stop; anything unforeseen is written down."""
        chance = random.Random(seed)
        try:
            while not self.stop.is_set():
                if chance.random() < 0.02:
                    self._operate_in_a_fork(chance)
                else:
                    self.operate(chance)
        except BaseException as error:
            self.log.write("unforeseen", type(error).__name__, str(error).replace("\n", " "))
            raise

    def operate(self, chance: random.Random) -> None:
        """Reserve and then commit, cancel or fail; where nothing is left, go on to the next dataset."""
        generation = self.generation
        dataset, price = dataset_of(generation), chance.choice(PRICES)
        try:
            reservation = self.ledger.reserve(dataset, rho=price)
        except BudgetExceeded:
            self.log.write("refused", dataset, price)
            if price == min(PRICES):
                self._next_dataset(generation)
            return
        except LedgerUnavailable as error:
            self.log.write("unavailable", error.problem)
            return
        self.log.write("reserved", dataset, reservation.number, price)
        fate = chance.random()
        try:
            with reservation:
                if fate < 0.5:
                    return
                reservation.reading()
                if chance.random() < 0.3:
                    time.sleep(chance.random() / 100)
                if fate < 0.6:
                    raise ZeroDivisionError
                self._commit(reservation)
        except ZeroDivisionError:
            self.log.write("failed", dataset, reservation.number)
        except LedgerUnavailable as error:
            self.log.write("unavailable", error.problem)
            fate = 1
        finally:
            if fate < 0.5:
                self.log.write("cancelled", dataset, reservation.number)

    def _commit(self, reservation) -> None:
        # Each release is another, so that none can be mistaken for another.
        name = f"{os.getpid()} {reservation.dataset} {reservation.number}"
        release = replace(self.release, warnings=(name,))
        for _ in range(100):
            try:
                reservation.commit(release)
            except LedgerUnavailable as error:
                kept = error.release is release
                self.log.write("unavailable" if kept else "unforeseen", error.problem)
                continue
            self.log.write("committed", reservation.dataset, reservation.number, text_hash(release.to_json()))
            return
        raise AssertionError("a hundred commits failed")

    def _next_dataset(self, generation: int) -> None:
        try:
            self.ledger.register(dataset_of(generation + 1), rho=TOTAL)
            self.log.write("registered", dataset_of(generation + 1))
        except ArgumentError as error:
            if "registered already" not in error.problem:
                raise
        except LedgerUnavailable as error:
            self.log.write("unavailable", error.problem)
            return
        self.generation = max(self.generation, generation + 1)

    def _operate_in_a_fork(self, chance: random.Random) -> None:
        child = os.fork()
        if child == 0:
            try:
                self.operate(chance)
            except BaseException as error:
                self.log.write("unforeseen", "fork", type(error).__name__, error)
            finally:
                os._exit(0)
        os.waitpid(child, 0)


def run_worker(place: str, log_path: str, release: MeanRelease, *, seed: int, threads: int, generation: int) -> None:
    """Run threads until SIGTERM asks to stop, SIGKILL does not ask, or nobody is left who would."""
    parent, stop = os.getppid(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    worker = Worker(place, Log(log_path), release, stop, generation)
    pool = [threading.Thread(target=worker.work, args=(1000 * seed + number,)) for number in range(threads)]
    for thread in pool:
        thread.start()
    while any(thread.is_alive() for thread in pool):
        time.sleep(0.02)
        if os.getppid() != parent:
            stop.set()
