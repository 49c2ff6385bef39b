"""The whole audit and its command: how time and false alarms are divided, what is shown, and how it ends."""

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from plandp.audit import audit as running
from plandp.audit.audit import FALSE_ALARM, audit
from plandp.audit.finding import Finding
from plandp.audit.parts import PARTS, Share
from plandp.audit.plan import AuditPlan
from plandp.cli.main import main
from plandp.errors import ArgumentError


@dataclass
class FakePart:
    name: str
    broken: bool = False
    raises: bool = False
    plan: AuditPlan | None = None

    def run(self, plan: AuditPlan) -> Finding:
        self.plan = plan
        if self.raises:
            raise RuntimeError("a secret")
        return Finding(
            name=self.name,
            claim="nothing is lost",
            found="BROKEN: much" if self.broken else "nothing",
            broken=self.broken,
            detail="the first line\nthe second line",
            false_alarm=plan.false_alarm,
            runs=7,
        )


def shares(*parts: FakePart, **more: Any) -> tuple[Share, ...]:
    return tuple(Share(part=part, time=1.0, alarms=1.0, meaning="all is lost") for part in parts)


def test_time_and_false_alarms_are_divided() -> None:
    exact, other = FakePart("exact"), FakePart("other")
    parts = (
        Share(part=exact, time=3.0, alarms=0.0, meaning=""),
        Share(part=other, time=1.0, alarms=2.0, meaning=""),
    )
    report = audit(method="plan", rho="1/8", minutes=2.0, parts=parts)
    assert exact.plan is not None
    assert other.plan is not None
    assert exact.plan.seconds == pytest.approx(90.0, abs=5)
    assert other.plan.seconds == pytest.approx(120.0, abs=5)  # what the first did not use is left
    assert (exact.plan.false_alarm, other.plan.false_alarm) == (0.0, FALSE_ALARM)
    assert (exact.plan.rho, exact.plan.methods) == (Fraction(1, 8), ("plan",))
    assert report.false_alarm == FALSE_ALARM == 1e-4
    assert report.broken == ()


def test_false_alarms_of_all_parts_add_up_to_the_promise() -> None:
    total = sum(share.alarms for share in PARTS)
    assert sum(FALSE_ALARM * share.alarms / total for share in PARTS) == pytest.approx(1e-4)
    assert {share.part.name for share in PARTS if not share.alarms} == {
        "neighbours",
        "row by row",
        "mechanisms",
        "errors",
    }
    assert len({share.part.name for share in PARTS}) == len(PARTS)


def test_a_broken_part_is_loud() -> None:
    report = audit(parts=shares(FakePart("good"), FakePart("bad", broken=True)))
    text = str(report)
    assert report.broken == ("bad",)
    for words in ("BROKEN: bad.", "What it means: all is lost.", "the second line", "Do not release personal data"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 112


def test_a_part_that_raises_is_broken_and_its_message_is_not_shown() -> None:
    report = audit(parts=shares(FakePart("bad", raises=True)))
    assert report.broken == ("bad",)
    assert "raised RuntimeError" in str(report)
    assert "secret" not in report.to_json()


def test_the_report_shows_claims_findings_and_versions() -> None:
    report = audit(parts=shares(FakePart("good")))
    text = str(report)
    for words in ("nothing is lost", "holds", "at most 1.0e-04 per audit", "numpy", "cannot prove"):
        assert words in text
    assert "the second line" in report.details()
    read = json.loads(report.to_json())
    assert read["findings"][0]["name"] == "good"
    assert read["rho"] == "1/2"
    assert read["broken"] == []


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"method": "best"}, "method"),
        ({"rho": 0}, "rho"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": float("nan")}, "minutes"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        audit(**arguments, parts=())
    assert raised.value.argument == argument


# --- the command


def with_parts(monkeypatch: pytest.MonkeyPatch, *parts: FakePart) -> None:
    defaults = {**running.audit.__kwdefaults__, "parts": shares(*parts)}
    monkeypatch.setattr(running.audit, "__kwdefaults__", defaults)


def test_the_command_ends_with_0_when_nothing_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_parts(monkeypatch, FakePart("good"))
    assert main(["audit", "--minutes", "1", "--details"]) == 0
    shown = capsys.readouterr()
    assert "the second line" in shown.out
    assert "auditing: good" in shown.err


def test_the_command_ends_with_1_and_loudly_when_something_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_parts(monkeypatch, FakePart("good"), FakePart("bad", broken=True))
    assert main(["audit"]) == 1
    shown = capsys.readouterr()
    assert "!!!" in shown.out
    assert "THE AUDIT FOUND BROKEN PROMISES: bad" in shown.err


def test_json_is_all_that_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_parts(monkeypatch, FakePart("bad", broken=True))
    assert main(["audit", "--json", "--rho", "1/3", "--method", "gaussian"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert (read["broken"], read["rho"], read["method"]) == (["bad"], "1/3", "gaussian")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--method", "best"], "--method: must be one of"),
        (["--rho", "-1"], "--rho: must"),
        (["--minutes", "soon"], "--minutes: 'soon' is not a number"),
        (["--minutes", "0"], "--minutes: must be above 0"),
    ],
)
def test_wrong_options_are_told_in_a_line(given: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *given]) == 2
    assert words in capsys.readouterr().err


def test_everything_runs_once_and_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    # A correct library is called broken with probability 1e-4 at most.
    assert main(["audit", "--minutes", "0.01", "--method", "plan", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert [found["name"] for found in read["findings"]] == [share.part.name for share in PARTS]
    assert all(found["runs"] > 0 for found in read["findings"])
    assert 0 < read["false_alarm"] <= 1e-4
