"""Rounds in which all threads of several processes ask at once for 2/5 of a new dataset: two of them fit.

`python rush_run.py PLACE ROUNDS THREADS` prints how many were served in each round.
"""

import json
import multiprocessing
import sys
import threading
from contextlib import suppress
from fractions import Fraction

from plandp import BudgetExceeded, Ledger

PROCESSES = 4


def main() -> None:
    """Run the rounds, one dataset each."""
    place, rounds, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ledger = Ledger(place)
    for number in range(rounds):
        ledger.register(f"round-{number}", rho=1)
    context = multiprocessing.get_context("fork")
    start, served = context.Barrier(PROCESSES), context.Queue()
    processes = [context.Process(target=_rush, args=(ledger, rounds, threads, start, served)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    counts = [sum(found) for found in zip(*(served.get(timeout=120) for _ in processes), strict=True)]
    for process in processes:
        process.join()
    # What callers were told must be what is written.
    assert counts == [len(ledger.status(f"round-{number}").reservations) for number in range(rounds)]
    sys.stdout.write(json.dumps(counts))


def _rush(ledger, rounds, threads, start, served) -> None:
    counts = [0] * rounds
    for number in range(rounds):
        start.wait(120)
        together = threading.Barrier(threads)

        def ask(number=number, together=together) -> None:
            together.wait(120)
            with suppress(BudgetExceeded):
                ledger.reserve(f"round-{number}", rho=Fraction(2, 5))
                counts[number] += 1

        pool = [threading.Thread(target=ask) for _ in range(threads)]
        for thread in pool:
            thread.start()
        for thread in pool:
            thread.join()
    served.put(counts)


if __name__ == "__main__":
    main()
