"""A verdict follows from the medians: yes where a claim surely holds, NO where it surely does not, else undecided."""

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
from plandp_lab.reproduce.run_noise import ratio_of_runs
from plandp_lab.reproduce.scale import FULL
from plandp_lab.reproduce.variance_table import floor

PANEL = panel_b(FULL)


def measured(plan: Callable[[float], float], *, iome: float = 1.0, runs: int = 9, spread: float = 0.01) -> Measured:
    """Errors of plan as a function of α, with one wild run that medians do not see."""
    luck = np.exp(spread * np.random.default_rng(1).standard_normal((2, runs)))
    luck[:, 0] = 1000
    records = [
        {
            "cell": point.cell.key,
            "entrant": entrant,
            "run": run,
            "errors": {TRUE_MEAN: error * luck[place, run]},
            "seconds": 0.0,
        }
        for point in PANEL.points
        for place, (entrant, error) in enumerate((("plan", plan(point.x)), ("iome", iome)))
        for run in range(runs)
    ]
    return Measured(PANEL, Results(records), TRUE_MEAN)


@pytest.mark.parametrize(
    ("judge", "yes", "no"),
    [
        (Between(other="iome", most=1.0, low=1.01), lambda a: 0.9 if a > 1 else 9.0, lambda a: 1.1),
        (Between(other="iome", least=0.8, most=1.25), lambda a: 1.1, lambda a: 1.4 if a == 2 else 1.0),
        (Between(other="iome", least=1.0, rhos=("0.125",), low=2.0), lambda a: 0.5 + a, lambda a: 1 / (1 + a)),
        (Between(other="their PLAN", most=1.0), lambda a: 0.01, lambda a: 100.0),
        (Grows(other="iome"), lambda a: 0.9 / (1 + a), lambda a: 1 + a),
        (Grows(other="iome"), lambda a: 0.9 / (1 + a), lambda a: 0.1 if a == 1 else 0.9 / (1 + a)),
        (Grows(other="iome", falls=True), lambda a: 0.2 + a / 10, lambda a: 0.9 / (1 + a)),
        (Grows(other="iome"), lambda a: 0.9 / (1 + a), lambda a: 9 / (1 + a)),  # no advantage that could grow
        (Grows(other="iome", advantage=False), lambda a: 9 / (1 + a), lambda a: 9 * (1 + a)),
        (Crossing(other="iome"), lambda a: 0.5 if a >= 0.5 else 2.0, lambda a: 0.5 if a >= 2 else 2.0),
    ],
)
def test_a_judge_tells_yes_from_no(judge: Judge, yes: Callable[[float], float], no: Callable[[float], float]) -> None:
    assert judge(measured(yes), "plan").answer == "yes"
    assert judge(measured(no), "plan").answer.startswith("NO")
    assert judge(Measured(PANEL, Results([]), TRUE_MEAN), "plan").answer == "not measured"


@pytest.mark.parametrize(
    ("judge", "plan"),
    [
        (Between(other="iome", most=1.0), lambda a: 0.95),
        (Grows(other="iome"), lambda a: 0.5 - a / 100),
        (Crossing(other="iome"), lambda a: 0.95),
    ],
)
def test_what_runs_leave_open_is_undecided(judge: Judge, plan: Callable[[float], float]) -> None:
    assert judge(measured(plan, spread=0.001), "plan").answer == "yes"
    assert judge(measured(plan, spread=0.5), "plan").answer == "undecided"
    assert judge(measured(plan, runs=3, spread=0.001), "plan").answer == "undecided"  # too few to tell how sure


def test_much_better_is_not_similar() -> None:
    judge = Between(other="iome", least=0.8, most=1.25)
    assert judge(measured(lambda a: 0.5), "plan").answer == "NO, better"
    assert judge(measured(lambda a: 0.5 if a else 2.0), "plan").answer == "NO"


def test_a_verdict_shows_what_it_was_judged_by() -> None:
    judge = Between(other="iome", least=0.8, most=1.0)
    assert judge.criterion == "0.8 to 1 times iome"
    verdict = judge(measured(lambda a: 0.9 if a < 2 else 1.234, spread=0.0), "plan")
    assert str(verdict) == (
        "plan: NO (12 of 15 cells; 0.9 to 1.23 times; outside: 1.23 at α = 2, ρ = 1; 1.23 at α = 2, ρ = 0.5; "
        "1.23 at α = 2, ρ = 0.125)"
    )
    steps = Grows(other="iome", low=0.5, rhos=("1",))(measured(lambda a: 0.5 / (1 + a), spread=0.0), "plan")
    assert steps.detail == "3 → 4 → 5 → 6 at ρ = 1"


def test_a_ratio_is_as_sure_as_its_runs_say() -> None:
    rng = np.random.default_rng(2)
    inside, factors = 0, []
    for _ in range(200):
        ours, other = (dict(enumerate(np.exp(0.2 * rng.standard_normal(50)))) for _ in range(2))
        ratio = ratio_of_runs(ours, other)
        inside += ratio.low <= 1 <= ratio.high
        factors.append(ratio.factor)
    assert inside >= 180  # 95% are to be expected: fewer than 180 of 200 once in 500 times
    # two standard errors of a ratio of medians of normal numbers: 2·1.2533·.2·√(2/50) = .1
    assert np.median(factors) == pytest.approx(np.exp(0.1), rel=0.03)
    shared = dict(enumerate(np.exp(rng.standard_normal(50))))
    assert ratio_of_runs({run: 0.9 * error for run, error in shared.items()}, shared).factor == pytest.approx(1)
    assert ratio_of_runs({0: 1.0, 1: 2.0}, {0: 1.0}).factor == np.inf


def test_every_claim_of_every_exhibit_can_be_judged_without_results() -> None:
    for exhibit in all_exhibits(SMALL, None):
        shown = exhibit.show(Results([]))
        for claim in shown.claims:
            assert claim.endswith(("not measured", "yes")), claim
            assert exhibit.name == "noise-shapes" or "]: " in claim, claim


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
    assert "iome in 0 of 1 (Gaussian C, d = 1024, ρ = 0.125: 0.0153 times); iome as published in 0 of 1" in text
    assert "Errors are medians to the empirical mean" in text
    assert "3.75 times the ρ that they state" not in text  # nothing that spends as their code was measured
    assert read_results(exhibits, Results([])) == []


def test_the_limit_of_a_median_of_groups_is_what_simulation_says() -> None:
    sums = np.random.default_rng(0).chisquare(4, (4000, 1250))
    off = abs(np.sqrt(np.median(sums, axis=1) / chi2.ppf(0.5, 4)) - 1).mean()
    assert floor(4) == pytest.approx(off, rel=0.06)  # five standard errors of 4,000 runs
