"""A verdict follows from the medians: yes where a claim holds, NO where it does not, and nothing without runs."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2
from small_scale import SMALL

from plandp_lab.reproduce.claims import Between, Crossing, Grows, Judge
from plandp_lab.reproduce.entrants import TRUE_MEAN
from plandp_lab.reproduce.exhibits import all_exhibits
from plandp_lab.reproduce.panels import Measured, panel_b
from plandp_lab.reproduce.reading import compared, read_results
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.scale import FULL
from plandp_lab.reproduce.variance_table import floor

PANEL = panel_b(FULL)


def measured(plan: Callable[[float], float], *, iome: float = 1.0, runs: int = 3) -> Measured:
    """Errors of plan as a function of α, with one wild run that medians do not see."""
    records = [
        {
            "cell": point.cell.key,
            "entrant": entrant,
            "run": run,
            "errors": {TRUE_MEAN: error * (1000 if run == 0 else 1)},
            "seconds": 0.0,
        }
        for point in PANEL.points
        for entrant, error in (("plan", plan(point.x)), ("iome", iome))
        for run in range(runs)
    ]
    return Measured(PANEL, Results(records), TRUE_MEAN)


@pytest.mark.parametrize(
    ("judge", "yes", "no"),
    [
        (Between(other="iome", most=1.0, low=1.01), lambda a: 0.99 if a > 1 else 9.0, lambda a: 1.01),
        (Between(other="iome", least=0.8, most=1.25), lambda a: 1.2, lambda a: 1.3 if a == 2 else 1.0),
        (Between(other="their PLAN", most=1.0), lambda a: 0.01, lambda a: 100.0),
        (Grows(other="iome"), lambda a: 1 / (1 + a), lambda a: 1 + a),
        (Grows(other="iome"), lambda a: 1 / (1 + a), lambda a: 0.1 if a == 1 else 1 / (1 + a)),
        (Grows(other="iome", falls=True), lambda a: 1 + a, lambda a: 1 / (1 + a)),
        (Crossing(other="iome"), lambda a: 0.5 if a >= 0.5 else 2.0, lambda a: 0.5 if a >= 2 else 2.0),
    ],
)
def test_a_judge_tells_yes_from_no(judge: Judge, yes: Callable[[float], float], no: Callable[[float], float]) -> None:
    assert judge(measured(yes), "plan").holds is True
    assert judge(measured(no), "plan").holds is False
    assert judge(Measured(PANEL, Results([]), TRUE_MEAN), "plan").holds is None


def test_a_verdict_shows_what_it_was_judged_by() -> None:
    verdict = Between(other="iome", most=1.0)(measured(lambda a: 0.5 if a < 2 else 2.0), "plan")
    assert str(verdict) == "plan: NO (12 of 15 cells; 0.5 to 2 times iome)"


def test_every_claim_of_every_exhibit_can_be_judged_without_results() -> None:
    for exhibit in all_exhibits(SMALL, None):
        shown = exhibit.show(Results([]))
        for claim in shown.claims:
            assert claim.endswith(("not measured", "yes")), claim


def test_the_reading_names_wins_losses_and_breakdowns() -> None:
    exhibits = [exhibit for exhibit in all_exhibits(FULL, None) if exhibit.name == "gaussian"]
    medians = {"plan": 1.0, "plan-classic": 9.0, "iome": 0.5, "iome as published": 0.25, "oracle": 0.8}
    records = [
        {"cell": point.cell.key, "entrant": entrant, "run": 0, "errors": {"to the empirical mean": error}, "seconds": 0}
        for point in exhibits[0].panels[2].points[-1:]
        for entrant, error in medians.items()
    ]
    results = Results(records)
    (cell,) = compared(exhibits, results)
    assert cell.theirs == 6.86908  # C, d = 1024, ρ = .125: the authors' code run again
    text = "\n".join(read_results(exhibits, results))
    assert "in 1 of 1 cells plan-classic errs more than 3 times" in text
    assert "below plan-classic and IOME in 0 of 1 cells" in text
    assert "(iome): plan 2.000 times as large" in text
    assert "(iome as published): plan 4.000 times as large" in text
    assert "iome in 1 of 1; iome as published in 1 of 1. " in text
    assert read_results(exhibits, Results([])) == []


def test_the_limit_of_a_median_of_groups_is_what_simulation_says() -> None:
    sums = np.random.default_rng(0).chisquare(4, (4000, 1250))
    off = abs(np.sqrt(np.median(sums, axis=1) / chi2.ppf(0.5, 4)) - 1).mean()
    assert floor(4) == pytest.approx(off, rel=0.06)  # five standard errors of 4,000 runs
