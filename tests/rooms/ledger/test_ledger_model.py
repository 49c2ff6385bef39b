"""A ledger does what a simple model of it does, whatever the order of operations."""

import json
import shutil
import tempfile
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from plandp import ArgumentError, BudgetExceeded, Ledger, MeanRelease
from plandp.ledger import engines

NAMES = st.sampled_from(["a", "b", "A"])
PRICES = st.sampled_from([Fraction(1, 3), Fraction(1, 10), Fraction(2, 5), Fraction(1, 7), Fraction(1)])
PEOPLE = st.sampled_from([None, None, None, "user", "account"])
UNITS = {
    "row": {"privacy_unit": "row", "neighbours": "replace one row"},
    "person": {"privacy_unit": "person", "neighbours": "replace all events of one person"},
}


class Modelled:
    """A dataset in the model: its total, its unit, and a list of [ρ, state, release] by entry number."""

    def __init__(self, total, person):
        self.total, self.person = total, person
        self.entries, self.reservations = 1, {}

    @property
    def spent(self):
        return sum((rho for rho, state, _ in self.reservations.values() if state != "cancelled"), Fraction(0))


class LedgerMachine(RuleBasedStateMachine):
    """Runs operations on a ledger and on the model."""

    make_place = None
    releases = None
    reservations = Bundle("reservations")

    def __init__(self):
        super().__init__()
        self.place = self.make_place()
        self.ledger = Ledger(self.place)
        self.model = {}

    @rule(name=NAMES, total=PRICES, person=PEOPLE)
    def register(self, name, total, person):
        if name in self.model:
            with pytest.raises(ArgumentError, match="registered already"):
                self.ledger.register(name, rho=total, person=person)
        else:
            self.ledger.register(name, rho=total, person=person)
            self.model[name] = Modelled(total, person)

    @rule(target=reservations, name=NAMES, rho=PRICES, person=PEOPLE, own_unit=st.integers(0, 3))
    def reserve(self, name, rho, person, own_unit):
        known = self.model.get(name)
        if known is None:
            with pytest.raises(ArgumentError):
                self.ledger.reserve(name, rho=rho, person=person)
            return multiple()
        person = known.person if own_unit else person
        if person != known.person:
            with pytest.raises(ArgumentError, match="is registered for"):
                self.ledger.reserve(name, rho=rho, person=person)
            return multiple()
        if known.spent + rho > known.total:
            with pytest.raises(BudgetExceeded):
                self.ledger.reserve(name, rho=rho, person=person)
            return multiple()
        reservation = self.ledger.reserve(name, rho=rho, person=person)
        known.entries += 1
        assert (reservation.number, reservation.rho) == (known.entries, rho)
        known.reservations[reservation.number] = [rho, "unread", None]
        return reservation

    @rule(reservation=reservations)
    def read(self, reservation):
        held = self.model[reservation.dataset].reservations[reservation.number]
        if held[1] in ("unread", "read"):
            reservation.reading()
            held[1] = "read"
        else:
            with pytest.raises(ArgumentError):
                reservation.reading()

    @rule(reservation=reservations, price=PRICES, unit=st.sampled_from(["row", "person"]))
    def commit(self, reservation, price, unit):
        known = self.model[reservation.dataset]
        held = known.reservations[reservation.number]
        release = self.releases[price, unit]
        fits = price <= held[0] and (unit == "person") == (known.person is not None)
        if fits and (held[1] in ("unread", "read") or (held[1] == "committed" and held[2] == (price, unit))):
            reservation.commit(release)
            known.entries += held[1] != "committed"
            held[1:] = ["committed", (price, unit)]
        else:
            with pytest.raises(ArgumentError):
                reservation.commit(release)

    @rule(reservation=consumes(reservations), fails=st.booleans())
    def leave(self, reservation, fails):
        known = self.model[reservation.dataset]
        held = known.reservations[reservation.number]
        with suppress(ZeroDivisionError), reservation:
            if fails:
                raise ZeroDivisionError
        if held[1] == "unread":
            held[1] = "cancelled"
            known.entries += 1
        elif held[1] == "read":
            held[1] = "interrupted"

    @rule()
    def open_again(self):
        self.ledger = Ledger(self.place)

    @invariant()
    def agrees(self):
        if not self.model:
            return
        found = {status.dataset: status for status in self.ledger.datasets()}
        assert set(found) == set(self.model)
        for name, known in self.model.items():
            status = found[name]
            assert (status.total, status.spent, status.person) == (known.total, known.spent, known.person)
            assert status.spent <= status.total
            assert len(self.ledger.history(name)) == known.entries
            states = {number: state for number, (_, state, _) in known.reservations.items()}
            shown = {number: "running" if state in ("unread", "read") else state for number, state in states.items()}
            assert {one.number: one.state for one in status.reservations} == shown

    def teardown(self):
        if not self.model:
            return
        self.ledger.verify()
        for name, known in self.model.items():
            for number, (_, _, stored) in known.reservations.items():
                if stored is not None:
                    assert self.ledger.release(name, number).to_json() == self.releases[stored].to_json()


@pytest.fixture(scope="module")
def releases(make_release):
    """A release for every price and unit."""
    prices = [Fraction(1, 3), Fraction(1, 10), Fraction(2, 5), Fraction(1, 7), Fraction(1)]
    made = {price: json.loads(make_release(price).to_json()) for price in prices}
    return {
        (price, unit): MeanRelease.from_json(json.dumps(made[price] | {"receipt": made[price]["receipt"] | words}))
        for price in prices
        for unit, words in UNITS.items()
    }


def run(make, releases, *, examples):
    machine = type("Machine", (LedgerMachine,), {"make_place": staticmethod(make), "releases": releases})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_an_sqlite_ledger_does_what_the_model_does(releases, monkeypatch):
    # The model asks whether entries are right, not whether they outlive a power cut.
    quick = tuple(setting.replace("synchronous = EXTRA", "synchronous = OFF") for setting in engines._SQLITE_SETTINGS)
    monkeypatch.setattr(engines, "_SQLITE_SETTINGS", quick)
    folder = Path(tempfile.mkdtemp())
    try:
        run(lambda: tempfile.mkdtemp(dir=folder) + "/budget.sqlite", releases, examples=25)
    finally:
        shutil.rmtree(folder)


def test_a_postgresql_ledger_does_what_the_model_does(releases, new_database):
    run(new_database, releases, examples=4)
