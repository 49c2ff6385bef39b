"""The audit has teeth: planted faults are found, each by name.

The short version asks the exact parts alone, table by table, until one shows the fault; the long one audits as anybody
would, in a fresh process per fault: `python -m plandp_lab.audit_teeth`.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from plandp.audit.neighbours import Tally, attack
from plandp.audit.plan import AuditPlan
from plandp.audit.refusals import Refusals
from plandp.audit.row_by_row import added_otherwise
from plandp.audit.worst_tables import Stage, stages
from plandp_lab import audit_teeth
from plandp_lab.planted_faults import FAULTS, planted

RHO = Fraction(1, 2)
PLAN = AuditPlan(method="plan", rho=RHO, seconds=0.0, false_alarm=0.0)
IN_OTHER_METHODS = {
    "rank sensitivity ½: choices": "plan-classic",
    "rank sensitivity ½: halvings": "iome",
    "choices too sure by 5%": "plan-classic",
}
NAMED_IN_THE_ISSUE = (
    "sensitivity halved",
    "√2·C where 2C is needed",
    "noise drawn twice from the same bits after fork",
    "rank sensitivity ½",
    "forgotten truncation",
    "float sum instead of integer sum",
    "data-dependent bound",
    "budget divided by 3 instead of 9",
    "unpaid draw",
    "NaN that raises",
)
ELSEWHERE = {"rows read before arguments are checked"}
EXACT = [name for name, fault in FAULTS.items() if fault.exact and name not in ELSEWHERE]


ONLY_IN = {"sampled rows counted twice": "n = 9000", "C where √2·C is needed: squares": "n = 428, d = 3"}


def few_stages(name: str) -> list[Stage]:
    """The tables that are quick to release and can show the fault."""
    every = stages(replace(PLAN, method=IN_OTHER_METHODS.get(name, PLAN.method)))
    if name in ONLY_IN:
        return [stage for stage in every if ONLY_IN[name] in stage.name]
    kinds = {"items": ("binary", "nonnegative"), "events": ("events",)}.get(name.split(" ")[-1], ("mean",))
    quick = [stage for stage in every if "n = 9000" not in stage.name]
    return [stage for stage in quick if any(kind in stage.name for kind in kinds)]


def shown_by(name: str) -> list[str]:
    """What the exact parts say on the first table that shows something."""
    for number in (0, 1):  # in round 0 only the most telling rows are tried
        for stage in few_stages(name):
            tally = Tally()
            attack(stage, number, RHO, tally)
            if tally.problems:
                return [problem.text for problem in tally.problems.values()]
            if number == 0 and stage.alone and (found := added_otherwise(stage, 0)[0]):
                return found
    return []


def test_the_faults_of_the_issue_are_all_there() -> None:
    assert [name for name in NAMED_IN_THE_ISSUE if not any(fault.startswith(name) for fault in FAULTS)] == []


@pytest.mark.parametrize("name", EXACT)
def test_a_planted_fault_is_shown_by_an_exact_part(name: str) -> None:
    with planted(name):
        assert shown_by(name)


def test_rows_read_too_early_are_shown_by_the_errors_part() -> None:
    with planted("rows read before arguments are checked"):
        assert Refusals().run(PLAN).broken


def test_a_fault_is_gone_after_the_block() -> None:
    with planted("sensitivity halved: numbers"):
        pass
    stage = few_stages("sensitivity halved: numbers")[0]
    tally = Tally()
    attack(stage, 0, RHO, tally)
    assert not tally.problems


def test_a_fault_whose_line_was_rewritten_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS["a third of the price"]
    monkeypatch.setattr("inspect.getsource", lambda function: "def release(): pass")
    with pytest.raises(ValueError, match="no longer in the source"), fault.planted():
        pass


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_an_audit_finds_every_planted_fault(name: str) -> None:
    # within the default time of an audit; it stops at the first part that finds something
    assert audit_teeth.main(["--faults", name, "--minutes", "5"]) == 0


@pytest.mark.long
def test_the_library_as_it_is_raises_no_alarm_in_ten_audits() -> None:
    # fails by chance with probability 10 · 10^-4 at most
    assert audit_teeth.main(["--audits", "10", "--minutes", "0.5"]) == 0
