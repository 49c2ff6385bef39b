"""One entry of a ledger: a frozen value, its one spelling as text, and its place in the hash chain."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any

from plandp.errors import LedgerDamaged
from plandp.terms.receipt import read_fraction, write_fraction

SCHEMA = "plandp/ledger-entry/1"
START = ""  # what the first entry of a dataset names as its predecessor

# What each kind of entry says beside dataset, number, kind, rho, spent and previous.  Commit and cancel have no time:
# how long a run took depends on the data.
_SAID_BY = {
    "register": ("person", "neighbours", "privacy_unit", "time", "epsilon", "delta"),
    "reserve": ("time", "host", "pid", "process_start"),
    "commit": ("reservation", "paid", "release_hash", "what"),
    "cancel": ("reservation",),
}
_LEFT_OUT = ("epsilon", "delta", "what")  # where there is none
_TYPES: dict[str, type | tuple[type, ...]] = {
    "dataset": str,
    "number": int,
    "kind": str,
    "rho": Fraction,
    "spent": Fraction,
    "previous": str,
    "person": (str, type(None)),
    "neighbours": str,
    "privacy_unit": str,
    "time": datetime,
    "host": str,
    "pid": int,
    "process_start": (str, type(None)),
    "reservation": int,
    "paid": Fraction,
    "release_hash": str,
    "epsilon": float,
    "delta": float,
    "what": str,
}
_FRACTIONS = ("rho", "spent", "paid")
_TIME = "%Y-%m-%dT%H:%MZ"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What happened to a dataset's budget; `spent` is what is spent afterwards.

    Kinds: "register" (`rho` is the total), "reserve" (`rho` is spent from here on), "commit" (the release of that
    reservation is stored) and "cancel" (that reservation read nothing and is given back).
    """

    dataset: str
    number: int
    kind: str
    rho: Fraction
    spent: Fraction
    previous: str
    time: datetime | None = None  # of register and reserve, in whole minutes
    person: str | None = None  # of register: the column whose values are the people; None: rows are protected
    neighbours: str | None = None
    privacy_unit: str | None = None
    host: str | None = None  # of reserve: which process runs
    pid: int | None = None
    process_start: str | None = None
    reservation: int | None = None  # of commit and cancel: the number of the reserve entry
    paid: Fraction | None = None  # of commit: what the receipt of the release adds up to, at most `rho`
    release_hash: str | None = None
    epsilon: float | None = None  # of register: the total as the owner said it, where that was ε with δ
    delta: float | None = None
    what: str | None = None  # of commit: what was released, in public words

    def content(self) -> str:
        """Return the one spelling of this entry; `read_entry` restores it."""
        values = {name: getattr(self, name) for name in _names(self.kind)}
        said = {name: _write(value) for name, value in values.items() if not (value is None and name in _LEFT_OUT)}
        return _canonical({"schema": SCHEMA} | said)

    def hash(self) -> str:
        """Return the hash that the next entry names as `previous`."""
        return text_hash(self.content())

    def to_dict(self) -> dict[str, Any]:
        """Return the entry and its hash as JSON-ready values."""
        return {"hash": self.hash(), **json.loads(self.content())}


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def this_minute() -> datetime:
    """Return the time, in whole minutes: a later entry shall not tell how long the run before it took."""
    return datetime.now(UTC).replace(second=0, microsecond=0)


def read_entry(dataset: str, number: int, content: str) -> Entry:
    """Return the entry whose `content` this is; anything that `Entry.content` does not write is damage."""
    try:
        said = json.loads(content)
        names = [name for name in _names(said["kind"]) if name in said or name not in _LEFT_OUT]
        entry = Entry(**{name: _read(name, said[name]) for name in names})
        spelled = entry.content()
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError, ZeroDivisionError):
        raise LedgerDamaged(dataset, number, "is not an entry that plandp writes") from None
    if spelled != content:
        raise LedgerDamaged(dataset, number, "is not spelled as plandp writes it")
    if (entry.dataset, entry.number) != (dataset, number):
        raise LedgerDamaged(dataset, number, "is an entry of another place")
    return entry


def _names(kind: str) -> tuple[str, ...]:
    return ("dataset", "number", "kind", "rho", "spent", "previous", *_SAID_BY[kind])


def _canonical(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _write(value: Any) -> Any:
    if isinstance(value, Fraction):
        return write_fraction(value)
    return value.strftime(_TIME) if isinstance(value, datetime) else value


def _read(name: str, value: Any) -> Any:
    if name in _FRACTIONS:
        value = read_fraction(value)
    elif name == "time":
        value = datetime.strptime(value, _TIME).replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, _TYPES[name]):
        raise TypeError
    return value
