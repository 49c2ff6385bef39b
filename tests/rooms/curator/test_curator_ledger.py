"""Releases paid from a ledger: reserved before a row value is read, stored when made, and given back only unread."""

import signal
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse

import plandp
from plandp import curator
from plandp.ledger.reservation import Reservation
from plandp.methods import GAUSSIAN, PLAN, Estimator

pytest.importorskip("sqlalchemy")

TABLE = np.random.default_rng(3).normal([40, 60], [5, 9], (400, 2))
ITEMS = scipy.sparse.random_array((300, 5), density=0.3, rng=np.random.default_rng(4), format="csr")
VISITS = pandas.DataFrame(
    {"user": range(300), "page": ["home", "help", "gone"] * 100, "seconds": [1.0, 2.0, 3.0] * 100}
)
RHO = Fraction(1, 8)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> plandp.Ledger:
    monkeypatch.chdir(tmp_path)
    kept = plandp.Ledger("budget.sqlite")
    kept.register("rows", rho=1)
    kept.register("people", rho=1, person="user")
    return kept


def of_rows(ledger: object = "budget.sqlite", **changed: Any) -> plandp.MeanRelease:
    asked = {"data": TABLE, "bounds": (0, 100), "rho": RHO, "ledger": ledger, "dataset": "rows"} | changed
    return plandp.mean(asked.pop("data"), **asked)


def of_people(ledger: object = "budget.sqlite", **changed: Any) -> plandp.MeanRelease:
    asked = {
        "table": VISITS,
        "person": "user",
        "item": "page",
        "items": ["home", "help"],
        "people": 300,
        "rho": RHO,
        "ledger": ledger,
        "dataset": "people",
    } | changed
    return plandp.mean_of_events(asked.pop("table"), **asked)


def kinds(ledger: plandp.Ledger, dataset: str = "rows") -> list[str]:
    return [entry.kind for entry in ledger.history(dataset)]


def states(ledger: plandp.Ledger, dataset: str = "rows") -> list[str]:
    return [one.state for one in ledger.status(dataset).reservations]


def notes(error: BaseException) -> str:
    return "; ".join(getattr(error, "__notes__", ()))


@pytest.mark.parametrize("given", ["ledger", "path", "text"])
def test_a_release_is_paid_and_stored(ledger: plandp.Ledger, given: str) -> None:
    named = {"ledger": ledger, "path": Path("budget.sqlite"), "text": "budget.sqlite"}[given]
    release = of_rows(named)
    assert kinds(ledger) == ["register", "reserve", "commit"]
    assert ledger.status("rows").spent == release.receipt.rho == RHO
    assert ledger.release("rows", 2) == release


def test_every_kind_of_release_is_paid(ledger: plandp.Ledger) -> None:
    pandas.DataFrame(TABLE, columns=["a", "b"]).to_csv("rows.csv", index=False)
    VISITS.to_csv("visits.csv", index=False)
    releases = [
        of_rows(data=ITEMS, kind="binary", bounds=None),
        of_rows(data=ITEMS, kind="nonnegative", bounds=(0, 5)),
        of_rows(data="rows.csv", method="gaussian"),
        of_rows(epsilon=0.5, rho=None, delta=1e-6),
        of_people(),
        of_people(measure="seconds", bounds=(0, 9)),
        of_people(table="visits.csv", measure="count", bounds=(0, 9)),
    ]
    assert ledger.status("rows").spent == sum(release.receipt.rho for release in releases[:4])
    assert ledger.status("people").spent == 3 * RHO
    assert states(ledger) == ["committed"] * 4
    assert ledger.verify().releases == 7
    for place, release in enumerate(releases[:4]):
        assert ledger.release("rows", 2 * place + 2) == release
        assert release.receipt.neighbours == ledger.status("rows").neighbours


def test_without_a_ledger_nothing_is_kept(ledger: plandp.Ledger) -> None:
    of_rows(ledger=None, dataset=None)
    assert kinds(ledger) == ["register"]


def test_both_or_neither(ledger: plandp.Ledger) -> None:
    for release in (of_rows, of_people):
        with pytest.raises(plandp.ArgumentError, match=r"^ledger: is missing"):
            release(ledger=None)
        with pytest.raises(plandp.ArgumentError, match=r"^dataset: is missing"):
            release(dataset=None)
    assert kinds(ledger) == kinds(ledger, "people") == ["register"]


def test_a_testing_seed_is_refused(ledger: plandp.Ledger) -> None:
    for release in (of_rows, of_people):
        with pytest.raises(plandp.ArgumentError, match=r"^testing_seed: protects nobody"):
            release(testing_seed=1)
    assert kinds(ledger) == kinds(ledger, "people") == ["register"]


def test_the_unit_must_be_that_of_the_dataset(ledger: plandp.Ledger) -> None:
    ledger.register("others", rho=1, person="customer")
    for release in (
        lambda: of_rows(dataset="people"),
        lambda: of_people(dataset="rows"),
        lambda: of_people(dataset="others"),
    ):
        with pytest.raises(plandp.ArgumentError, match=r"^dataset:.*registered for"):
            release()
    assert kinds(ledger) == kinds(ledger, "people") == kinds(ledger, "others") == ["register"]


def test_more_than_is_left_is_refused_before_anything_is_read(ledger: plandp.Ledger) -> None:
    of_rows(rho="7/8")
    with pytest.raises(plandp.BudgetExceeded, match=r"has rho = 0\.125 left of 1, and 0\.25 was asked for"):
        of_rows(rho="1/4", method=Estimator(name="x", plan=PLAN.plan, run=never))
    of_rows(rho="1/8")
    with pytest.raises(plandp.BudgetExceeded, match="0 left of 1"):
        of_rows(rho="1e-12")
    assert ledger.status("rows").left == 0


def never(*_: object) -> Any:
    pytest.fail("rows were read")


WRONG: list[dict[str, Any]] = [
    {"bounds": None},
    {"bounds": (100, 0)},
    {"bounds": {"gone": (0, 1)}},
    {"bounds": [(0, 1)] * 3},
    {"columns": [7]},
    {"columns": [7], "data": TABLE.tolist()},
    {"missing": 1e9},
    {"spread": -1},
    {"smallest_spread": 1e9},
    {"error_scale": [1, 2, 3]},
    {"data": "gone.csv"},
    {"data": "rows.csv", "bounds": {"a": (0, 1), "gone": (0, 1)}},
    {"data": "rows.csv", "missing": {"a": 1}},
    {"data": "rows.npy", "bounds": [(0, 1)] * 9},
    {"data": [["a"]]},
    {"data": ITEMS, "kind": "nonnegative", "bounds": (1, 2)},
    {"data": ITEMS, "kind": "binary", "bounds": (0, 2)},
    {"data": ITEMS, "kind": "binary", "bounds": None, "columns": [99]},
    {"data": "items.npz", "kind": "nonnegative", "bounds": (0, -1)},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_typo_costs_nothing(ledger: plandp.Ledger, wrong: dict[str, Any]) -> None:
    pandas.DataFrame(TABLE, columns=["a", "b"]).to_csv("rows.csv", index=False)
    np.save("rows.npy", TABLE)
    scipy.sparse.save_npz("items.npz", ITEMS)
    with pytest.raises(plandp.ArgumentError):
        of_rows(**wrong)
    assert ledger.status("rows").spent == 0
    assert kinds(ledger) in (["register"], ["register", "reserve", "cancel"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"item": "gone"},
        {"items": []},
        {"people": 0},
        {"measure": "page", "bounds": (0, 1)},
        {"measure": "count", "bounds": (1, 2)},
        {"table": "visits.csv", "measure": "count", "bounds": (1, 2)},
        {"error_scale": [1, 2, 3]},
        {"table": 7},
    ],
    ids=str,
)
def test_a_typo_about_events_costs_nothing(ledger: plandp.Ledger, wrong: dict[str, Any]) -> None:
    VISITS.to_csv("visits.csv", index=False)
    with pytest.raises(plandp.ArgumentError):
        of_people(**wrong)
    assert ledger.status("people").spent == 0


def test_budget_is_reserved_when_rows_are_opened_and_when_they_are_read(
    ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, list[str], Fraction]] = []

    def look(when: str) -> None:
        seen.append((when, states(ledger), ledger.status("rows").spent))

    def opened(*given: Any, **asked: Any) -> Any:
        look("opened")
        return usual(*given, **asked)

    def run(*given: Any) -> Any:
        look("read")
        return GAUSSIAN.run(*given)

    usual = curator.open_rows
    monkeypatch.setattr(curator, "open_rows", opened)
    of_rows(method=Estimator(name="gaussian", plan=GAUSSIAN.plan, run=run))
    assert seen == [("opened", ["running"], RHO), ("read", ["running"], RHO)]


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyboardInterrupt, SystemExit])
def test_a_run_that_is_stopped_while_reading_has_spent_its_budget_and_says_so(
    ledger: plandp.Ledger, kind: type[BaseException]
) -> None:
    def run(*_: object) -> Any:
        raise kind

    with pytest.raises(kind) as stopped:
        of_rows(method=Estimator(name="x", plan=PLAN.plan, run=run))
    assert notes(stopped.value).startswith("rho = 1/8 of dataset 'rows' stays spent")
    assert "reading had begun" in notes(stopped.value)
    assert kinds(ledger) == ["register", "reserve"]
    assert ledger.status("rows").spent == RHO


def test_a_file_that_is_too_short_is_found_before_reading_began(ledger: plandp.Ledger) -> None:
    np.save("rows.npy", TABLE)
    Path("rows.npy").write_bytes(Path("rows.npy").read_bytes()[:-100])
    with pytest.raises(plandp.ArgumentError, match=r"^data:.*damaged") as stopped:
        of_rows(data="rows.npy")
    assert notes(stopped.value) == ""
    assert ledger.status("rows").spent == 0


def test_a_damaged_file_is_found_after_reading_began(ledger: plandp.Ledger) -> None:
    np.savez_compressed("rows.npz", TABLE)
    whole = Path("rows.npz").read_bytes()
    middle = len(whole) // 2
    Path("rows.npz").write_bytes(whole[:middle] + bytes(40) + whole[middle + 40 :])
    with pytest.raises(plandp.ArgumentError, match=r"^data:.*damaged") as stopped:
        of_rows(data="rows.npz")
    assert "stays spent" in notes(stopped.value)
    assert ledger.status("rows").spent == RHO


def test_a_run_that_is_stopped_before_reading_has_spent_nothing_and_says_so(
    ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(curator, "open_rows", stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        of_rows()
    assert notes(stopped.value) == "nothing of dataset 'rows' was read or spent"
    assert kinds(ledger) == ["register", "reserve", "cancel"]


def test_ctrl_c_while_a_reservation_is_given_back_waits_until_that_is_done(
    ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_back = Reservation._cancel

    def stopped(reservation: Reservation) -> None:
        signal.raise_signal(signal.SIGINT)
        give_back(reservation)

    monkeypatch.setattr(Reservation, "_cancel", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        of_rows(columns=[7])
    assert caught.value.__notes__ == ["nothing of dataset 'rows' was read or spent"]
    assert ledger.status("rows").spent == 0


def test_what_is_not_given_back_is_not_said_to_be(ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def unable(*_: object) -> None:
        raise plandp.LedgerUnavailable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(curator, "open_rows", stopped)
        patched.setattr("plandp.ledger.chain.append_cancel", unable)
        with pytest.raises(KeyboardInterrupt) as caught:
            of_rows()
    (note,) = caught.value.__notes__
    assert note.startswith("rho = 1/8 of dataset 'rows' stays spent (entry 2 of its history): nothing was read, but")
    with monkeypatch.context() as patched:  # before Ctrl-C waits, or raised by another handler of signals
        patched.setattr(Reservation, "__exit__", stopped)
        with pytest.raises(KeyboardInterrupt) as caught:
            of_rows(columns=[7])
    assert caught.value.__notes__ == ["rho = 1/8 of dataset 'rows' stays spent (entry 3 of its history)"]
    with monkeypatch.context() as patched:  # an interruption of the very note that rows are read from here on
        patched.setattr(Reservation, "reading", stopped)
        with pytest.raises(KeyboardInterrupt) as caught:
            of_rows()
    assert caught.value.__notes__ == ["nothing of dataset 'rows' was read or spent"]
    assert ledger.status("rows").spent == 2 * RHO


def test_a_ledger_that_fails_while_reserving_may_have_spent(
    ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        raise plandp.LedgerUnavailable("the server is gone")

    monkeypatch.setattr(plandp.Ledger, "reserve", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        of_rows()
    assert caught.value.__notes__ == [
        "nothing of dataset 'rows' was read; the ledger failed, and shows when it is back whether rho = 1/8 is spent"
    ]


def test_ctrl_c_waits_until_the_ledger_is_done(ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal in the middle of `reserve` or `commit` is felt when the entry is whole and somebody holds it."""

    def with_signal(usual: Any) -> Any:
        def disturbed(*given: Any, **asked: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return usual(*given, **asked)

        return disturbed

    with monkeypatch.context() as patched:
        patched.setattr(plandp.Ledger, "reserve", with_signal(plandp.Ledger.reserve))
        with pytest.raises(KeyboardInterrupt) as stopped:
            of_rows()
    assert notes(stopped.value) == "nothing of dataset 'rows' was read or spent"
    assert kinds(ledger) == ["register", "reserve", "cancel"]
    with monkeypatch.context() as patched:
        patched.setattr(Reservation, "commit", with_signal(Reservation.commit))
        with pytest.raises(KeyboardInterrupt) as stopped:
            of_rows()
    assert notes(stopped.value).startswith("rho = 1/8 of dataset 'rows' is spent, and the release is stored")
    assert ledger.release("rows", 4).receipt.rho == RHO
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_release_that_cannot_be_stored_is_not_lost(ledger: plandp.Ledger) -> None:
    def lose(*given: Any) -> Any:
        Path("budget.sqlite").rename("gone.sqlite")
        return GAUSSIAN.run(*given)

    with pytest.raises(plandp.LedgerUnavailable, match="could not store the release: there is none") as failed:
        of_rows(method=Estimator(name="gaussian", plan=GAUSSIAN.plan, run=lose))
    assert failed.value.release.receipt.rho == RHO
    assert failed.value.__cause__ is None
    Path("gone.sqlite").rename("budget.sqlite")
    assert kinds(ledger) == ["register", "reserve"]
    assert ledger.status("rows").spent == RHO


@pytest.mark.parametrize("error", [plandp.LedgerUnavailable("the disk is full"), OSError("canary"), KeyError("canary")])
def test_whatever_fails_at_the_end_holds_the_release(
    ledger: plandp.Ledger, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def append(*_: object) -> None:
        raise error

    monkeypatch.setattr("plandp.ledger.chain.append_commit", append)
    with pytest.raises(plandp.LedgerUnavailable) as failed:
        of_rows()
    assert failed.value.release.receipt.rho == RHO
    assert "canary" not in str(failed.value)
    assert "stays spent" in notes(failed.value)
    assert ledger.status("rows").spent == RHO


def test_a_ledger_that_is_not_there_is_refused_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(plandp.ArgumentError, match=r"^ledger: there is none"):
        of_rows(method=Estimator(name="x", plan=PLAN.plan, run=never))
    plandp.Ledger("budget.sqlite").register("another", rho=1)
    with pytest.raises(plandp.ArgumentError, match=r"^dataset: 'rows' is not registered"):
        of_rows(method=Estimator(name="x", plan=PLAN.plan, run=never))
    assert Path("budget.sqlite").exists()


def test_threads_share_a_budget(ledger: plandp.Ledger) -> None:
    """Of nine threads that ask for an eighth each, eight get it; signals are the main thread's business."""
    refused: list[str] = []

    def release() -> None:
        try:
            of_rows(ledger, method="gaussian")
        except plandp.BudgetExceeded as error:
            refused.append(str(error))

    threads = [threading.Thread(target=release) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert states(ledger) == ["committed"] * 8
