"""What a ledger lets through and what it refuses, on both databases."""

import json
import re
from fractions import Fraction

import pytest

from plandp import ArgumentError, BudgetExceeded, Ledger
from plandp.ledger.what import what_of


def spend(ledger, release, rho="1/8", dataset="survey"):
    with ledger.reserve(dataset, rho=rho) as reservation:
        reservation.reading()
        reservation.commit(release)
    return reservation.number


def test_a_new_dataset_has_spent_nothing(place):
    status = Ledger(place).register("survey", rho="1/2", person="user")
    assert (status.total, status.spent, status.left) == (Fraction(1, 2), 0, Fraction(1, 2))
    assert (status.person, status.privacy_unit) == ("user", "person")
    assert status.neighbours == "replace all events of one person"
    assert status.reservations == ()


def test_a_total_in_epsilon_and_delta_is_the_rho_that_keeps_it(place):
    from plandp.terms.zcdp import rho_of

    assert Ledger(place).register("survey", epsilon=1, delta=1e-6).total == rho_of(1.0, 1e-6)


def test_a_commit_is_spent_and_its_release_can_be_shown_again(ledger, release):
    number = spend(ledger, release)
    status = ledger.status("survey")
    assert (status.spent, status.left) == (Fraction(1, 8), Fraction(7, 8))
    assert [(one.number, one.state, one.paid) for one in status.reservations] == [(number, "committed", Fraction(1, 8))]
    assert ledger.release("survey", number).to_json() == release.to_json()
    assert [entry.kind for entry in ledger.history("survey")] == ["register", "reserve", "commit"]


def test_what_was_reserved_is_spent_even_if_the_release_cost_less(ledger, release):
    number = spend(ledger, release, rho="1/4")
    assert ledger.status("survey").spent == Fraction(1, 4)
    assert ledger.release("survey", number).receipt.rho == Fraction(1, 8)


def test_a_block_in_which_nothing_was_read_gives_its_budget_back(ledger):
    with ledger.reserve("survey", rho=1):
        assert ledger.status("survey").left == 0
    status = ledger.status("survey")
    assert (status.left, status.count("cancelled")) == (1, 1)
    ledger.reserve("survey", rho=1)


def test_a_failure_before_reading_gives_back_and_after_reading_does_not(ledger):
    with pytest.raises(ZeroDivisionError), ledger.reserve("survey", rho="1/2"):
        raise ZeroDivisionError
    assert ledger.status("survey").spent == 0
    reservation = ledger.reserve("survey", rho="1/2")
    reservation.reading()
    with pytest.raises(ZeroDivisionError) as caught, reservation:
        raise ZeroDivisionError
    status = ledger.status("survey")
    assert (status.spent, status.reservations[-1].state) == (Fraction(1, 2), "interrupted")
    assert caught.value.__notes__ == [
        "rho = 1/2 of dataset 'survey' stays spent (entry 4 of its history): reading had begun"
    ]


def test_nothing_is_lent(ledger, release):
    spend(ledger, release, rho="3/4")
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve("survey", rho="0.2500001")
    assert str(caught.value) == (
        "dataset 'survey' has rho = 0.25 left of 1, and 0.2500001 was asked for; nothing was read.  Ask for less, or "
        "for all that is left: rho=ledger.status(dataset).left"
    )
    ledger.reserve("survey", rho="1/4")
    with pytest.raises(BudgetExceeded):
        ledger.reserve("survey", rho=1e-12)


def test_ten_tenths_are_one_exactly(ledger):
    # As floats they add up to 0.9999999999999999, and eleven of them would not be noticed to exceed by much.
    for _ in range(10):
        ledger.reserve("survey", rho=0.1)
    assert ledger.status("survey").left == 0
    with pytest.raises(BudgetExceeded):
        ledger.reserve("survey", rho=1e-12)


def test_three_thirds_are_one_exactly(ledger):
    for _ in range(3):
        ledger.reserve("survey", rho="1/3")
    assert ledger.status("survey").left == 0


def test_a_larger_excess_than_floats_can_tell_is_refused(place):
    ledger = Ledger(place)
    ledger.register("big", rho=1e6)
    ledger.reserve("big", rho="999999.999999999999")
    with pytest.raises(BudgetExceeded):
        ledger.reserve("big", rho="0.000000000001001")
    ledger.reserve("big", rho="0.000000000001")


def test_unlike_denominators_are_refused_before_they_are_unreadable(place):
    ledger = Ledger(place)
    ledger.register("big", rho=1e6)
    primes = [10**400 + 69, 10**401 + 123, 10**402 + 339]
    ledger.reserve("big", rho=Fraction(primes[0] - 1, primes[0]))
    ledger.reserve("big", rho=Fraction(primes[1] - 1, primes[1]))
    with pytest.raises(ArgumentError, match=r"^rho: has no denominator in common"):
        ledger.reserve("big", rho=Fraction(primes[2] - 1, primes[2]))
    assert ledger.reserve("big", rho=1).rho == 1
    ledger.verify()


def test_a_denominator_that_nobody_can_read_is_refused(file_ledger):
    giant = Fraction(1, 10**5000 + 1) + 2
    for ask in (lambda: file_ledger.register("other", rho=giant), lambda: file_ledger.reserve("survey", rho=giant)):
        with pytest.raises(ArgumentError, match=r"^rho: must have a denominator of at most 1,000 digits"):
            ask()


def test_datasets_do_not_share_budget(ledger, release):
    ledger.register("other", rho="1/8")
    spend(ledger, release, dataset="other")
    assert [(one.dataset, one.spent) for one in ledger.datasets()] == [("other", Fraction(1, 8)), ("survey", 0)]
    with pytest.raises(BudgetExceeded):
        ledger.reserve("other", rho="1/8")
    ledger.reserve("survey", rho=1)


def test_a_name_is_registered_once(ledger):
    with pytest.raises(ArgumentError, match=r"^dataset: 'survey' is registered already"):
        ledger.register("survey", rho=100)
    assert ledger.status("survey").total == 1


def test_an_unknown_dataset_is_refused_with_what_there_is(ledger):
    for ask in (ledger.status, ledger.history, lambda name: ledger.reserve(name, rho=1)):
        with pytest.raises(ArgumentError) as caught:
            ask("surveys")
        assert str(caught.value) == (
            "dataset: 'surveys' is not registered in this ledger (there are: 'survey'); its owner registers it once: "
            "Ledger(...).register(...), or: plandp ledger create"
        )


@pytest.mark.parametrize(("registered", "asked"), [(None, "user"), ("user", None), ("user", "account")])
def test_another_unit_is_refused(place, registered, asked):
    ledger = Ledger(place)
    ledger.register("survey", rho=1, person=registered)
    with pytest.raises(ArgumentError, match=r"^dataset: 'survey' is registered for .*, and this would be .* for "):
        ledger.reserve("survey", rho="1/8", person=asked)
    assert len(ledger.history("survey")) == 1
    ledger.reserve("survey", rho="1/8", person=registered)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"rho": "1/4"}, "cost rho = 1/4, and only 1/8 was reserved"),
        ({"insecure": True}, "was made with testing_seed"),
        ({"privacy_unit": "person"}, "protects another unit"),
        ({"neighbours": "add or remove one row"}, "protects another unit"),
    ],
)
def test_a_release_that_does_not_fit_is_not_stored_and_stays_spent(ledger, make_release, changed, problem):
    with ledger.reserve("survey", rho="1/8") as reservation:
        reservation.reading()
        with pytest.raises(ArgumentError) as caught:
            reservation.commit(make_release(**changed))
    assert caught.value.argument == "release"
    assert problem in str(caught.value)
    assert ledger.status("survey").spent == Fraction(1, 8)


def test_a_commit_may_be_tried_again_but_not_with_another_release(ledger, release, make_release):
    with ledger.reserve("survey", rho="1/4") as reservation:
        reservation.reading()
        reservation.commit(release)
        reservation.commit(release)
        with pytest.raises(ArgumentError, match=r"has its commit already"):
            reservation.commit(make_release("1/4"))
    assert len(ledger.history("survey")) == 3


def test_a_closed_reservation_allows_no_reading_and_no_commit(ledger, release):
    with ledger.reserve("survey", rho="1/8") as reservation:
        pass
    with pytest.raises(ArgumentError):
        reservation.reading()
    with pytest.raises(ArgumentError):
        reservation.commit(release)
    assert ledger.status("survey").spent == 0


@pytest.mark.parametrize("number", [1, 3, 4, 99, "2", None])
def test_only_reservations_with_a_release_have_one(ledger, release, number):
    spend(ledger, release)
    ledger.reserve("survey", rho="1/8")
    with pytest.raises(ArgumentError, match=r"^number: "):
        ledger.release("survey", number)


@pytest.mark.parametrize("name", ["", " survey", "a\nb", "a\0b", "x" * 201, "e\u0301", "\ud800", 7, None, b"survey"])
def test_names_that_could_be_mistaken_are_refused(file_ledger, name):
    for ask in (file_ledger.status, lambda name: file_ledger.register(name, rho=1)):
        with pytest.raises(ArgumentError, match=r"^dataset: must be a name"):
            ask(name)


def test_names_in_any_script_are_kept(ledger, release):
    for name in ("Übersicht 2026/Süd", "調査", 'O\'Hara "x"; --', "survey%s%(a)s"):
        ledger.register(name, rho=1, person="Person № 1")
        assert ledger.status(name).person == "Person № 1"
    assert len(ledger.datasets()) == 5
    ledger.verify()


def test_the_chain_says_only_what_is_public(ledger, release):
    """Commit and cancel have no time: how long a run took depends on the data.  Times are whole minutes."""
    spend(ledger, release)
    with ledger.reserve("survey", rho="1/8"):
        pass
    said = [set(entry.to_dict()) for entry in ledger.history("survey")]
    always = {"schema", "dataset", "number", "kind", "rho", "spent", "previous", "hash"}
    reserve = always | {"time", "host", "pid", "process_start"}
    assert said == [
        always | {"person", "neighbours", "privacy_unit", "time"},
        reserve,
        always | {"reservation", "paid", "release_hash", "what"},
        reserve,
        always | {"reservation"},
    ]
    # method, n × d and labels: public before a row was read
    assert ledger.history("survey")[2].what == what_of(release)
    times = [entry.to_dict()["time"] for entry in ledger.history("survey") if entry.time]
    assert [re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", time) is not None for time in times] == [True] * 3


def test_an_export_holds_everything(ledger, release):
    number = spend(ledger, release)
    exported = json.loads(json.dumps(ledger.export()))
    assert exported["schema"] == "plandp/ledger/1"
    (survey,) = exported["datasets"]
    assert survey["releases"] == {str(number): json.loads(release.to_json())}
    assert survey["entries"] == [entry.to_dict() for entry in ledger.history("survey")]


def test_verify_counts_what_it_has_seen(ledger, release):
    ledger.register("other", rho=1)
    spend(ledger, release)
    found = ledger.verify()
    assert (found.entries, found.releases) == (4, 1)
    assert found.heads == {name: ledger.history(name)[-1].hash() for name in ("other", "survey")}
    assert found.to_dict()["datasets"] == 2
