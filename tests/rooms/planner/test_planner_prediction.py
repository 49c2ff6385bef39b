"""Findings: what a design can afford to look for."""

from fractions import Fraction

import numpy as np
import pytest

from plandp.planner.prediction import PREDICT_GAUSSIAN, PREDICT_PLAN, PREDICT_UNSCALED, Findings
from plandp.planner.split import gaussian_design, plan_design, unscaled_design
from plandp.terms.columns import read_columns
from plandp.theory.guards import too_few_rows, untold_radius


def design_of(n, d, rho=1, planner=plan_design, **public):
    columns = read_columns(labels=range(d), bounds=(-100, 100), **public)
    return planner(n=n, columns=columns, rho=Fraction(rho), error_norm=2.0)


@pytest.mark.parametrize(
    ("n", "d", "known", "centers", "spreads", "radius"),
    [
        (10_000, 64, None, "found", "found", "found"),
        (10_000, 64, 1.0, "found", "known", "found"),
        (10_000, 1, None, "found", "not needed", "found"),
        (35, 1, None, "found", "not needed", "doubtful"),
        (35, 1, 1.0, "found", "known", "found"),
        (20, 64, None, "not found", "not found", "doubtful"),
        (20, 64, 1.0, "not found", "known", "doubtful"),
        (200, 4, None, "found", "not found", "found"),
        (210, 64, None, "doubtful", "not found", "found"),
    ],
)
def test_what_plan_finds(n, d, known, centers, spreads, radius):
    found = PREDICT_PLAN.find(design_of(n, d, spread=known))
    assert found == Findings(centers=centers, spreads=spreads, radius=radius)


def test_other_methods_need_less():
    assert PREDICT_UNSCALED.find(design_of(10_000, 64, planner=unscaled_design)).complete
    assert PREDICT_UNSCALED.find(design_of(20, 64, planner=unscaled_design)).centers == "not found"
    assert PREDICT_GAUSSIAN.find(design_of(1, 64, planner=gaussian_design)).complete


def test_complete_is_all_that_is_needed():
    for centers in ("found", "doubtful", "not found", "not needed"):
        for spreads in ("found", "not found", "known", "not needed"):
            for radius in ("found", "doubtful", "not needed"):
                complete = centers in ("found", "not needed") and spreads != "not found" and radius != "doubtful"
                assert Findings(centers=centers, spreads=spreads, radius=radius).complete == complete


def test_findings_agree_with_the_warnings_of_a_release():
    # a release that is warned of, before a row is read, that centres or spreads cannot be found was not feasible
    for n in (5, 50, 150, 220, 400, 1000, 5000, 100_000):
        for d in (1, 2, 20, 300):
            for rho in ("1/100", "1/3", "10"):
                for known in (None, 1.0):
                    design = design_of(n, d, rho, spread=known)
                    findings = PREDICT_PLAN.find(design)
                    warned = " ".join(too_few_rows(design))
                    assert (findings.centers == "not found") == ("to find the centres" in warned)
                    if findings.centers != "not found":
                        assert (findings.spreads == "not found") == ("to find the spreads" in warned)
                        if findings.spreads in ("not found", "not needed"):
                            assert (findings.radius == "doubtful") == bool(untold_radius(design))


@pytest.mark.parametrize("predictor", [PREDICT_PLAN, PREDICT_UNSCALED, PREDICT_GAUSSIAN])
def test_errors_are_finite_and_fall_with_rows(predictor):
    planner = {PREDICT_PLAN: plan_design, PREDICT_UNSCALED: unscaled_design, PREDICT_GAUSSIAN: gaussian_design}
    errors = [
        predictor.expect(np.ones(20), design_of(n, 20, planner=planner[predictor])).error_std.sum()
        for n in (1, 10, 100, 300, 1000, 10**4, 10**6, 10**9)
    ]
    assert np.isfinite(errors).all()
    assert all(np.diff(errors) < 0)
