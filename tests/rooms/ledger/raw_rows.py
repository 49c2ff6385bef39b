"""The rows of a ledger, read without any code of the ledger, and what they add up to."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import psycopg

ENTRIES = "SELECT content FROM plandp_entry WHERE dataset = {} AND number > {} ORDER BY number"


def raw_entries(place: str, dataset: str, after: int = 0) -> list[dict[str, object]]:
    """Return the entries of a dataset beyond a number, as they are written."""
    if "://" in place:
        with psycopg.connect(place) as connection:
            rows = connection.execute(ENTRIES.format("%s", "%s"), (dataset, after)).fetchall()
    else:
        # Not read-only: the first reader after a SIGKILL has to take back the half of a transaction that was written.
        with closing(sqlite3.connect(f"{Path(place).as_uri()}?mode=rw", uri=True, timeout=60)) as connection:
            rows = connection.execute(ENTRIES.format("?", "?"), (dataset, after)).fetchall()
    return [json.loads(content) for (content,) in rows]


class Tally:
    """Adds up entries in order: what is reserved and not cancelled, and whether it ever exceeded the total."""

    def __init__(self) -> None:
        self.seen = 0
        self.total = self.most_spent = Fraction(0)
        self.reserved: dict[int, Fraction] = {}
        self.cancelled: set[int] = set()
        self.committed: dict[int, str] = {}
        self.overspent: list[int] = []
        self.unpaid: list[int] = []

    def add(self, entry: dict[str, object]) -> None:
        """Add the next entry."""
        assert entry["number"] == self.seen + 1
        self.seen += 1
        if entry["kind"] == "register":
            self.total = Fraction(entry["rho"])
        elif entry["kind"] == "reserve":
            self.reserved[entry["number"]] = Fraction(entry["rho"])
        elif entry["reservation"] not in self.reserved or entry["reservation"] in self.cancelled | set(self.committed):
            self.unpaid.append(entry["number"])
        elif entry["kind"] == "commit":
            self.committed[entry["reservation"]] = entry["release_hash"]
        else:
            self.cancelled.add(entry["reservation"])
        self.most_spent = max(self.most_spent, self.spent)
        if self.spent > self.total:
            self.overspent.append(entry["number"])

    @property
    def spent(self) -> Fraction:
        """Return the sum of all that is reserved, committed or not, and not cancelled."""
        return sum((rho for number, rho in self.reserved.items() if number not in self.cancelled), Fraction(0))
