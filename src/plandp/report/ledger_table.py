"""A ledger in words: what is left of each dataset, what became of each reservation, and every entry."""

from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction

from plandp.ledger.entries import Entry
from plandp.ledger.status import DatasetStatus
from plandp.terms.receipt import budget_line
from plandp.terms.text_table import align, display_width, show_fraction, show_label
from plandp.terms.zcdp import epsilon_of

STATES = {
    "committed": "its release is stored",
    "running": "its process runs now",
    "interrupted": "stopped without saying that nothing was read: spent, and no release is stored",
    "cancelled": "nothing was read: given back",
}
"""What may become of a reservation, in words."""


def ledger_text(datasets: Sequence[DatasetStatus]) -> str:
    """Return one line for each dataset."""
    head = ("dataset", "protects", "total rho", "spent", "left", "releases", "interrupted", "running")
    rows = [
        (
            show_label(status.dataset),
            _protects(status),
            show_fraction(status.total),
            show_fraction(status.spent),
            show_fraction(status.left),
            *(str(status.count(state)) for state in ("committed", "interrupted", "running")),
        )
        for status in datasets
    ]
    return "\n".join([*align([head, *rows]), "spent: all that was reserved and not given back, released or not"])


def dataset_text(status: DatasetStatus) -> str:
    """Return what is spent and left of one dataset, and what became of each reservation."""
    lines = [
        f"Dataset {show_label(status.dataset)}: rho = {show_fraction(status.spent)} of {show_fraction(status.total)} "
        f"spent, {show_fraction(status.left)} left",
        f"protects {_protects(status)}; neighbours: {status.neighbours}",
    ]
    if status.epsilon is not None and status.delta is not None:
        lines.append(_promise(status, status.epsilon, status.delta))
    elif status.spent:
        lines.append(f"all that is spent, together: {budget_line(status.spent)}")
    rows = [
        (str(one.number), one.state, show_fraction(one.rho), shown_time(one.time), one.host, str(one.pid))
        for one in status.reservations
    ]
    if rows:
        table = align([("number", "state", "rho", "reserved", "host", "process"), *rows])
        width = max(map(display_width, table))
        released = ["what was released", *(one.what or "" for one in status.reservations)]
        lines += [
            f"{line}{' ' * (width - display_width(line))}  {what}".rstrip()
            for line, what in zip(table, released, strict=True)
        ]
        lines += [f"{state}: {told}" for state, told in STATES.items() if status.count(state)]
    return "\n".join(lines)


def history_text(entries: Sequence[Entry]) -> str:
    """Return one line for each entry of a dataset."""
    head = ("number", "entry", "rho", "spent", "time", "of", "hash")
    rows = [
        (
            str(entry.number),
            entry.kind,
            show_fraction(entry.rho),
            show_fraction(entry.spent),
            "" if entry.time is None else shown_time(entry.time),
            "" if entry.reservation is None else str(entry.reservation),
            entry.hash()[:12],
        )
        for entry in entries
    ]
    return "\n".join(align([head, *rows]))


def _promise(status: DatasetStatus, epsilon: float, delta: float) -> str:
    """Return the budget as ε at the owner's δ: what is spent rounded up, what is left down."""

    total = f"{epsilon:g}"

    def at_delta(rho: Fraction, rounding: str) -> str:
        return f"{Context(prec=4, rounding=rounding).create_decimal(epsilon_of(rho, delta)).normalize():f}"

    spent = at_delta(status.spent, ROUND_CEILING) if status.spent else "0"
    left = at_delta(status.left, ROUND_FLOOR) if 0 < status.left < status.total else "0" if status.spent else total
    return f"at delta = {delta:g}: epsilon = {total} in all, {spent} spent, {left} left (rho adds up, epsilon does not)"


def shown_time(time: datetime) -> str:
    """Return a time of a ledger, which is one of UTC in whole minutes."""
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _protects(status: DatasetStatus) -> str:
    return "rows" if status.person is None else f"people by {show_label(status.person, longest=20)}"
