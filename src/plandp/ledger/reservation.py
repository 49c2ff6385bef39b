"""Budget that is spent, for a run that may begin."""

import os
import threading
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Self

from plandp.errors import ArgumentError, LedgerDamaged, LedgerUnavailable
from plandp.ledger.process import OPEN
from plandp.terms.release import MeanRelease

if TYPE_CHECKING:
    from plandp.ledger.entries import Entry
    from plandp.ledger.store import Store
    from plandp.ledger.unit import Unit


class Reservation:
    """Budget that is spent already; leaving its block gives it back only if nothing was read.

    Call `reading` before the first row value is read and `commit` with the release.  Left without a commit, a
    reservation that was never read under is cancelled; any other stays spent, and is shown as interrupted.
    """

    def __init__(self, store: "Store", entry: "Entry", unit: "Unit") -> None:
        self._store = store
        self._entry = entry
        self._unit = unit
        self._state = "unread"
        self._lock = threading.Lock()
        self._pid = os.getpid()
        OPEN.add(entry.hash())

    @property
    def dataset(self) -> str:
        """Return whose budget it is."""
        return self._entry.dataset

    @property
    def number(self) -> int:
        """Return its number in the history of the dataset."""
        return self._entry.number

    @property
    def rho(self) -> Fraction:
        """Return what is reserved."""
        return self._entry.rho

    @property
    def given_back(self) -> bool:
        """Return whether the ledger has noted that nothing was read."""
        return self._state == "cancelled"

    @property
    def cost(self) -> str:
        """Return what it costs unless it is given back, in words."""
        return f"rho = {self.rho} of dataset {self.dataset!r} stays spent (entry {self.number} of its history)"

    def reading(self) -> None:
        """Note that row values are read from here on: what is reserved stays spent, whatever happens."""
        if os.getpid() != self._pid:  # the process that reserved would not know, and give it back
            raise ArgumentError(
                "reservation", f"{self.number} belongs to the process that made it; reserve in this one"
            )
        with self._lock:
            if self._state not in ("unread", "read"):
                raise ArgumentError("reservation", f"{self.number} is {self._state}; reserve again before reading")
            self._state = "read"

    def commit(self, release: MeanRelease) -> None:
        """Store the release, durably.

        When the ledger cannot take it, the error holds it as `release`; the same commit may be tried again.
        """
        from plandp.ledger.chain import append_commit

        with self._lock:
            self._check(release)
            text = release.to_json()
            self._state = "read" if self._state == "unread" else self._state  # whatever happens now, it stays spent
            try:
                with self._store.writing() as connection:
                    append_commit(connection, self._entry, release, text)
            except (LedgerDamaged, LedgerUnavailable) as error:
                error.release = release
                raise
            except ArgumentError as error:
                if error.argument != "ledger":
                    raise
                # the file was removed or replaced during the run
                failure = LedgerUnavailable(f"the ledger could not store the release: {error.problem}")
                failure.release = release
                raise failure from None
            self._state = "committed"
            OPEN.discard(self._entry.hash())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # A forked child leaves its copy of this block too, while its parent may be reading.
        if os.getpid() != self._pid:
            return
        OPEN.discard(self._entry.hash())
        with self._lock:
            unread, self._state = self._state == "unread", "closed" if self._state != "committed" else "committed"
        if unread:
            try:
                self._cancel()
                self._state = "cancelled"
            except (LedgerDamaged, LedgerUnavailable) as problem:
                if error is None:
                    raise
                error.add_note(f"{self.cost}: nothing was read, but the ledger could not note it: {problem}")
        elif error is not None and self._state != "committed":
            error.add_note(f"{self.cost}: reading had begun")

    def _cancel(self) -> None:
        from plandp.ledger.chain import append_cancel

        with self._store.writing() as connection:
            append_cancel(connection, self._entry)

    def _check(self, release: MeanRelease) -> None:
        if not isinstance(release, MeanRelease):
            raise ArgumentError("release", "must be a release of plandp.mean or plandp.mean_of_events")
        if self._state in ("closed", "cancelled"):
            raise ArgumentError("reservation", f"{self.number} is {self._state}; commit inside its block")
        receipt = release.receipt
        if receipt.insecure:
            raise ArgumentError("release", "was made with testing_seed and protects nobody; a ledger does not take it")
        if receipt.rho > self.rho:
            raise ArgumentError("release", f"cost rho = {receipt.rho}, and only {self.rho} was reserved")
        if (receipt.privacy_unit, receipt.neighbours) != (self._unit.privacy_unit, self._unit.neighbours):
            raise ArgumentError("release", f"protects another unit ({receipt.privacy_unit}) than {self._unit}")
