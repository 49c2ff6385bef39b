"""The lines on ledgers of docs/bad-input.md."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import plandp

FINE: dict[str, Any] = {"bounds": (0, 100), "rho": "1/8", "ledger": "budget.sqlite", "dataset": "survey-2026"}
TABLE = np.full((50, 2), 48.151623)  # a canary of the tests

REFUSED_LEDGERS: dict[str, Callable[[], Iterator[tuple[Callable[[], object], None]]]] = {}


def refused(case: str, *calls: Callable[[plandp.Ledger], object]) -> None:
    def run() -> Iterator[tuple[Callable[[], object], None]]:
        ledger = plandp.Ledger("budget.sqlite")
        ledger.register("survey-2026", rho=1)
        ledger.register("visits", rho=1, person="user")
        for call in calls:
            yield lambda call=call: call(ledger), None
        assert not any(status.spent for status in ledger.datasets())

    REFUSED_LEDGERS[case] = run


def wrong(case: str, *variants: dict[str, Any]) -> None:
    refused(case, *((lambda _, given=given: plandp.mean(TABLE, **(FINE | given))) for given in variants))


wrong("a dataset without a ledger", {"ledger": None})
wrong("a ledger without a dataset", {"dataset": None})
wrong("a ledger and a testing seed", {"testing_seed": 1})
wrong("a dataset that is not registered", {"dataset": "surveys"})
wrong("rows of a dataset of people", {"dataset": "visits"})
refused("a dataset that is registered already", lambda ledger: ledger.register("survey-2026", rho=1))
names = ("", " survey", "survey\n", "s" * 201, 7)
refused(
    "a name that is none",
    *((lambda ledger, name=name: ledger.register(name, rho=1)) for name in names),
    *((lambda _, name=name: plandp.mean(TABLE, **(FINE | {"dataset": name}))) for name in names),
)
wrong("a ledger that is something else", {"ledger": 7}, {"ledger": ""}, {"ledger": b"budget.sqlite"})
wrong("a ledger in memory", {"ledger": ":memory:"})
refused("a release that is not stored", lambda ledger: ledger.release("survey-2026", 7))
