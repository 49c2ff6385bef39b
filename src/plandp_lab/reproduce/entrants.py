"""Who takes part: the methods of plandp.mean at the ρ asked for, and, for scale, what is not private."""

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.random import Generator

import plandp
from plandp.classic.direct import Direct
from plandp.classic.equal import Equal
from plandp.classic.item_variance import EqualItems
from plandp.classic.pairs import Pairs
from plandp.classic.regularisers import Unregularised
from plandp.methods import Estimator, iome, plan_classic
from plandp_lab.item_oracle import ItemOracle
from plandp_lab.item_tables import ItemTable
from plandp_lab.oracle import oracle_mean
from plandp_lab.reproduce.their_spending import AUTHORS_SPEND, as_their_code
from plandp_lab.reproduce.workloads import FloatArray, Sample, Workload, distance

SMALLEST_SPREAD = 2.0**-4  # for Gaussian A, B, C, whose spreads are 1 and more
TRUE_MEAN, EMPIRICAL_MEAN = "to the true mean", "to the empirical mean"
VARIANCE, SPREAD = "relative error of the variance", "relative error of the spread"
SPENDING_AS_THEY = "plan-classic, spending as their code"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one entrant came to in one run: errors by what they are measured against, and what it took."""

    errors: dict[str, float]
    rho: Fraction | None  # what the receipt says was spent; None: not private
    seconds: float  # of this process, so that what runs beside it does not count
    warnings: int = 0


class Entrant(Protocol):
    """Someone who takes part under a name."""

    @property
    def name(self) -> str:
        """As in tables and figures."""
        ...

    @property
    def meaning(self) -> str:
        """In a line."""
        ...

    def seconds(self, workload: Workload) -> float:
        """Roughly how long a run takes, for the time left and the order of runs."""
        ...

    def run(self, sample: Sample, workload: Workload, rho: Fraction, seed: int, rng: Generator) -> Outcome:
        """Estimate and be measured."""
        ...


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of `plandp.mean`, at `times` the budget of the cell."""

    name: str
    meaning: str
    method: str | Estimator
    rate: float = 0.05  # seconds for a million entries of a table
    times: Fraction = Fraction(1)
    told_spreads: bool = False
    refine: tuple[str, ...] | None = None
    fills: bool = False  # whether it makes sparse rows dense

    def seconds(self, workload: Workload) -> float:
        """By the numbers that it looks at: of sparse rows, some of each row."""
        entries = workload.n * (10 if workload.binary and not self.fills else workload.d)
        return 0.05 + self.rate * entries / 1e6

    def run(self, sample: Sample, workload: Workload, rho: Fraction, seed: int, rng: Generator) -> Outcome:
        """Release through the front door; the receipt must state what was asked for."""
        budget = rho * self.times
        begin = time.process_time()
        if workload.binary:
            release = plandp.mean(
                sample.rows,
                kind="binary",
                rho=budget,
                error_norm=1,
                method=self.method,
                refine=self.refine,
                testing_seed=seed,
            )
        else:
            release = plandp.mean(
                sample.rows,
                bounds=(-workload.bound, workload.bound),
                rho=budget,
                smallest_spread=SMALLEST_SPREAD,
                spread=workload.spread if self.told_spreads else None,
                method=self.method,
                testing_seed=seed,
            )
        seconds = time.process_time() - begin
        assert release.receipt.rho == budget
        return Outcome(
            errors=_errors(release.estimate, sample, workload),
            rho=budget,
            seconds=seconds,
            warnings=len(release.warnings),
        )


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """Knows the spreads, the mean and the best radius, and spends all of ρ on noise: not private."""

    name: str = "oracle"
    meaning: str = "knows spreads, mean and radius, and spends all of ρ on noise; not private"

    def seconds(self, workload: Workload) -> float:
        """Of sparse rows, some of each row."""
        return 0.05 + 0.03 * workload.n * (10 if workload.binary else workload.d) / 1e6

    def run(self, sample: Sample, workload: Workload, rho: Fraction, seed: int, rng: Generator) -> Outcome:
        """For items, the best of several radii in every run: a little better than any one of them."""
        begin = time.process_time()
        if isinstance(sample.rows, np.ndarray):
            estimate = oracle_mean(sample.rows, float(rho), 2.0, rng)
            errors = _errors(estimate, sample, workload)
        else:
            measured = {EMPIRICAL_MEAN: sample.empirical} | ({} if sample.truth is None else {TRUE_MEAN: sample.truth})
            errors = {
                name: float(ItemOracle.of(ItemTable(rows=sample.rows, mean=mean), 1).errors(float(rho), rng).min())
                for name, mean in measured.items()
            }
        return Outcome(errors=errors, rho=None, seconds=time.process_time() - begin)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The empirical mean itself: not private."""

    name: str = "sampling error"
    meaning: str = "the empirical mean, not private; of a data set, the mean of a bootstrap sample"

    def seconds(self, workload: Workload) -> float:
        """Nothing is left to do once the table is drawn."""
        return 0.0

    def run(self, sample: Sample, workload: Workload, rho: Fraction, seed: int, rng: Generator) -> Outcome:
        """How far the rows themselves are off; the same number for both measures, to be drawn in every figure."""
        return Outcome(errors={TRUE_MEAN: sample.sampling, EMPIRICAL_MEAN: sample.sampling}, rho=None, seconds=0.0)


@dataclass(frozen=True, kw_only=True)
class VarianceEstimator:
    """An estimator of the appendix inside plan-classic, whose variance step gets the ρ of the cell.

    That step has 3/16 of a whole release (Listing 1), so the release is asked for with 16/3 of it.
    """

    name: str
    meaning: str
    spread: Pairs | Direct

    def seconds(self, workload: Workload) -> float:
        """One column is quick."""
        return 0.02

    def run(self, sample: Sample, workload: Workload, rho: Fraction, seed: int, rng: Generator) -> Outcome:
        """Release a mean, and look at the spread that is released with it."""
        true = workload.spread
        assert true is not None
        begin = time.process_time()
        release = plandp.mean(
            sample.rows,
            bounds=(-workload.bound, workload.bound),
            rho=rho * Fraction(16, 3),
            smallest_spread=float(true[0]) / 32,
            method=plan_classic(spread=self.spread),
            testing_seed=seed,
        )
        seconds = time.process_time() - begin
        paid = sum((step.rho for step in release.receipt.steps() if step.step == "spread"), Fraction(0))
        assert paid == rho
        assert release.spread is not None
        ratio = float(release.spread[0] / true[0])
        return Outcome(errors={VARIANCE: abs(ratio**2 - 1), SPREAD: abs(ratio - 1)}, rho=paid, seconds=seconds)


def _errors(estimate: FloatArray, sample: Sample, workload: Workload) -> dict[str, float]:
    errors = {EMPIRICAL_MEAN: distance(estimate, sample.empirical, binary=workload.binary)}
    if sample.truth is not None:
        errors[TRUE_MEAN] = distance(estimate, sample.truth, binary=workload.binary)
    return errors


MEAN_ENTRANTS: tuple[Entrant, ...] = (
    Method(name="plan", meaning="plandp's default", method="plan"),
    Method(
        name="plan, not shrunk",
        meaning="the same without empirical Bayes, whose gain on two-valued means says nothing about others",
        method="plan",
        refine=("combine", "clamp"),
    ),
    Method(name="plan-classic", meaning="Algorithm 1 as the paper states it", method="plan-classic", rate=0.09),
    Method(
        name=SPENDING_AS_THEY,
        meaning="the same, spending what the authors' Gaussian code really spends: 12 times the quarter of ρ for "
        "centres and spreads, the rest as stated, 3.75 ρ in all",
        method=as_their_code(),
        times=AUTHORS_SPEND,
        rate=0.09,
    ),
    Method(
        name="iome",
        meaning="IOME (Huang, Liang, Yi 2021) as the paper corrects it",
        method="iome",
        rate=0.05,
        fills=True,
    ),
    Method(
        name="iome as published",
        meaning="the same, looking for rotated medians within ±M/√d only, as the published runs do",
        method=iome(universe="published"),
        rate=0.05,
        fills=True,
    ),
    Method(name="unscaled", meaning="plandp's steps without a stretch", method="unscaled", rate=0.03),
    Method(
        name="plan-classic, no scaling",
        meaning='Algorithm 1 without a stretch ("Generic Bounds")',
        method=plan_classic(spread=Equal(), item_spread=EqualItems(), regulariser=Unregularised()),
        rate=0.03,
    ),
    Method(name="mahalanobis", meaning="plandp's steps, stretched by σ̂ itself", method="mahalanobis"),
    Method(
        name="coinpress, told σ",
        meaning="CoinPress (Biswas et al. 2020), told the true spreads",
        method="coinpress",
        told_spreads=True,
        rate=0.01,
    ),
    Method(name="gaussian", meaning="the Gaussian mechanism on the whole box", method="gaussian", rate=0.01),
    Oracle(),
    Sampling(),
)
VARIANCE_ENTRANTS: tuple[Entrant, ...] = (
    VarianceEstimator(name="direct-075", meaning="quantile .75, as the paper has it", spread=Direct(share=0.75)),
    VarianceEstimator(name="direct-0841", meaning="quantile .841, as the paper has it", spread=Direct(share=0.841)),
    VarianceEstimator(name="direct-09", meaning="quantile .9, as the paper has it", spread=Direct(share=0.9)),
    VarianceEstimator(
        name="direct-075, scaled",
        meaning="over Φ⁻¹(.75), left out in the paper",
        spread=Direct(share=0.75, normal=True),
    ),
    VarianceEstimator(
        name="direct-09, scaled",
        meaning="over Φ⁻¹(.9), left out in the paper",
        spread=Direct(share=0.9, normal=True),
    ),
    VarianceEstimator(
        name="general-1", meaning="pairs, k=1, Wilson–Hilferty", spread=Pairs(groups=1, median="wilson-hilferty")
    ),
    VarianceEstimator(
        name="general-4", meaning="pairs, k=4, Wilson–Hilferty", spread=Pairs(groups=4, median="wilson-hilferty")
    ),
    VarianceEstimator(name="general-1, exact", meaning="k=1 with the exact median of χ²", spread=Pairs(groups=1)),
    VarianceEstimator(name="general-4, exact", meaning="k=4 with the exact median of χ²", spread=Pairs(groups=4)),
    VarianceEstimator(
        name="general-1, as printed",
        meaning="k=1 divided by (9/7)³, as the paper's text has it",
        spread=Pairs(groups=1, median="as printed"),
    ),
)
ENTRANTS: dict[str, Entrant] = {entrant.name: entrant for entrant in (*MEAN_ENTRANTS, *VARIANCE_ENTRANTS)}
