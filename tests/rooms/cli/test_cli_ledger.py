"""`plandp ledger`, and commands that pay from one: what is shown, what is refused, and that nothing is lost."""

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from told import CANARY, said

import plandp
from plandp.cli.main import main
from plandp.ledger.reservation import Reservation

pytest.importorskip("sqlalchemy")

CELLS = np.random.default_rng(2).normal([40, 60], [5, 9], (300, 2))
MEAN = ["mean", "survey.csv", "--bounds", "0:100", "--rho", "1/8"]
PAID = [*MEAN, "--ledger", "budget.sqlite", "--dataset", "survey"]
EVENTS = ["events", "visits.csv", "--person", "user", "--item", "page", "--items-file", "pages.txt", "--people", "300"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{CANARY}{place},{one},{two}" for place, (one, two) in enumerate(CELLS.tolist())]
    Path("survey.csv").write_text("\n".join(["name,a,b", *lines, ""]))
    Path("visits.csv").write_text("\n".join(["user,page", *(f"{CANARY}{place},home" for place in range(200)), ""]))
    Path("pages.txt").write_text("home\nhelp\n")


def done(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    code, out, err = said(arguments, capfd)
    assert (code, err) == (0, "")
    return out


def complaint(arguments: list[str], capfd: pytest.CaptureFixture[str], *, code: int = 2) -> str:
    got, out, err = said(arguments, capfd)
    assert got == code
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("plandp: ").rstrip("\n")


def create(capfd: pytest.CaptureFixture[str], *more: str, name: str = "survey", rho: str = "1") -> str:
    return done(["ledger", "create", "budget.sqlite", name, "--rho", rho, *more], capfd)


def test_create_says_what_was_made(capfd: pytest.CaptureFixture[str]) -> None:
    assert create(capfd) == ("Dataset survey: rho = 0 of 1 spent, 1 left\nprotects rows; neighbours: replace one row\n")
    out = done(
        ["ledger", "create", "budget.sqlite", "visits", "--epsilon", "1", "--delta", "1e-6", "--person", "user"], capfd
    )
    assert "protects people by user; neighbours: replace all events of one person" in out
    assert "rho = 0 of 0.0243559… spent" in out
    assert "at delta = 1e-06: epsilon = 1 in all, 0 spent, 1 left" in out


def test_releases_are_paid_and_shown_again(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd)
    create(capfd, "--person", "user", name="visits")
    first = done(PAID, capfd)
    kept = done([*PAID, "--json", "--out", "r.json"], capfd)
    events = [*EVENTS, "--rho", "1/4", "--ledger", "budget.sqlite", "--dataset", "visits", "--json"]
    visits = done(events, capfd)
    # every row of the table, and all but the note on text files below it
    assert first.startswith(done(["ledger", "release", "budget.sqlite", "survey", "2"], capfd).rstrip("\n")[:200])
    assert done(["ledger", "release", "budget.sqlite", "survey", "4", "--json"], capfd) == kept
    assert done(["ledger", "release", "budget.sqlite", "visits", "2", "--json"], capfd) == visits
    assert plandp.Ledger("budget.sqlite").release("survey", 4) == plandp.MeanRelease.from_json(kept)
    done(["ledger", "release", "budget.sqlite", "survey", "2", "--plot", "means.svg"], capfd)
    assert Path("means.svg").read_text().startswith("<?xml")


def test_show_lists_all_datasets(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd)
    create(capfd, "--person", "user", name="visits", rho="1/3")
    done(PAID, capfd)
    lines = done(["ledger", "show", "budget.sqlite"], capfd).splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["dataset", "protects", "total", "rho", "spent", "left", "releases", "interrupted", "running"],
        ["survey", "rows", "1", "0.125", "0.875", "1", "0", "0"],
        ["visits", "people", "by", "user", "0.333333…", "0", "0.333333…", "0", "0", "0"],
    ]
    shown = json.loads(done(["ledger", "show", "budget.sqlite", "--json"], capfd))
    assert [(one["dataset"], one["left"]) for one in shown] == [("survey", "7/8"), ("visits", "1/3")]


def test_show_of_one_dataset_lists_its_reservations(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd)
    done(PAID, capfd)
    complaint([*PAID, "--columns", "gone"], capfd)
    plandp.Ledger("budget.sqlite").reserve("survey", rho="1/2")
    out = done(["ledger", "show", "budget.sqlite", "survey"], capfd)
    lines = out.splitlines()
    assert lines[0] == "Dataset survey: rho = 0.625 of 1 spent, 0.375 left"
    assert lines[2].startswith("all that is spent, together: rho = 0.625 (zCDP), epsilon = ")
    assert lines[3].endswith("  what was released")
    assert lines[4].endswith("  plan, 300 × 3: name, a, b")
    assert lines[5].rstrip() == lines[5]
    assert "×" not in lines[5] + lines[6]
    assert [line.split()[:3] for line in lines[3:7]] == [
        ["number", "state", "rho"],
        ["2", "committed", "0.125"],
        ["4", "cancelled", "0.125"],
        ["6", "running", "0.5"],
    ]
    assert lines[7:] == [
        "committed: its release is stored",
        "running: its process runs now",
        "cancelled: nothing was read: given back",
    ]
    shown = json.loads(done(["ledger", "show", "budget.sqlite", "survey", "--json"], capfd))
    assert [one["state"] for one in shown["reservations"]] == ["committed", "cancelled", "running"]
    assert [one["what"] for one in shown["reservations"]] == ["plan, 300 × 3: name, a, b", None, None]


def test_history_lists_every_entry(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd)
    done(PAID, capfd)
    lines = done(["ledger", "history", "budget.sqlite", "survey"], capfd).splitlines()
    assert lines[0].split() == ["number", "entry", "rho", "spent", "time", "of", "hash"]
    assert [line.split()[:4] for line in lines[1:]] == [
        ["1", "register", "1", "0"],
        ["2", "reserve", "0.125", "0.125"],
        ["3", "commit", "0.125", "0.125"],
    ]
    entries = json.loads(done(["ledger", "history", "budget.sqlite", "survey", "--json"], capfd))
    assert [entry["kind"] for entry in entries] == ["register", "reserve", "commit"]
    assert all(line.split()[-1] == entry["hash"][:12] for line, entry in zip(lines[1:], entries, strict=True))


def test_verify_and_export(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd)
    release = done([*PAID, "--json"], capfd)
    out = done(["ledger", "verify", "budget.sqlite"], capfd)
    head = plandp.Ledger("budget.sqlite").history("survey")[-1].hash()
    assert out.splitlines()[:2] == ["As written: 3 entries, 1 releases.", f"  survey: last entry {head}"]
    assert json.loads(done(["ledger", "verify", "budget.sqlite", "--json"], capfd))["heads"] == {"survey": head}
    exported = json.loads(done(["ledger", "export", "budget.sqlite"], capfd))
    assert exported["datasets"][0]["releases"]["2"] == json.loads(release)
    assert done(["ledger", "export", "budget.sqlite", "--out", "all.json"], capfd) == ""
    assert json.loads(Path("all.json").read_text()) == exported
    assert "exists" in complaint(["ledger", "export", "budget.sqlite", "--out", "all.json"], capfd)


def test_damage_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    create(capfd)
    done(PAID, capfd)
    with sqlite3.connect("budget.sqlite") as connection:
        connection.execute("UPDATE plandp_entry SET content = replace(content, '1/8', '1/9') WHERE number = 2")
    connection.close()
    assert "entry 2 of dataset 'survey'" in complaint(["ledger", "verify", "budget.sqlite"], capfd, code=1)
    assert "entry 2 of dataset 'survey'" in complaint(["ledger", "show", "budget.sqlite"], capfd, code=1)


def test_the_budget_is_drawn(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd)
    done(PAID, capfd)
    for picture in ("budget.svg", "budget.png", "budget.pdf"):
        done(["ledger", "show", "budget.sqlite", "survey", "--plot", picture], capfd)
        assert Path(picture).stat().st_size > 5_000
    assert "DATASET: is missing" in complaint(["ledger", "show", "budget.sqlite", "--plot", "x.svg"], capfd)
    assert "--plot: the file must end in" in complaint(
        ["ledger", "show", "budget.sqlite", "survey", "--plot", "x.txt"], capfd
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "budget.sqlite", "survey", "--rho", "1"], "DATASET: 'survey' is registered already"),
        (["create", "budget.sqlite", "new"], "--rho: is missing; give --rho 0.5, or --epsilon 1 --delta 1e-6"),
        (["create", "budget.sqlite", "new", "--rho", "-1"], "--rho: must be a number from 1e-12 to 1e6"),
        (["create", "budget.sqlite", " ", "--rho", "1"], "DATASET: must be a name"),
        (["create", "budget.sqlite", "new", "--rho", "1", "--person", ""], "--person: must be the label"),
        (["create", "mysql://x/y", "new", "--rho", "1"], "LEDGER: must be the path of a file or a URL"),
        (["show", "gone.sqlite"], "LEDGER: there is none at"),
        (["show", "survey.csv"], "LEDGER: "),
        (["show", "budget.sqlite", "gone"], "DATASET: 'gone' is not registered in this ledger (there are: 'survey')"),
        (["history", "budget.sqlite", "gone"], "DATASET: 'gone' is not registered"),
        (
            ["release", "budget.sqlite", "survey", "7"],
            "NUMBER: 7 is no reservation of 'survey' with a release; `plandp ledger show` lists the numbers",
        ),
        (["release", "budget.sqlite", "survey", "x"], "NUMBER: 'x' is not a whole number"),
        (["verify", "gone.sqlite"], "LEDGER: there is none at"),
        (["export", "gone.sqlite"], "LEDGER: there is none at"),
    ],
)
def test_refusals_are_in_the_words_of_the_command(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    create(capfd)
    told = complaint(["ledger", *arguments], capfd)
    assert told.startswith(message)
    assert "register(" not in told
    assert not Path("gone.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        ([*MEAN, "--ledger", "budget.sqlite"], "--dataset: is missing", 2),
        ([*MEAN, "--dataset", "survey"], "--ledger: is missing", 2),
        ([*MEAN, "--ledger", "gone.sqlite", "--dataset", "survey"], "--ledger: there is none at", 2),
        ([*MEAN, "--ledger", "budget.sqlite", "--dataset", "gone"], "--dataset: 'gone' is not registered", 2),
        ([*PAID, "--rho", "2"], "dataset 'survey' has rho = 1 left of 1, and 2 was asked for; nothing was read", 3),
        ([*PAID, "--rho", "9/8"], "dataset 'survey' has rho = 1 left of 1, and 1.125 was asked for; nothing was", 3),
        ([*MEAN, "--rho", "left"], "--rho: left is for a budget that a ledger keeps", 2),
        ([*EVENTS, "--rho", "1", "--ledger", "budget.sqlite", "--dataset", "survey"], "--dataset: 'survey' is", 2),
        ([*PAID, "--columns", "gone"], "--columns: the data has no column 'gone'", 2),
    ],
)
def test_releases_that_cannot_be_paid_cost_nothing(
    arguments: list[str], message: str, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    create(capfd)
    assert complaint(arguments, capfd, code=code).startswith(message)
    assert plandp.Ledger("budget.sqlite").status("survey").spent == 0


def test_all_that_is_left_can_be_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    done(["ledger", "create", "budget.sqlite", "survey", "--epsilon", "1", "--delta", "1e-6"], capfd)
    done([*PAID, "--rho", "0.001"], capfd)
    told = complaint([*PAID, "--rho", "0.0233560"], capfd, code=3)
    assert told.startswith("dataset 'survey' has rho = 0.0233559… left of 0.0243559…, and 0.023356 was asked for;")
    assert told.endswith("nothing was read. Ask for less, or for all that is left: --rho left")
    release = plandp.MeanRelease.from_json(done([*PAID, "--rho", "left", "--json"], capfd))
    status = plandp.Ledger("budget.sqlite").status("survey")
    assert (status.left, status.spent) == (0, status.total)
    assert release.receipt.rho == status.total - Fraction(1, 1000)
    assert complaint([*PAID, "--rho", "left"], capfd, code=3) == "dataset 'survey' has nothing left; nothing was read"


def test_what_is_left_and_what_was_asked_for_never_look_alike() -> None:
    ledger = plandp.Ledger("budget.sqlite")
    ledger.register("survey", rho=1)
    ledger.reserve("survey", rho=Fraction(2, 3))
    for asked in (Fraction(1, 3) + Fraction(1, 10**9), "0.333334"):
        with pytest.raises(plandp.BudgetExceeded) as refused:
            ledger.reserve("survey", rho=asked)
        found = re.fullmatch(r".* has rho = ([\d.]+)… left of 1, and ([\d.]+)…? was asked .*", str(refused.value))
        assert found is not None
        assert Fraction(found[1]) <= Fraction(1, 3) < Fraction(found[2])
    ledger.reserve("survey", rho=found[1])  # what is said to be left can be had


def test_events_are_told_apart_in_the_list(capfd: pytest.CaptureFixture[str]) -> None:
    create(capfd, "--person", "user", name="visits")
    out = done([*EVENTS, "--rho", "1/4", "--ledger", "budget.sqlite", "--dataset", "visits"], capfd)
    assert out.split()[0] == "item"
    assert "binary, 300 × 2: home, help" in done(["ledger", "show", "budget.sqlite", "visits"], capfd)


def unable(*_: object, **__: object) -> None:
    raise plandp.LedgerUnavailable("the ledger cannot be used: the disk is full")


@pytest.mark.parametrize("output", [[], ["--json"], ["--out", "r.json", "--json"]])
def test_a_release_that_the_ledger_cannot_store_is_shown_all_the_same(
    output: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    create(capfd)
    monkeypatch.setattr("plandp.ledger.chain.append_commit", unable)
    code, out, err = said([*PAID, *output], capfd)
    assert code == 1
    assert err.startswith("plandp: the ledger cannot be used: the disk is full; rho = 1/8 of dataset 'survey' stays")
    assert "the release of dataset 'survey' was shown, and kept as asked: the ledger lacks it" in err
    if "--json" in output:
        release = plandp.MeanRelease.from_json(out)
        assert release.receipt.rho == Fraction(1, 8)
        assert "--out" not in output or plandp.MeanRelease.from_json(Path("r.json").read_text()) == release
    else:
        assert "estimate" in out
    assert plandp.Ledger("budget.sqlite").status("survey").spent == Fraction(1, 8)


def test_ctrl_c_says_what_was_spent(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    create(capfd)
    with monkeypatch.context() as patched:
        patched.setattr("plandp.curator.open_rows", stop)
        told = complaint(PAID, capfd, code=130)
        assert told == "stopped; nothing of dataset 'survey' was read or spent"
    with monkeypatch.context() as patched:
        patched.setattr(Reservation, "commit", stop)
        told = complaint(PAID, capfd, code=130)
        assert told.startswith("stopped; rho = 1/8 of dataset 'survey' stays spent")
    with monkeypatch.context() as patched:
        patched.setattr("plandp.cli.release_output.release_text", stop)
        told = complaint(PAID, capfd, code=130)
        assert told.startswith(
            "stopped; rho = 1/8 of dataset 'survey' is spent, and the release is stored in the ledger"
        )
    assert plandp.Ledger("budget.sqlite").status("survey").spent == Fraction(1, 4)


class FullOutput:
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None: ...


def test_full_standard_output_says_that_the_ledger_has_the_release(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    create(capfd)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", FullOutput())
        told = complaint(PAID, capfd, code=1)
    assert "the release is stored in the ledger, and `plandp ledger release` shows it again" in told
    assert "estimate" in done(["ledger", "release", "budget.sqlite", "survey", "2"], capfd)


def test_notes_of_others_are_not_shown(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object, **__: object) -> None:
        error = ValueError(CANARY)
        error.add_note(CANARY)
        raise error

    monkeypatch.setattr(plandp, "mean", fail)
    assert CANARY not in complaint(MEAN, capfd, code=1)


@pytest.mark.parametrize("part", [[], ["create"], ["show"], ["history"], ["release"], ["verify"], ["export"]])
def test_help_tells_what_each_part_does(part: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["ledger", *part, "--help"])
    assert stopped.value.code == 0
    out = capfd.readouterr().out
    assert "LEDGER" in out
    if not part:
        assert "exit codes: 0 done; 1 failed" in out
        assert all(len(line) <= 80 for line in out.splitlines())


def test_an_action_is_needed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["ledger"])
    assert stopped.value.code == 2
    assert "ACTION" in capfd.readouterr().err
