"""An entrant that spends as the authors' code: too much for centres and spreads, and nothing more for the rest."""

from fractions import Fraction

import numpy as np

import plandp
from plandp_lab.reproduce.entrants import SPENDING_AS_THEY
from plandp_lab.reproduce.exhibits import all_exhibits
from plandp_lab.reproduce.reading import read_results
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.scale import FULL
from plandp_lab.reproduce.their_spending import AUTHORS_SPEND, as_their_code

STATED = Fraction(1, 2)
RATIOS = {"plan": 0.7, "plan-classic": 1.04, SPENDING_AS_THEY: 0.96, "iome": 2.0}


def spent(method: str | plandp.methods.Estimator, rho: Fraction) -> dict[str, Fraction]:
    rows = np.random.default_rng(0).standard_normal((2_000, 3))
    release = plandp.mean(rows, bounds=(-50, 50), rho=rho, smallest_spread=1 / 16, method=method, testing_seed=1)
    return dict.fromkeys(("center", "spread"), Fraction(0)) | {
        name: sum((step.rho for step in release.receipt.steps() if step.step == name), Fraction(0))
        for name in {step.step for step in release.receipt.steps()}
    }


def test_centres_and_spreads_get_twelve_times_their_share_and_the_rest_what_is_stated() -> None:
    stated, theirs = spent("plan-classic", STATED), spent(as_their_code(), STATED * AUTHORS_SPEND)
    assert theirs == {name: (12 if name in ("center", "spread") else 1) * rho for name, rho in stated.items()}
    assert sum(theirs.values()) == STATED * AUTHORS_SPEND


def test_the_reading_compares_it_with_their_code_from_both_sides_and_names_where_the_stated_rho_breaks() -> None:
    exhibits = [exhibit for exhibit in all_exhibits(FULL, None) if exhibit.name == "gaussian"]
    records = [
        {
            "cell": point.cell.key,
            "entrant": entrant,
            "run": 0,
            "errors": {
                "to the empirical mean": theirs.median * ratio * (100 if entrant == "plan-classic" and broken else 1)
            },
            "seconds": 0,
        }
        for panel in exhibits[0].panels
        for point in panel.points
        if (theirs := panel.theirs(point, "PLAN", "to the empirical mean")) is not None
        for broken in [panel.letter == "a" and point.cell.rho == "0.125"]
        for entrant, ratio in RATIOS.items()
    ]
    text = read_results(exhibits, Results(records))[1]
    assert "has 0.96 to 0.96 times the noise error of their code in all 18 Gaussian cells" in text
    assert "has 1.04 to 1.04 times their error in the 15 cells" in text
    assert "breaks in the other 3, with more than 3 times their error" in text
    some = [record for record in records if "d=512" not in record["cell"]]
    text = read_results(exhibits, Results(some))[1]
    assert "in the 8 of 18 Gaussian cells where that was run again, those that are measured here with it" in text
