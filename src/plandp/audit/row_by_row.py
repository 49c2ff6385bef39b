"""What a row adds to a query is a function of that row alone, to the last bit: exact, so without false alarms.

If it is, k · query(a table in which k rows occur equally often) = Σ query(a table of one of these rows alone), over
tables of the same size, in integers and given equal answers.  Sums of floats fail it: they round in company.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.neighbours import SEED
from plandp.audit.plan import AuditPlan
from plandp.audit.watching import SCRIPTS, same_answers, watched
from plandp.audit.worst_tables import Stage, stages
from plandp.data.open import open_rows
from plandp.mechanisms import clipped_sum, norm_cells
from plandp.mechanisms.recentred import Recentred
from plandp.noise import meter


@dataclass(frozen=True, kw_only=True)
class RowByRow:
    """Does every row add to every query what it adds alone?"""

    name: str = "row by row"

    def run(self, plan: AuditPlan) -> Finding:
        """Compare queries of mixed tables with queries of tables whose rows are all alike."""
        clock = Clock(seconds=plan.seconds)
        tested = [many_clipped_rows(plan.rho), *(stage for stage in stages(plan) if stage.alone)]
        problems: dict[str, None] = {}
        queries = runs = 0
        for number in clock.rounds():
            for stage in tested:
                if number and clock.left < 0:
                    break
                found, compared = added_otherwise(stage, number)
                problems.update(dict.fromkeys(found))
                queries, runs = queries + compared, runs + 1 + len(stage.alone)
        return Finding(
            name=self.name,
            claim="what a row adds to a query depends on no other row, to the last bit",
            found=f"BROKEN in {len(problems)} steps" if problems else f"{queries} queries are exact sums over rows",
            broken=bool(problems),
            detail="\n".join(problems) if problems else f"{runs} releases of tables of {len(tested)} kinds",
            false_alarm=0.0,
            runs=runs,
        )


def added_otherwise(stage: Stage, number: int) -> tuple[list[str], int]:
    """The steps of a stage whose queries are not sums over rows, and how many queries were compared."""
    name, script = SCRIPTS[number % len(SCRIPTS)]
    seed = SEED + 2 * number + 1
    together = watched(partial(stage.release, stage.together), seed=seed, script=script)
    answers = same_answers(together)
    alone = [watched(partial(stage.release, table), seed=seed, script=answers) for table in stage.alone]
    where = f"{stage.name} ({name})"
    if any(run.raised or len(run.asked) != len(together.asked) for run in (together, *alone)):
        return [f"{where}: tables could not be compared, since values raise or decide what is asked"], 0
    found = []
    for place, asked in enumerate(together.asked):
        books = [[int(value) for value in run.asked[place].query.ravel().tolist()] for run in alone]
        mixed = [len(alone) * int(value) for value in asked.query.ravel().tolist()]
        added = [sum(values) for values in zip(*books, strict=True)]
        if added != mixed:
            off = max(abs(Fraction(a - b, len(alone))) for a, b in zip(added, mixed, strict=True))
            root = asked.squared_sensitivity**0.5
            found.append(
                f"{where}: the query of step {asked.step!r} is off by {float(off):.3g} ({float(off) / root:.2g} of its "
                "sensitivity) from the sum of what its rows add alone"
            )
    return found, len(together.asked)


MANY = 7 * 57_143
ALONG = np.array([0.61, 0.53, -0.47, 0.41, 0.37, -0.31, 0.23, 0.19])
"""Several columns: what floats lose in one of them may happen to be what they lose row by row."""


def many_clipped_rows(rho: Fraction) -> Stage:
    """So many rows, most of them clipped, that their sum does not fit into floats; the mechanism alone."""

    def release(table: Any) -> Any:
        d = len(ALONG)
        cells = norm_cells.NormCells.around(1.0, lowest=0.9, highest=4096.0, d=d, points=1 << 23)
        reach = np.full(d, 4096.0)
        view = Recentred(low=-reach, high=reach, missing=None, center=np.zeros(d), factor=np.ones(d))
        totals = norm_cells.cell_totals(open_rows(table), view, cells)
        radius = int(np.searchsorted(cells.edges, 1024.0))
        clipped_sum.private_clipped_sum(totals, radius, meter.open_door(reserved=rho), rho=rho, step="sum")

    lone = np.array([[1100.1], [-1370.3], [1900.7], [0.3], [2300.9], [1213.3], [3333.3]]) * ALONG
    return Stage(
        name=f"clipped sum, n = {MANY}, d = {len(ALONG)}",
        release=release,
        tables=(),
        rows=(),
        alone=tuple(np.broadcast_to(row, (MANY, len(ALONG))) for row in lone),
        together=np.tile(lone, (MANY // 7, 1)),
    )
