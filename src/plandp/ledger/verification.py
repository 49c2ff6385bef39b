"""Whether the entries of a ledger are those that were written, and whether they add up."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, select

from plandp.errors import ArgumentError, LedgerDamaged
from plandp.ledger.chain import checked_entry, unknown_dataset
from plandp.ledger.entries import START, Entry, text_hash
from plandp.ledger.schema import datasets, entries, releases
from plandp.ledger.unit import Unit
from plandp.terms.release import MeanRelease


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What was checked and found in order.

    `heads` holds the hash of each dataset's last entry.  Who keeps a copy elsewhere can see later that the chain still
    contains it; without one, nobody can tell a chain from the same chain with its end cut off.
    """

    entries: int
    releases: int
    heads: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "datasets": len(self.heads),
            "entries": self.entries,
            "releases": self.releases,
            "heads": dict(self.heads),
        }


def dataset_names(connection: Connection) -> list[str]:
    """Return all registered datasets, in the order of their names."""
    names = connection.execute(select(datasets.c.dataset)).scalars().all()
    for name in names:
        if not isinstance(name, str):  # SQLite keeps values of any type in any column
            raise LedgerDamaged(name, 1, "belongs to a dataset whose name is no text")
    return sorted(names)


def checked_chain(connection: Connection, dataset: str) -> tuple[Entry, ...]:
    """Return all entries of a dataset, in order, if nothing about them was changed."""
    head = connection.execute(select(datasets).where(datasets.c.dataset == dataset)).first()
    if head is None:
        raise unknown_dataset(connection, dataset)
    rows = connection.execute(select(entries).where(entries.c.dataset == dataset).order_by(entries.c.number)).all()
    chain: list[Entry] = []
    previous, open_reservations, spent = START, dict[int, Entry](), Fraction(0)
    for expected, row in enumerate(rows, start=1):
        if row.number != expected:
            raise LedgerDamaged(dataset, expected, "is missing")
        entry = checked_entry(dataset, expected, row.reservation, row.content, row.hash)
        if entry.previous != previous:
            raise LedgerDamaged(dataset, expected, "does not follow the entry before it: one of both was replaced")
        spent = _follow(entry, chain[0] if chain else None, open_reservations, spent)
        chain.append(entry)
        previous = row.hash
    if head.entries != len(chain) or head.head != previous:
        raise LedgerDamaged(dataset, max(1, len(chain)), "is not the last one that was written")
    if not chain:
        raise LedgerDamaged(dataset, 1, "is missing")
    return tuple(chain)


def stored_release(connection: Connection, commit: Entry) -> MeanRelease:
    """Return the release of a commit entry, if it is what was stored and agrees with the entry."""
    where = (releases.c.dataset == commit.dataset) & (releases.c.number == commit.number)
    text = connection.execute(select(releases.c.release).where(where)).scalar()
    if text is None:
        raise LedgerDamaged(commit.dataset, commit.number, "has lost its release")
    if not isinstance(text, str) or text_hash(text) != commit.release_hash:
        raise LedgerDamaged(commit.dataset, commit.number, "has another release than was stored")
    try:
        release = MeanRelease.from_json(text)
    except ArgumentError:
        raise LedgerDamaged(commit.dataset, commit.number, "has a release that this plandp cannot read") from None
    if release.receipt.rho != commit.paid:
        raise LedgerDamaged(commit.dataset, commit.number, "has a release of another price")
    return release


def verify_all(connection: Connection) -> Verified:
    """Check every entry and release; the first that is not as written is named."""
    heads, checked, stored = dict[str, str](), 0, 0
    for dataset in dataset_names(connection):
        chain = checked_chain(connection, dataset)
        for entry in chain:
            if entry.kind == "commit":
                stored_release(connection, entry)
                stored += 1
        heads[dataset] = chain[-1].hash()
        checked += len(chain)
    _nothing_beside(connection, set(heads), stored)
    return Verified(entries=checked, releases=stored, heads=heads)


def _follow(entry: Entry, registered: Entry | None, open_reservations: dict[int, Entry], spent: Fraction) -> Fraction:
    """Return what is spent after `entry`, if the rules allow it at this place."""
    problem = None
    if (entry.kind == "register") != (registered is None):
        problem = "is a register entry, or should be one"
    elif entry.kind == "register":
        kept = Unit.of(entry.person)
        if (entry.neighbours, entry.privacy_unit) != (kept.neighbours, kept.privacy_unit):
            problem = "has neighbours that do not belong to its unit"
    elif entry.kind == "reserve":
        open_reservations[entry.number] = entry
        spent += entry.rho
        if registered is not None and spent > registered.rho:
            problem = "spends more than the total"
    else:
        reserved = open_reservations.pop(entry.reservation or 0, None)
        if reserved is None or reserved.rho != entry.rho or (entry.paid is not None and entry.paid > entry.rho):
            problem = "does not belong to an open reservation of its rho"
        elif entry.kind == "cancel":
            spent -= entry.rho
    if problem is None and (entry.spent != spent or entry.rho <= 0):
        problem = "does not add up"
    if problem is not None:
        raise LedgerDamaged(entry.dataset, entry.number, problem)
    return spent


def _nothing_beside(connection: Connection, known: set[str], stored: int) -> None:
    """Refuse rows that belong to no chain: SQLite files can be edited with foreign keys switched off."""
    for table in (entries, releases):
        for row in connection.execute(select(table.c.dataset, table.c.number).order_by(table.c.dataset)):
            if row.dataset not in known:
                raise LedgerDamaged(row.dataset, row.number, "belongs to a dataset that is not registered")
    found = connection.execute(select(releases.c.dataset, releases.c.number)).all()
    if len(found) == stored:
        return
    committed = {
        (entry.dataset, entry.number)
        for dataset in known
        for entry in checked_chain(connection, dataset)
        if entry.kind == "commit"
    }
    for row in found:
        if (row.dataset, row.number) not in committed:
            raise LedgerDamaged(row.dataset, row.number, "has a release, though it is no commit")
