"""The audit reaches every query of plan-classic, finds nothing in it as it is, and finds the mistakes of its model."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plandp.audit.neighbours import Tally, attack
from plandp.audit.plan import AuditPlan
from plandp.audit.worst_tables import Stage, stages
from plandp.classic import pairs
from plandp.data.rows import Rows

RHO = Fraction(1, 2)
STAGES = {
    stage.name: stage for stage in stages(AuditPlan(method="plan-classic", rho=RHO, seconds=0.0, false_alarm=1e-5))
}
TABLE = STAGES["mean, plan-classic, n = 12, d = 3"]
ITEMS = STAGES["mean, binary, n = 12, d = 12, plan-classic, error_norm"]


def found(stage: Stage) -> tuple[dict[str, Fraction], set[str]]:
    """The furthest that each step moved over two rounds, and the kinds of problems."""
    tally = Tally()
    for number in (0, 1):
        attack(stage, number, RHO, tally)
    return tally.furthest, {problem.kind for problem in tally.problems.values()}


@pytest.mark.parametrize(
    ("stage", "steps"), [(TABLE, ["center", "spread"]), (ITEMS, ["spread"])], ids=["table", "items"]
)
def test_every_query_is_reached_and_nothing_is_found(stage: Stage, steps: list[str]) -> None:
    furthest, problems = found(stage)
    assert problems == set()
    assert set(furthest) == {*steps, "radius", "sum"}
    assert all(furthest[step] == 1 for step in steps)


def test_pairs_formed_after_sorting_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    group_sums = pairs.group_sums

    class Sorted:
        """The rows with every column sorted, as the research code for the paper leaves them."""

        def __init__(self, rows: Rows) -> None:
            self.rows = rows
            self.n, self.d = rows.n, rows.d

        def blocks(self) -> Any:
            yield np.sort(np.concatenate(list(self.rows.blocks())), axis=0)

    monkeypatch.setattr(pairs, "group_sums", lambda rows, *rest: group_sums(Sorted(rows), *rest))  # type: ignore[arg-type]
    assert found(TABLE)[1] == {"sensitivity"}
