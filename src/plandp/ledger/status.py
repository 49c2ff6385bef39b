"""What a dataset's entries add up to."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from plandp.ledger.entries import Entry
from plandp.ledger.process import OPEN, is_running
from plandp.terms.receipt import write_fraction

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class ReservationStatus:
    """One reservation and what became of it: "committed", "cancelled", "running" or "interrupted".

    "running": not yet committed, and its process is alive on this machine (as others see it, a notebook is alive also
    after a run failed in it); everything else that was neither committed nor cancelled is "interrupted".  All but
    "cancelled" is spent.
    """

    number: int
    rho: Fraction
    state: str
    time: datetime
    host: str
    pid: int
    paid: Fraction | None  # what the stored release cost, at most `rho`
    what: str | None = None  # what was released, in public words; None where nothing was, or by an older plandp

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "number": self.number,
            "rho": write_fraction(self.rho),
            "state": self.state,
            "time": self.time.isoformat(),
            "host": self.host,
            "pid": self.pid,
            "paid": None if self.paid is None else write_fraction(self.paid),
            "what": self.what,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class DatasetStatus:
    """The budget of a dataset: all its releases together are `spent`-zCDP, and `spent` never exceeds `total`."""

    dataset: str
    total: Fraction
    spent: Fraction
    person: str | None  # the column whose values are the people; None: rows are protected
    neighbours: str
    privacy_unit: str
    time: datetime
    reservations: tuple[ReservationStatus, ...]
    epsilon: float | None = None  # the total as its owner said it, where that was ε with δ
    delta: float | None = None

    @property
    def left(self) -> Fraction:
        """Return what further releases can cost together."""
        return self.total - self.spent

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a picture of what was spent over time; with a path (.svg, .png, .pdf) it is also kept there."""
        from plandp.report.budget_picture import draw_budget
        from plandp.report.saved import saved

        return saved(draw_budget(self), path)

    def __repr__(self) -> str:
        from plandp.report.ledger_table import dataset_text

        return dataset_text(self)

    def count(self, state: str) -> int:
        """Return how many reservations are in that state."""
        return sum(reservation.state == state for reservation in self.reservations)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "dataset": self.dataset,
            "total": write_fraction(self.total),
            "spent": write_fraction(self.spent),
            "left": write_fraction(self.left),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "person": self.person,
            "neighbours": self.neighbours,
            "privacy_unit": self.privacy_unit,
            "time": self.time.isoformat(),
            "reservations": [reservation.to_dict() for reservation in self.reservations],
        }


def status_of(chain: Sequence[Entry]) -> DatasetStatus:
    """Return the status that the entries of one dataset, in order, lead to."""
    registered = chain[0]
    assert registered.time is not None
    assert registered.neighbours is not None
    assert registered.privacy_unit is not None
    outcomes = {entry.reservation: entry for entry in chain if entry.reservation is not None}
    return DatasetStatus(
        dataset=registered.dataset,
        total=registered.rho,
        spent=chain[-1].spent,
        person=registered.person,
        neighbours=registered.neighbours,
        privacy_unit=registered.privacy_unit,
        time=registered.time,
        epsilon=registered.epsilon,
        delta=registered.delta,
        reservations=tuple(
            _reservation(entry, outcomes.get(entry.number)) for entry in chain if entry.kind == "reserve"
        ),
    )


def _reservation(reserved: Entry, outcome: Entry | None) -> ReservationStatus:
    assert reserved.time is not None
    assert reserved.host is not None
    assert reserved.pid is not None
    if outcome is not None:
        state = "committed" if outcome.kind == "commit" else "cancelled"
    else:
        alive = is_running(reserved.host, reserved.pid, reserved.process_start)
        elsewhere = reserved.pid != os.getpid()
        state = "running" if alive and (elsewhere or reserved.hash() in OPEN) else "interrupted"
    return ReservationStatus(
        number=reserved.number,
        rho=reserved.rho,
        state=state,
        time=reserved.time,
        host=reserved.host,
        pid=reserved.pid,
        paid=None if outcome is None else outcome.paid,
        what=None if outcome is None else outcome.what,
    )
