"""`plandp.compare` for items that are there or not: popularity is assumed, or that of public data."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from plandp.comparison.measured import measured_errors
from plandp.comparison.predicted import needed_rows, not_predicted
from plandp.comparison.public_items import PublicItems
from plandp.comparison.spread_shape import read_item_shape
from plandp.curator import mean
from plandp.methods import PLAN, Estimator, item_future
from plandp.planner.oracle import oracle_item_error
from plandp.planner.recommendation import in_order, recommend
from plandp.sparse_outlook import SparseQuestion
from plandp.terms.columns import Columns, FloatArray
from plandp.terms.comparison import Comparison, Contender


def compare_items(
    estimators: Sequence[Estimator],
    *,
    n: int,
    columns: Columns,
    rho: Fraction,
    error_norm: float,
    spread_shape: object,
    table: PublicItems | None,
    runs: int,
    progress: bool,
    warnings: tuple[str, ...],
    delta: float | None,
) -> Comparison:
    """Predicted errors side by side, and measured ones where there is a table."""
    if spread_shape is None and table is not None:
        spread, assumed = np.sqrt(table.mean), "the popularity of the public data, which no method is told"
    else:
        spread, assumed = read_item_shape("zipf:1" if spread_shape is None else spread_shape, columns)
    question = SparseQuestion(
        n=n,
        columns=replace(columns, spread=spread),
        rho=rho,
        error_norm=error_norm,
        binary=True,
        future=item_future(PLAN),
    )
    contenders = [_contender(each, question) for each in estimators]
    if table is not None:
        ways = [(each.name, partial(_run, each, table, columns, rho, error_norm)) for each in estimators]
        errors = measured_errors(ways, table.mean, columns, error_norm, runs=runs, progress=progress)
        contenders = [replace(found, measured_errors=errors[found.method]) for found in contenders]
    recommended, reason = recommend(contenders)
    return Comparison(
        recommended=recommended,
        reason=reason,
        contenders=in_order(contenders, recommended),
        oracle_error=oracle_item_error(
            question.moments[0], n=n, columns=columns, rho=float(rho), error_norm=error_norm
        ),
        sampling_error=question.sampling_error,
        n=n,
        d=columns.d,
        rho=rho,
        error_norm=error_norm,
        spread=spread,
        assumed=assumed,
        runs=runs,
        warnings=warnings,
        kind="binary",
        delta=delta,
    )


def _contender(estimator: Estimator, question: SparseQuestion) -> Contender:
    if estimator.items is not None and estimator.items.predictor is None:
        return not_predicted(estimator)
    question = replace(question, future=item_future(estimator))
    smallest = question.smallest_n
    return Contender(
        method=estimator.name,
        predicted_error=question.error,
        feasible=question.feasible,
        problems=tuple(f"{problem}; {needed_rows(smallest)}" for problem in question.problems()),
        smallest_n=smallest,
    )


def _run(
    estimator: Estimator, table: PublicItems, columns: Columns, rho: Fraction, error_norm: float, seed: int
) -> FloatArray:
    """Release the mean of the table as `plandp.mean` does, by a testing seed."""
    release = mean(
        table.rows,
        kind="binary",
        rho=rho,
        error_norm=error_norm,
        error_scale=columns.error_scale,
        method=estimator,
        testing_seed=seed,
    )
    return release.estimate
