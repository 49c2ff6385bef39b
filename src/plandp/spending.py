"""The order in which a release is paid from a ledger: reserve, read, commit; and what is said when it is stopped."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import partial
from types import FrameType, TracebackType

from plandp.errors import ArgumentError, LedgerUnavailable, PlandpError
from plandp.ledger.ledger import Ledger
from plandp.ledger.reservation import Reservation
from plandp.stopping import stops_stay_stops
from plandp.terms.columns import Label
from plandp.terms.release import MeanRelease

# The datasets of which this process has reserved anything: of any other, a command that is stopped has spent nothing.
RESERVED: set[str] = set()


class Spending:
    """What one run does to the ledger; nothing at all where there is none."""

    def __init__(self, reservation: Reservation | None) -> None:
        self._reservation = reservation
        self.stored = False

    def reading(self) -> None:
        """Row values are read from here on: what is reserved stays spent, whatever happens."""
        if self._reservation is not None:
            self._reservation.reading()

    def paid(self, release: MeanRelease) -> MeanRelease:
        """Store the release in the ledger, and return it; the error of a ledger that fails holds it, never lost."""
        if self._reservation is None:
            return release
        problem = None
        try:
            with _undisturbed():
                self._reservation.commit(release)
                self.stored = True
        except PlandpError:  # a ledger that failed holds the release already
            raise
        except Exception as error:
            problem = f"unexpected {type(error).__name__}"
        if problem is not None:
            failure = LedgerUnavailable(f"the ledger could not store the release: {problem}")
            failure.release = release
            raise failure
        return release


@contextmanager
def spending(
    *,
    ledger: Ledger | str | os.PathLike[str] | None,
    dataset: str | None,
    rho: Fraction,
    person: Label | None,
    testing_seed: int | None,
) -> Iterator[Spending]:
    """Reserve ρ of a dataset, hand over what the run must call, and see to it that a stopped run says what it cost.

    Guarantee: ρ is spent, durably, before the block begins.  It is given back only if the block ends by an exception
    before `reading` was called.
    """
    book = _read_ledger(ledger, dataset, testing_seed)
    if book is None or dataset is None:
        with stops_stay_stops():
            yield Spending(None)
        return
    reservation = run = None
    try:
        with ExitStack() as held:
            with _undisturbed():  # or nobody might hold what was just reserved
                reservation = book.reserve(dataset, rho=rho, person=person)
                RESERVED.add(dataset)
                held.push(partial(_leave, reservation))
                run = Spending(reservation)
            with stops_stay_stops():
                yield run
    except BaseException as error:
        if run is not None and run.stored:
            error.add_note(stored_note(rho, dataset))
        elif isinstance(error, KeyboardInterrupt):
            _add_cost(error, reservation, rho, dataset)
        raise


def _leave(
    reservation: Reservation,
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    with _undisturbed():  # or nobody would know whether it was given back
        reservation.__exit__(kind, error, traceback)


def _add_cost(stop: KeyboardInterrupt, reservation: Reservation | None, rho: Fraction, dataset: str) -> None:
    """Let a run that is stopped say what it cost, once."""
    if reservation is None and isinstance(stop.__context__, LedgerUnavailable):
        stop.add_note(
            f"nothing of dataset {dataset!r} was read; the ledger failed, and shows when it is back whether "
            f"rho = {rho} is spent"
        )
    elif reservation is None or reservation.given_back:
        stop.add_note(nothing_note(dataset))
    elif not any(note.startswith(reservation.cost) for note in getattr(stop, "__notes__", ())):
        stop.add_note(reservation.cost)


def nothing_note(dataset: str) -> str:
    """What a run says that is stopped before it has read anything."""
    return f"nothing of dataset {dataset!r} was read or spent"


def stored_note(rho: Fraction, dataset: str) -> str:
    """What a run says that is stopped when its release is stored already."""
    return f"rho = {rho} of dataset {dataset!r} is spent, and the release is stored in the ledger, which shows it again"


def _read_ledger(
    ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None, testing_seed: int | None
) -> Ledger | None:
    if ledger is None and dataset is None:
        return None
    if ledger is None:
        raise ArgumentError("ledger", "is missing; say which ledger keeps the budget of the dataset, or leave both out")
    if dataset is None:
        raise ArgumentError("dataset", "is missing; say whose budget in the ledger is spent, or leave both out")
    if testing_seed is not None:
        raise ArgumentError(
            "testing_seed", "protects nobody, so that a ledger does not take such a release; leave one of them out"
        )
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done, which takes no longer than the ledger does."""
    usual = signal.getsignal(signal.SIGINT)
    # Only the main thread is ever interrupted, and only it may say what happens then.
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if waiting:
            usual(*waiting[0])
