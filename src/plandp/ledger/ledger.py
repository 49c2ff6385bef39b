"""The budget that cannot be overspent: `plandp.Ledger`."""

import os
import unicodedata
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from plandp.errors import ArgumentError, MissingExtra
from plandp.ledger.reservation import Reservation
from plandp.terms.budget import read_budget, read_promise
from plandp.terms.columns import Label
from plandp.terms.release import MeanRelease

# What only a ledger in use needs is loaded then: importing plandp stays as quick as it was.
if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plandp.ledger.entries import Entry
    from plandp.ledger.status import DatasetStatus
    from plandp.ledger.verification import Verified

SCHEMA = "plandp/ledger/1"
_LONGEST_NAME = 200


class Ledger:
    """What was spent on each dataset, kept in an SQLite file or a PostgreSQL database.

    Guarantee: all releases under a dataset's name together never cost more than its total ρ, whatever number of
    processes and threads reserve at once and wherever they are killed; each reservation lasts before its rows are read.
    It does not know that two names mean the same data, nor what was spent after the backup it was restored from.

    Parameters
    ----------
    place
        The path of a file, or a URL such as postgresql://user@host/database.  Nothing is opened until it is used, and
        only `register` makes a new ledger.

    Examples
    --------
    >>> import plandp, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = plandp.Ledger(folder.name + "/budget.sqlite")
    >>> ledger.register("survey-2026", rho="1/2").left
    Fraction(1, 2)
    >>> with ledger.reserve("survey-2026", rho="1/8"):
    ...     pass  # nothing is read, so nothing is spent
    >>> [entry.kind for entry in ledger.history("survey-2026")]
    ['register', 'reserve', 'cancel']
    >>> folder.cleanup()
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        try:
            from plandp.ledger.place import read_place
            from plandp.ledger.store import Store
        except ImportError:
            raise MissingExtra("sqlalchemy", "ledger", "a ledger") from None

        self._store = Store(read_place(place))

    @property
    def place(self) -> str:
        """Return where it is kept, without a password."""
        return self._store.place.shown

    def __repr__(self) -> str:
        return f"Ledger({self.place!r})"

    def register(
        self,
        dataset: str,
        *,
        rho: float | str | Fraction | Decimal | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        person: Label | None = None,
    ) -> "DatasetStatus":
        """Give a dataset its total budget, once and for all; makes the ledger if there is none yet.

        Parameters
        ----------
        dataset
            A name that the owner chooses: one for all copies and extracts of the same data.
        rho, epsilon, delta
            The total: ρ of zCDP, or ε together with δ.
        person
            The column that says whose row it is, when people are protected with all their events
            (`plandp.mean_of_events`); left out, each row is a person of its own (`plandp.mean`).
        """
        from plandp.ledger.chain import append_register
        from plandp.ledger.unit import Unit

        name = _read_name(dataset)
        total = _readable(read_budget(rho=rho, epsilon=epsilon, delta=delta))
        promised = read_promise(epsilon, delta)
        unit = Unit.of(person)
        with self._store.writing(create=True) as connection:
            append_register(connection, name, total=total, unit=unit, epsilon=promised[0], delta=promised[1])
        return self.status(name)

    def reserve(
        self, dataset: str, *, rho: float | str | Fraction | Decimal, person: Label | None = None
    ) -> Reservation:
        """Spend ρ before anything is read; durable when this returns.

        Raises BudgetExceeded when less is left, and ArgumentError when the dataset is unknown or protects another unit.
        """
        from plandp.ledger.chain import append_reserve
        from plandp.ledger.unit import Unit

        name = _read_name(dataset)
        asked = _readable(read_budget(rho=rho, epsilon=None, delta=None))
        unit = Unit.of(person)
        with self._store.writing() as connection:
            entry = append_reserve(connection, name, rho=asked, unit=unit)
        return Reservation(self._store, entry, unit)

    def datasets(self) -> "tuple[DatasetStatus, ...]":
        """Return the status of every dataset, by name."""
        from plandp.ledger.status import status_of
        from plandp.ledger.verification import checked_chain, dataset_names

        with self._store.reading() as connection:
            chains = [checked_chain(connection, name) for name in dataset_names(connection)]
        return tuple(map(status_of, chains))

    def status(self, dataset: str) -> "DatasetStatus":
        """Return what is spent and left of a dataset, and what became of each reservation."""
        from plandp.ledger.status import status_of

        return status_of(self.history(dataset))

    def plot(self, dataset: str, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a picture of what was spent of a dataset over time; with a path (.svg, .png, .pdf) also kept there."""
        return self.status(dataset).plot(path)

    def history(self, dataset: str) -> "tuple[Entry, ...]":
        """Return all entries of a dataset in order, checked against their hashes."""
        from plandp.ledger.verification import checked_chain

        name = _read_name(dataset)
        with self._store.reading() as connection:
            return checked_chain(connection, name)

    def release(self, dataset: str, number: int) -> MeanRelease:
        """Return the release of reservation `number` once more, equal to the last bit.  It costs nothing."""
        from plandp.ledger.verification import checked_chain, stored_release

        name = _read_name(dataset)
        with self._store.reading() as connection:
            for entry in checked_chain(connection, name):
                if entry.kind == "commit" and entry.reservation == number:
                    return stored_release(connection, entry)
        raise ArgumentError(
            "number",
            f"{number!r} is no reservation of {name!r} with a release; Ledger(...).status(...) lists the numbers",
        )

    def verify(self) -> "Verified":
        """Check every entry and every release; LedgerDamaged names the first that is not as it was written.

        An end that was cut off, or a backup that was put back, cannot be seen: see `Verified.heads`.
        """
        from plandp.ledger.verification import verify_all

        with self._store.reading() as connection:
            return verify_all(connection)

    def export(self) -> dict[str, Any]:
        """Return everything as JSON-ready values: entries with their hashes, and releases by reservation number."""
        import json

        from plandp.ledger.verification import checked_chain, dataset_names, stored_release

        exported = []
        with self._store.reading() as connection:
            for name in dataset_names(connection):
                chain = checked_chain(connection, name)
                exported.append(
                    {
                        "dataset": name,
                        "entries": [entry.to_dict() for entry in chain],
                        "releases": {
                            str(entry.reservation): json.loads(stored_release(connection, entry).to_json())
                            for entry in chain
                            if entry.kind == "commit"
                        },
                    }
                )
        return {"schema": SCHEMA, "datasets": exported}


def _read_name(dataset: object) -> str:
    if (
        not isinstance(dataset, str)
        or not 1 <= len(dataset) <= _LONGEST_NAME
        or not dataset.isprintable()
        or dataset != dataset.strip()
        or not unicodedata.is_normalized("NFC", dataset)
    ):
        raise ArgumentError(
            "dataset", f"must be a name of 1 to {_LONGEST_NAME} printable characters, such as 'survey-2026'"
        )
    return dataset


def _readable(rho: Fraction) -> Fraction:
    from plandp.ledger.chain import LONGEST_DENOMINATOR

    if rho.denominator > LONGEST_DENOMINATOR:
        raise ArgumentError("rho", "must have a denominator of at most 1,000 digits, such as 1/100")
    return rho
