"""Mahalanobis: PLAN with the stretch σ, so that noise has the shape of the rows, and more of it."""

import numpy as np
import pytest

import plandp
from plandp.theory.stretch import mahalanobis_stretch

SPREAD = 2.0 ** np.arange(6)


def released(method: str) -> plandp.MeanRelease:
    table = np.random.default_rng(1).normal(5, SPREAD, (3000, 6))
    return plandp.mean(table, bounds=(-500, 500), rho=1, method=method, testing_seed=1)


def test_the_noise_has_the_shape_of_the_rows() -> None:
    release = released("mahalanobis")
    assert release.noise_std / release.spread == pytest.approx(
        np.full(6, release.noise_std[0] / release.spread[0]), rel=0.02
    )
    assert release.spread == pytest.approx(SPREAD, rel=0.2)
    shaped = released("plan")
    assert shaped.noise_std / np.sqrt(shaped.spread) == pytest.approx(
        np.full(6, shaped.noise_std[0] / np.sqrt(shaped.spread[0])), rel=0.02
    )


def test_the_steps_before_are_plans_own() -> None:
    plan, other = released("plan"), released("mahalanobis")
    assert other.center.tobytes() == plan.center.tobytes()
    assert other.spread.tobytes() == plan.spread.tobytes()
    assert other.receipt.method == "mahalanobis"


def test_the_optimal_stretch_needs_less_noise() -> None:
    wide = np.linspace(1, 100, 50)
    public = {"n": 10_000, "bounds": (-1000, 1000), "d": 50, "rho": 1, "spread": wide}
    assert plandp.check(**public).error < 0.97 * plandp.check(**public, method="mahalanobis").error
    assert mahalanobis_stretch(wide, 2.0) is wide
