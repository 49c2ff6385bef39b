"""Before spending: what `plandp.mean` would do with public numbers.  Sees no data, draws no noise, spends nothing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from plandp.errors import ArgumentError
from plandp.methods import Estimator, Planner, find_estimator, find_estimator_of_items, item_future
from plandp.planner.prediction import PREDICT_GAUSSIAN, Findings, Predictor
from plandp.planner.split import gaussian_design
from plandp.planner.variation import MOST_ROWS, rho_around, rows_around, smallest_rho, smallest_rows
from plandp.sparse_outlook import SparseQuestion
from plandp.terms.budget import large_delta, read_budget, read_promise
from plandp.terms.check import Check, Point, WiderBounds
from plandp.terms.choices import check_kind, check_sparse_bounds, read_error_norm, refuse_large_items, refuse_no_bounds
from plandp.terms.columns import FINEST_SPREAD_SHARE, Columns, FloatArray, Label, labels_in_bounds, read_columns
from plandp.terms.counts import whole_number
from plandp.terms.design import Design
from plandp.theory.forecast import median_error

ASSUMED_SPREAD = 0.1  # of the width of the bounds, where no spread is given
MOST_COLUMNS = 10**7
WIDER = (10.0, 100.0, 1000.0)


@np.errstate(all="ignore")
def check(
    *,
    n: int,
    d: int | None = None,
    bounds: object = None,
    rho: float | str | Fraction | Decimal | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    kind: str = "real",
    method: str | Estimator = "plan",
    error_norm: float = 2,
    error_scale: object = None,
    spread: object = None,
    smallest_spread: object = None,
) -> Check:
    """Say what `plandp.mean` would do with these public numbers: feasible or not, error, split of the budget.

    Guarantee: sees no data and spends nothing.  The budget is split by the same planner that a release uses, so the
    split is that of the receipt to come.

    Parameters
    ----------
    n
        The number of rows.
    d
        The number of columns; may be left out when `bounds` has one pair per column or is a mapping.
    bounds, rho, epsilon, delta, kind, method, error_norm, error_scale, smallest_spread
        As for `plandp.mean`.
    spread
        As for `plandp.mean`: spreads that are publicly known, and then not searched for.  When left out, a tenth of
        the width of the bounds is assumed for the predicted error, and for nothing else.

    Examples
    --------
    >>> import plandp
    >>> outlook = plandp.check(n=10_000, d=20, bounds=(0, 100), rho=0.1)
    >>> outlook.feasible, outlook.smallest_n
    (True, 728)
    """
    check_kind(kind)
    if kind != "real":
        return _check_sparse(
            n, d, bounds, (rho, epsilon, delta), kind, method, error_norm, error_scale, spread, smallest_spread
        )
    estimator = find_estimator(method)
    if estimator.predictor is None:
        raise ArgumentError("method", "this Estimator has no predictor, so nothing can be said beforehand; give it one")
    p = read_error_norm(error_norm)
    budget = read_budget(rho=rho, epsilon=epsilon, delta=delta)
    rows = read_count("n", n, MOST_ROWS, "rows")
    columns = read_columns(
        labels=read_labels(d, bounds),
        bounds=bounds,
        error_scale=error_scale,
        spread=spread,
        smallest_spread=smallest_spread,
    )
    return _Question(
        plan=estimator.plan, predictor=estimator.predictor, n=rows, columns=columns, rho=budget, error_norm=p
    ).answer(estimator.name, warnings=large_delta(delta, rows), delta=read_promise(epsilon, delta)[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Question:
    """The public numbers of one release, to be varied one at a time."""

    plan: Planner
    predictor: Predictor
    n: int
    columns: Columns
    rho: Fraction
    error_norm: float

    @property
    def design(self) -> Design:
        """What a release with these numbers would be made by."""
        return self.plan(n=self.n, columns=self.columns, rho=self.rho, error_norm=self.error_norm)

    @property
    def spread(self) -> FloatArray:
        """The spreads given, or assumed, in units of error_scale."""
        known = self.columns.spread_in_units
        return ASSUMED_SPREAD * self.columns.width / self.columns.error_scale if known is None else known

    def feasible(self) -> bool:
        return self.predictor.find(self.design).complete

    def error(self, spread: FloatArray) -> float:
        return median_error(self.predictor.expect(spread, self.design).error_std, self.error_norm)

    def gaussian_error(self) -> float:
        return replace(self, plan=gaussian_design, predictor=PREDICT_GAUSSIAN).error(self.spread)

    def answer(self, method: str, *, warnings: tuple[str, ...], delta: float | None) -> Check:
        design, spread = self.design, self.spread
        findings = self.predictor.find(design)
        error = self.error(spread)
        return Check(
            feasible=findings.complete,
            reasons=tuple(_reasons(findings, design)),
            warnings=warnings,
            n=self.n,
            d=design.d,
            labels=self.columns.labels,
            rho=self.rho,
            method=method,
            error_norm=self.error_norm,
            centers=findings.centers,
            spreads=findings.spreads,
            radius=findings.radius,
            split=design.split,
            spread=spread * self.columns.error_scale,
            spread_assumed=self.columns.spread is None,
            error=error,
            error_in_spreads=error / _norm(spread, self.error_norm),
            noise_std=self.predictor.expect(spread, design).noise_std * self.columns.error_scale,
            sampling_error=median_error(spread / math.sqrt(self.n), self.error_norm),
            gaussian_error=self.gaussian_error(),
            smallest_n=smallest_rows(lambda n: replace(self, n=n).feasible()),
            smallest_rho=smallest_rho(lambda rho: replace(self, rho=rho).feasible()),
            wider_bounds=tuple(self.wider(times) for times in WIDER),
            by_rho=tuple(replace(self, rho=rho).point() for rho in rho_around(self.rho)),
            by_n=tuple(replace(self, n=n).point() for n in rows_around(self.n)),
            delta=delta,
        )

    def point(self) -> Point:
        return Point(
            n=self.n,
            rho=float(self.rho),
            error=self.error(self.spread),
            gaussian_error=self.gaussian_error(),
            feasible=self.feasible(),
        )

    def wider(self, times: float) -> WiderBounds:
        """The same spreads, the same finest spread that matters, in wider bounds."""
        old = self.columns
        middle, half = old.low / 2.0 + old.high / 2.0, times * (old.high / 2.0 - old.low / 2.0)
        finest = np.maximum(old.smallest_spread, 2.0 * half * FINEST_SPREAD_SHARE)
        columns = replace(old, low=middle - half, high=middle + half, smallest_spread=finest)
        wide = replace(self, columns=columns)
        return WiderBounds(
            times=times,
            error=wide.error(self.spread),
            center_share=float(wide.design.split.center / self.rho),
            feasible=wide.feasible(),
        )


def _reasons(findings: Findings, design: Design) -> Iterator[str]:
    split = design.split

    def share(part: Fraction) -> str:
        return f"{float(part / split.rho):.1%} of rho"

    match findings.centers:
        case "found":
            yield f"centres will be found, for {share(split.center)}"
        case "doubtful":
            yield f"centres are searched for, with {share(split.center)}, but some may be lost: too few rows or rho"
        case "not found":
            yield "centres cannot be found with so few rows at this rho: the middle of the bounds will be used"
        case _:
            yield "centres are not needed: the noise is made for the whole width of the bounds"
    match findings.spreads:
        case "found":
            yield f"spreads will be found, for {share(split.spread_bound + split.spread)}"
        case "known":
            yield "spreads are given, and cost nothing"
        case "not found":
            yield "spreads cannot be found with so few rows at this rho: the noise is shaped by the bounds alone"
        case _:
            yield "spreads are not needed: " + (
                "one column has no shape" if design.d == 1 else "no shape is looked for"
            )
    if findings.radius == "doubtful":
        yield f"the clipping radius may come out far too large, with {share(split.radius)}: too few rows or rho"
    yield f"left for the final noise: {share(split.sum)}"


def read_labels(d: object, bounds: object) -> tuple[Label, ...]:
    """Return the columns that the bounds name, or else `d` numbered ones."""
    labels = labels_in_bounds(bounds)
    if d is None:
        if labels is None:
            raise ArgumentError("d", "is missing; say how many columns there are, or give a pair of bounds for each")
        return labels
    count = read_count("d", d, MOST_COLUMNS, "columns")
    if labels is not None and len(labels) != count:
        raise ArgumentError("d", f"is {count}, but bounds are given for {len(labels)} columns; leave d out, or mend it")
    return tuple(range(count)) if labels is None else labels


def read_count(argument: str, value: object, most: int, what: str) -> int:
    """Return the number of rows or columns, or say what it may be."""
    count = whole_number(value, most=most)
    if count is not None:
        return count
    raise ArgumentError(argument, f"must be the number of {what}, a whole number from 1 to {most:.0e}")


def _norm(spread: FloatArray, p: float) -> float:
    largest = float(spread.max())
    return float(largest * ((spread / largest) ** p).sum() ** (1.0 / p))


def _check_sparse(
    n: object,
    d: object,
    bounds: object,
    budget: tuple[Any, Any, Any],
    kind: str,
    method: object,
    error_norm: object,
    error_scale: object,
    spread: object,
    smallest_spread: object,
) -> Check:
    """As `check` for kinds whose rows may be sparse."""
    estimator = find_estimator_of_items(method, kind)
    if smallest_spread is not None:
        raise ArgumentError("smallest_spread", f"is for kind='real' only; leave it out with kind={kind!r}")
    rho, epsilon, delta = budget
    rows = read_count("n", n, MOST_ROWS, "rows")
    binary = kind == "binary"
    refuse_no_bounds(kind, bounds)
    limits = (0, 1) if binary and bounds is None else bounds
    columns = read_columns(labels=read_labels(d, limits), bounds=limits, error_scale=error_scale, spread=spread)
    check_sparse_bounds(columns, kind)
    if columns.spread is not None:
        refuse_large_items("spread", columns.spread, columns, kind)
    return SparseQuestion(
        n=rows,
        columns=columns,
        rho=read_budget(rho=rho, epsilon=epsilon, delta=delta),
        error_norm=read_error_norm(error_norm),
        binary=binary,
        future=item_future(estimator, kind),
    ).answer(
        method=estimator.name,
        kind=kind,
        warnings=large_delta(delta, rows),
        delta=read_promise(epsilon, delta)[1],
    )
