"""The estimators by name: each a plan made from public numbers and a run that reads the data."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Protocol

from plandp.algorithm import plan_mean
from plandp.baselines.gaussian import gaussian_mean
from plandp.baselines.unscaled import unscaled_mean
from plandp.data.rows import Rows
from plandp.errors import ArgumentError
from plandp.noise.meter import MeteredNoise
from plandp.planner.prediction import (
    PREDICT_GAUSSIAN,
    PREDICT_MAHALANOBIS,
    PREDICT_PLAN,
    PREDICT_UNSCALED,
    Predictor,
)
from plandp.planner.split import gaussian_design, plan_design, unscaled_design
from plandp.steps.estimate import Estimate
from plandp.terms.columns import Columns
from plandp.terms.design import Design
from plandp.theory.stretch import mahalanobis_stretch


class Planner(Protocol):
    """Makes the design of a release from public numbers."""

    def __call__(self, *, n: int, columns: Columns, rho: Fraction, error_norm: float) -> Design:
        """Return all that is fixed before a row is read."""
        ...


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """A method for `plandp.mean`: `run` must spend exactly `design.split.rho` at the door it is given.

    `predictor` is for `plandp.check`, which says beforehand what to expect.
    """

    name: str
    plan: Planner
    run: Callable[[Rows, Design, MeteredNoise], Estimate]
    predictor: Predictor | None = None


PLAN = Estimator(name="plan", plan=plan_design, run=plan_mean, predictor=PREDICT_PLAN)
MAHALANOBIS = Estimator(
    name="mahalanobis",
    plan=plan_design,
    run=partial(plan_mean, stretch=mahalanobis_stretch),
    predictor=PREDICT_MAHALANOBIS,
)
UNSCALED = Estimator(name="unscaled", plan=unscaled_design, run=unscaled_mean, predictor=PREDICT_UNSCALED)
GAUSSIAN = Estimator(name="gaussian", plan=gaussian_design, run=gaussian_mean, predictor=PREDICT_GAUSSIAN)

_BY_NAME = {estimator.name: estimator for estimator in (PLAN, UNSCALED, GAUSSIAN, MAHALANOBIS)}


def find_estimator(method: object) -> Estimator:
    """The estimator that a name stands for, or the estimator itself."""
    if isinstance(method, Estimator):
        return method
    if isinstance(method, str) and method in _BY_NAME:
        return _BY_NAME[method]
    names = ", ".join(repr(name) for name in _BY_NAME)
    raise ArgumentError("method", f"must be one of {names}, or an Estimator from plandp.methods")
