"""The rules of the chain: what may be appended to a dataset's entries.  Every function runs inside one transaction."""

import os
from dataclasses import replace
from fractions import Fraction

from sqlalchemy import Connection, insert, select, update

from plandp.errors import ArgumentError, BudgetExceeded, LedgerDamaged
from plandp.ledger.entries import START, Entry, read_entry, text_hash, this_minute
from plandp.ledger.process import process_start, this_host
from plandp.ledger.schema import datasets, entries, releases
from plandp.ledger.unit import Unit
from plandp.ledger.what import what_of
from plandp.terms.release import MeanRelease
from plandp.terms.text_table import show_fraction

# Sums of fractions are exact, so unlike denominators multiply: refused long before a sum takes too long to read.
LONGEST_DENOMINATOR = 10**1000


def append_register(
    connection: Connection,
    dataset: str,
    *,
    total: Fraction,
    unit: Unit,
    epsilon: float | None = None,
    delta: float | None = None,
) -> None:
    """Begin the chain of a dataset."""
    if connection.execute(select(datasets.c.entries).where(datasets.c.dataset == dataset)).first() is not None:
        raise ArgumentError("dataset", f"{dataset!r} is registered already; its total and its unit stay as they are")
    entry = Entry(
        dataset=dataset,
        number=1,
        kind="register",
        rho=total,
        spent=Fraction(0),
        previous=START,
        time=this_minute(),
        person=unit.person,
        neighbours=unit.neighbours,
        privacy_unit=unit.privacy_unit,
        epsilon=epsilon,
        delta=delta,
    )
    connection.execute(insert(datasets).values(dataset=dataset, entries=1, head=entry.hash()))
    _insert(connection, entry)


def append_reserve(connection: Connection, dataset: str, *, rho: Fraction, unit: Unit) -> Entry:
    """Spend `rho` if it is left; the check and the entry are one transaction that no other writer can enter."""
    last = _locked_last(connection, dataset)
    registered = last if last.number == 1 else entry_at(connection, dataset, 1)
    kept = Unit.of(registered.person)
    if unit != kept:
        raise ArgumentError(
            "dataset", f"{dataset!r} is registered for {kept}, and this would be a release for {unit}; both must agree"
        )
    left = registered.rho - last.spent
    if rho > left:
        raise BudgetExceeded(_too_much(dataset, rho=rho, left=left, total=registered.rho))
    spent = last.spent + rho
    if spent.denominator > LONGEST_DENOMINATOR:
        raise ArgumentError("rho", "has no denominator in common with what was spent before; choose one like 0.01")
    pid = os.getpid()
    return _append(
        connection,
        Entry(
            dataset=dataset,
            number=last.number + 1,
            kind="reserve",
            rho=rho,
            spent=spent,
            previous=last.hash(),
            time=this_minute(),
            host=this_host(),
            pid=pid,
            process_start=process_start(pid),
        ),
    )


def append_commit(connection: Connection, reserved: Entry, release: MeanRelease, text: str) -> None:
    """Store the release of a reservation.  A second time, with the same release, changes nothing."""
    last = _locked_last(connection, reserved.dataset)
    entry = Entry(
        dataset=reserved.dataset,
        number=last.number + 1,
        kind="commit",
        rho=reserved.rho,
        spent=last.spent,
        previous=last.hash(),
        reservation=reserved.number,
        paid=release.receipt.rho,
        release_hash=text_hash(text),
        what=what_of(release),
    )
    found = outcome_of(connection, reserved)
    if found is not None:
        if found == replace(entry, number=found.number, spent=found.spent, previous=found.previous):
            return
        raise ArgumentError("release", f"cannot be stored: reservation {reserved.number} has its {found.kind} already")
    _must_be_there(connection, reserved)
    _append(connection, entry)
    connection.execute(insert(releases).values(dataset=entry.dataset, number=entry.number, release=text))


def append_cancel(connection: Connection, reserved: Entry) -> None:
    """Give back what was reserved; only for a run that has read nothing."""
    last = _locked_last(connection, reserved.dataset)
    found = outcome_of(connection, reserved)
    if found is not None:
        if found.kind == "cancel":
            return
        raise ArgumentError("reservation", f"{reserved.number} has a release and stays spent")
    _must_be_there(connection, reserved)
    _append(
        connection,
        Entry(
            dataset=reserved.dataset,
            number=last.number + 1,
            kind="cancel",
            rho=reserved.rho,
            spent=last.spent - reserved.rho,
            previous=last.hash(),
            reservation=reserved.number,
        ),
    )


def entry_at(connection: Connection, dataset: str, number: int) -> Entry:
    """Return an entry, checked against its hash."""
    where = (entries.c.dataset == dataset) & (entries.c.number == number)
    row = connection.execute(select(entries.c.reservation, entries.c.content, entries.c.hash).where(where)).first()
    if row is None:
        raise LedgerDamaged(dataset, number, "is missing")
    return checked_entry(dataset, number, row.reservation, row.content, row.hash)


def checked_entry(dataset: str, number: int, reservation: object, content: str, hashed: str) -> Entry:
    """Return the entry in a row of the table, if all columns agree."""
    if not isinstance(content, str) or text_hash(content) != hashed:
        raise LedgerDamaged(dataset, number, "was changed: it does not have the hash that was written with it")
    entry = read_entry(dataset, number, content)
    if entry.reservation != reservation:
        raise LedgerDamaged(dataset, number, "was changed: its column reservation is another")
    return entry


def outcome_of(connection: Connection, reserved: Entry) -> Entry | None:
    """Return the commit or cancel of a reservation, or None."""
    where = (entries.c.dataset == reserved.dataset) & (entries.c.reservation == reserved.number)
    number = connection.execute(select(entries.c.number).where(where)).scalar()
    return None if number is None else entry_at(connection, reserved.dataset, number)


def unknown_dataset(connection: Connection, dataset: str) -> ArgumentError:
    """Return the refusal of a dataset that nobody registered, with what is registered."""
    known = connection.execute(select(datasets.c.dataset).order_by(datasets.c.dataset).limit(11)).scalars().all()
    there = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    return ArgumentError(
        "dataset",
        f"{dataset!r} is not registered in this ledger ({'there are: ' + there if known else 'it is empty'}); "
        "its owner registers it once: Ledger(...).register(...), or: plandp ledger create",
    )


def _locked_last(connection: Connection, dataset: str) -> Entry:
    """Lock the chain against other writers and return its last entry."""
    where = datasets.c.dataset == dataset
    head = connection.execute(select(datasets.c.entries, datasets.c.head).where(where).with_for_update()).first()
    if head is None:
        raise unknown_dataset(connection, dataset)
    last = entry_at(connection, dataset, head.entries)
    if last.hash() != head.head:
        raise LedgerDamaged(dataset, head.entries, "is not the last one that was written")
    return last


def _must_be_there(connection: Connection, reserved: Entry) -> None:
    if entry_at(connection, reserved.dataset, reserved.number) != reserved:
        raise LedgerDamaged(reserved.dataset, reserved.number, "is another than was reserved")


def _append(connection: Connection, entry: Entry) -> Entry:
    _insert(connection, entry)
    head = update(datasets).where(datasets.c.dataset == entry.dataset).values(entries=entry.number, head=entry.hash())
    connection.execute(head)
    return entry


def _insert(connection: Connection, entry: Entry) -> None:
    row = {"dataset": entry.dataset, "number": entry.number, "reservation": entry.reservation}
    connection.execute(insert(entries).values(**row, content=entry.content(), hash=entry.hash()))


def _too_much(dataset: str, *, rho: Fraction, left: Fraction, total: Fraction) -> str:
    """Return the refusal, with as many digits as it takes to see that more was asked for than is left."""
    digits = 6
    while show_fraction(rho, digits=digits).rstrip("…") == show_fraction(left, digits=digits).rstrip("…"):
        digits *= 2
    shown, remains, all_of_it = (show_fraction(value, digits=digits) for value in (rho, left, total))
    return (
        f"dataset {dataset!r} has rho = {remains} left of {all_of_it}, and {shown} was asked for; nothing was read"
        + (".  Ask for less, or for all that is left: rho=ledger.status(dataset).left" if left else "")
    )
