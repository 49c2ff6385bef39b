"""What to expect of each estimator, from public numbers alone: sees no data, draws no noise."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from plandp.methods import Estimator
from plandp.planner.prediction import Findings, Predictor
from plandp.planner.variation import smallest_rows
from plandp.terms.columns import Columns, FloatArray
from plandp.terms.comparison import Contender
from plandp.terms.design import Design
from plandp.theory.forecast import median_error


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """The public numbers of a release, and the spreads, in units of error_scale, that its rows are assumed to have."""

    n: int
    columns: Columns
    rho: Fraction
    error_norm: float
    spread: FloatArray


def predicted(estimator: Estimator, question: Question) -> Contender:
    """Return what to expect of an estimator; nothing but its name where it has no predictor."""
    if estimator.predictor is None:
        return not_predicted(estimator)
    design = _design(estimator, question)
    findings = estimator.predictor.find(design)
    expected = estimator.predictor.expect(question.spread, design)
    against = estimator.predictor.contradiction
    wrong = None if against is None else against(question.spread, design)
    smallest = None if wrong is not None else _smallest_n(estimator, estimator.predictor, question)
    return Contender(
        method=estimator.name,
        predicted_error=median_error(expected.error_std, question.error_norm),
        feasible=findings.complete and wrong is None,
        problems=tuple(_problems(findings, smallest)) if wrong is None else (wrong,),
        premise=estimator.predictor.premise if question.columns.spread is None else None,
        smallest_n=smallest,
    )


def not_predicted(estimator: Estimator) -> Contender:
    """Return an estimator that can only be measured."""
    return Contender(
        method=estimator.name,
        predicted_error=None,
        feasible=True,
        problems=("has no predictor, so nothing can be said beforehand",),
    )


def needed_rows(smallest_n: int | None) -> str:
    """Say how many rows would do."""
    needed = "no number of rows would do" if smallest_n is None else f"{smallest_n:,} rows would do"
    return f"at this rho {needed}"


def _design(estimator: Estimator, question: Question) -> Design:
    return estimator.plan(n=question.n, columns=question.columns, rho=question.rho, error_norm=question.error_norm)


def _smallest_n(estimator: Estimator, predictor: Predictor, question: Question) -> int | None:
    return smallest_rows(lambda n: predictor.find(_design(estimator, replace(question, n=n))).complete)


def _problems(findings: Findings, smallest_n: int | None) -> Iterator[str]:
    if findings.complete:
        return
    lost = [
        *(["some centres may be lost"] if findings.centers == "doubtful" else []),
        *(["centres are not found (the middle of the bounds is used)"] if findings.centers == "not found" else []),
        *(["spreads may be far off"] if findings.spreads == "doubtful" else []),
        *(["spreads are not found (the bounds shape the noise)"] if findings.spreads == "not found" else []),
        *(["the clipping radius may come out far too large"] if findings.radius == "doubtful" else []),
    ]
    rank = "" if findings.rank_error is None else f", with a rank error of {_share(findings.rank_error)} of all ranks"
    yield f"{', '.join(lost)}{rank}; {needed_rows(smallest_n)}"


def _share(part: float) -> str:
    return f"{part:.0%}" if part <= 1.0 else "over 100%"
