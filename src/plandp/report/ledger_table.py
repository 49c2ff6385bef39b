"""A ledger in words: what is left of each dataset, what became of each reservation, and every entry."""

from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction

from plandp.ledger.entries import Entry
from plandp.ledger.status import DatasetStatus
from plandp.terms.receipt import budget_line
from plandp.terms.text_table import align, show_label

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
            shown_rho(status.total),
            shown_rho(status.spent),
            shown_rho(status.left),
            *(str(status.count(state)) for state in ("committed", "interrupted", "running")),
        )
        for status in datasets
    ]
    return "\n".join([*align([head, *rows]), "spent: all that was reserved and not given back, released or not"])


def dataset_text(status: DatasetStatus) -> str:
    """Return what is spent and left of one dataset, and what became of each reservation."""
    lines = [
        f"Dataset {show_label(status.dataset)}: rho = {shown_rho(status.spent)} of {shown_rho(status.total)} spent, "
        f"{shown_rho(status.left)} left",
        f"protects {_protects(status)}; neighbours: {status.neighbours}",
    ]
    if status.spent:
        lines.append(f"all of it together: {budget_line(status.spent)}")
    rows = [
        (str(one.number), one.state, shown_rho(one.rho), shown_time(one.time), one.host, str(one.pid))
        for one in status.reservations
    ]
    if rows:
        lines += align([("number", "state", "rho", "reserved", "host", "process"), *rows])
        lines += [f"{state}: {told}" for state, told in STATES.items() if status.count(state)]
    return "\n".join(lines)


def history_text(entries: Sequence[Entry]) -> str:
    """Return one line for each entry of a dataset."""
    head = ("number", "entry", "rho", "spent", "time", "of", "hash")
    rows = [
        (
            str(entry.number),
            entry.kind,
            shown_rho(entry.rho),
            shown_rho(entry.spent),
            "" if entry.time is None else shown_time(entry.time),
            "" if entry.reservation is None else str(entry.reservation),
            entry.hash()[:12],
        )
        for entry in entries
    ]
    return "\n".join(align([head, *rows]))


def shown_rho(rho: Fraction) -> str:
    """Return ρ in at most six digits, with ≈ where that is not all of it."""
    short = f"{float(rho):.6g}"
    return short if Fraction(short) == rho else f"≈{short}"


def shown_time(time: datetime) -> str:
    """Return a time of a ledger, which is one of UTC in whole minutes."""
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _protects(status: DatasetStatus) -> str:
    return "rows" if status.person is None else f"people by {show_label(status.person, longest=20)}"
