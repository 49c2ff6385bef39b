"""`plandp.compare`: which estimator should I use?"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from plandp.comparison.items import compare_items
from plandp.comparison.measured import measured_errors, runs_of_method, runs_of_peer
from plandp.comparison.peers import PEERS, Peer, Run, find_peer
from plandp.comparison.predicted import Question, predicted
from plandp.comparison.public_items import read_public_items
from plandp.comparison.public_table import PublicTable, read_public_table
from plandp.comparison.spread_shape import read_spread_shape
from plandp.errors import ArgumentError, MissingExtra
from plandp.methods import NAMES, Estimator, find_estimator, find_estimator_of_items, names_for_items
from plandp.outlook import read_count, read_labels
from plandp.planner.oracle import oracle_noise
from plandp.planner.recommendation import in_order, recommend
from plandp.planner.variation import MOST_ROWS
from plandp.terms.budget import large_delta, read_budget, read_promise
from plandp.terms.choices import check_kind, read_error_norm, read_sparse_columns
from plandp.terms.columns import Columns, FloatArray, Label, read_columns
from plandp.terms.comparison import Comparison, Contender
from plandp.terms.counts import whole_number
from plandp.theory.forecast import median_error

MOST_RUNS = 10_000
USUAL_RUNS = 10
Entrant = Estimator | Peer


@np.errstate(all="ignore")
def compare(
    *,
    n: int | None = None,
    d: int | None = None,
    bounds: object = None,
    rho: float | str | Fraction | Decimal | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    kind: str = "real",
    error_norm: float = 2,
    error_scale: object = None,
    spread: object = None,
    spread_shape: object = None,
    smallest_spread: object = None,
    methods: Sequence[str | Estimator] | None = None,
    public_data: object = None,
    runs: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Say which estimator to use: predicted errors side by side, and measured ones on data that is declared public.

    Guarantee: without `public_data` it sees no data, draws no noise and spends nothing.  WITH `public_data` NOTHING IS
    PRIVATE: exact errors to the true mean are returned.  Give it synthetic or published data, never the table whose
    mean is to be released: choosing a method by its errors on that table would leak it.

    Parameters
    ----------
    n, d
        The numbers of rows and columns, as for `plandp.check`; left out with `public_data`, which has its own.
    bounds, rho, epsilon, delta, kind, error_norm, error_scale, smallest_spread
        As for `plandp.mean`; of the sparse kinds "binary" only, the other one having a single method.
    spread
        As for `plandp.mean`: spreads that are publicly known.  Every estimator is told them.
    spread_shape
        What is assumed about spreads for the prediction; no estimator is told.  "equal" (a tenth of the width of the
        bounds; when left out), "zipf:ALPHA" (variances fall as i^-ALPHA from there, as in the paper's Gaussian B),
        "one-large" (all but the first a hundredth), or spreads: one number, one per column, or a mapping by label.
        With `public_data` its own spreads when left out.  Of kind="binary" the first item is in half of the rows by
        any of these words, "zipf:1" when left out, and numbers are square roots of shares of rows.
    methods
        Names or `Estimator` values, as for `plandp.mean`; all when left out.  With `public_data` also the means of
        other libraries, "diffprivlib" and "opendp", where they are installed (extra: peers).
    public_data
        A table, as for `plandp.mean`, that is PUBLIC or SYNTHETIC.  It is read into memory, and every estimator is run
        `runs` times on it at the full budget.
    runs
        How many times, 10 when left out; the error that counts is their median.  Only with `public_data`.
    progress
        Show a progress bar over the runs.

    Examples
    --------
    >>> import plandp
    >>> comparison = plandp.compare(n=20_000, d=50, bounds=(0, 100), rho=0.1, spread_shape="zipf:2")
    >>> comparison.recommended
    'plan'
    >>> comparison["plan"].predicted_error < comparison["gaussian"].predicted_error / 5
    True
    """
    _refuse_kind(kind, spread=spread, smallest_spread=smallest_spread)
    p = read_error_norm(error_norm)
    budget = read_budget(rho=rho, epsilon=epsilon, delta=delta)
    _, promised = read_promise(epsilon, delta)
    entrants = _read_methods(methods, kind=kind, measured=public_data is not None)
    times = _read_runs(runs, measured=public_data is not None)
    if spread is not None and spread_shape is not None:
        raise ArgumentError("spread_shape", "is what is assumed where spreads are not known; leave it out with spread")
    if public_data is not None:
        _refuse_size(n, d)
    elif n is None:
        raise ArgumentError("n", "is missing; say how many rows there are, or give public data")
    if kind == "binary":
        items = None if public_data is None else read_public_items(public_data, bounds=bounds, progress=progress)
        limits = (0, 1) if bounds is None else bounds
        rows, labels = _size(n, d, limits) if items is None else (items.rows.shape[0], items.labels)
        return compare_items(
            [entrant for entrant in entrants if isinstance(entrant, Estimator)],  # all of them: no peer is let in
            n=rows,
            columns=read_sparse_columns(labels, kind=kind, bounds=limits, error_scale=error_scale),
            rho=budget,
            error_norm=p,
            spread_shape=spread_shape,
            table=items,
            runs=times,
            progress=progress,
            warnings=large_delta(delta, rows),
            delta=promised,
        )
    table = None if public_data is None else read_public_table(public_data, bounds=bounds, progress=progress)
    rows, labels = _size(n, d, bounds) if table is None else (len(table.values), table.labels)
    columns = read_columns(
        labels=labels, bounds=bounds, error_scale=error_scale, spread=spread, smallest_spread=smallest_spread
    )
    spreads, assumed = _spreads(spread_shape, columns, bounds, table)
    spreads = np.minimum(spreads, columns.width / 2.0)  # no values between the bounds have larger ones
    question = Question(n=rows, columns=columns, rho=budget, error_norm=p, spread=spreads / columns.error_scale)
    contenders = [_before(entrant, question) for entrant in entrants]
    skipped: list[str] = []
    if table is not None:
        ways, skipped = _ways(entrants, table, question, asked=methods is not None)
        errors = measured_errors(ways, table.mean(columns), columns, p, runs=times, progress=progress)
        contenders = [
            replace(found, measured_errors=errors[found.method]) for found in contenders if found.method in errors
        ]
    recommended, reason = recommend(contenders)
    return Comparison(
        recommended=recommended,
        reason=reason,
        contenders=in_order(contenders, recommended),
        oracle_error=median_error(oracle_noise(question.spread, n=rows, rho=float(budget), error_norm=p), p),
        sampling_error=median_error(question.spread / math.sqrt(rows), p),
        n=rows,
        d=columns.d,
        rho=budget,
        error_norm=p,
        spread=spreads,
        assumed=assumed,
        runs=times,
        skipped=tuple(skipped),
        warnings=large_delta(delta, rows),
        delta=promised,
    )


def _read_runs(runs: object, *, measured: bool) -> int:
    """Return how often to run each method, 0 where there is nothing to run it on."""
    if runs is None:
        return USUAL_RUNS if measured else 0
    times = whole_number(runs, most=MOST_RUNS)
    if times is None:
        raise ArgumentError("runs", f"must be a whole number from 1 to {MOST_RUNS}")
    if not measured:
        raise ArgumentError("runs", "is how often methods are run on public data; leave it out, or give public data")
    return times


def _before(entrant: Entrant, question: Question) -> Contender:
    """What is known of an entrant before anything is run."""
    if isinstance(entrant, Peer):
        return Contender(method=entrant.name, predicted_error=None, feasible=True, budget=entrant.budget)
    return predicted(entrant, question)


def _ways(
    entrants: Iterable[Entrant], table: PublicTable, question: Question, *, asked: bool
) -> tuple[list[tuple[str, Run]], list[str]]:
    """How to run each entrant, and who is left out, since a library that nobody asked for may be missing."""
    ways: list[tuple[str, Run]] = []
    skipped: list[str] = []
    for entrant in entrants:
        if isinstance(entrant, Estimator):
            way = runs_of_method(entrant, table, question.columns, question.rho, question.error_norm)
            ways.append((entrant.name, way))
            continue
        try:
            ways.append((entrant.name, runs_of_peer(entrant, table, question.columns, question.rho)))
        except MissingExtra as missing:
            if asked:
                raise
            skipped.append(str(missing))
    return ways, skipped


def _refuse_kind(kind: object, **real_only: object) -> None:
    check_kind(kind)
    if kind == "nonnegative":
        problem = "must be 'real' or 'binary': of counts there is one method; ask plandp.check about it"
        raise ArgumentError("kind", problem)
    for name, given in real_only.items():
        if kind != "real" and given is not None:
            raise ArgumentError(name, f"is for kind='real' only; leave it out with kind={kind!r}")


def _size(n: object, d: object, bounds: object) -> tuple[int, tuple[Label, ...]]:
    return read_count("n", n, MOST_ROWS, "rows"), read_labels(d, bounds)


def _read_methods(methods: object, *, kind: str, measured: bool) -> list[Entrant]:
    if methods is None:
        if kind == "binary":
            return [*map(find_estimator, names_for_items(kind))]
        return [*map(find_estimator, NAMES), *(PEERS if measured else ())]
    if isinstance(methods, str | Estimator):
        methods = [methods]
    if not isinstance(methods, Iterable) or getattr(methods, "ndim", 1) == 0:
        raise ArgumentError("methods", "must be a list of names, or of Estimator values from plandp.methods")
    found = [_read_method(method, kind=kind, measured=measured) for method in methods]
    if not found:
        raise ArgumentError("methods", "must name at least one method; leave it out for all of them")
    if len({entrant.name for entrant in found}) < len(found):
        raise ArgumentError("methods", _named_twice(entrant.name for entrant in found))
    return found


def _named_twice(names: Iterable[str]) -> str:
    name = next(name for name, times in Counter(names).items() if times > 1)
    again = (
        "leave it out the second time, or give an Estimator another name by dataclasses.replace(estimator, name=...)"
    )
    return f"{name!r} is there more than once; {again}"


def _read_method(method: object, *, kind: str, measured: bool) -> Entrant:
    if kind == "binary":
        found = find_estimator_of_items(method, kind, argument="methods")
        _refuse_no_predictor(found.items is None or found.items.predictor is not None or measured)
        return found
    peer = find_peer(method) if isinstance(method, str) else None
    if peer is not None:
        if not measured:
            raise ArgumentError("methods", f"{peer.name!r} is measured on public data only, not predicted")
        return peer
    names = ", ".join(repr(name) for name in (*NAMES, *((peer.name for peer in PEERS) if measured else ())))
    try:
        estimator = find_estimator(method)
    except ArgumentError:
        estimator = None
    if estimator is None:
        raise ArgumentError("methods", f"must be some of {names}, or an Estimator from plandp.methods")
    _refuse_no_predictor(estimator.predictor is not None or measured)
    return estimator


def _refuse_no_predictor(something_to_say: bool) -> None:
    if not something_to_say:
        raise ArgumentError("methods", "an Estimator without a predictor can be measured on public data only")


def _spreads(shape: object, columns: Columns, bounds: object, table: PublicTable | None) -> tuple[FloatArray, str]:
    """The spreads to predict for, in the units of the columns, and in words where they are from."""
    if columns.spread is not None:
        return columns.spread, "the spreads that are given, which every method is told"
    if shape is None and table is not None:
        return table.spread(columns), "the spreads of the public data, which no method is told"
    return read_spread_shape("equal" if shape is None else shape, columns, bounds=bounds, labels=columns.labels)


def _refuse_size(n: object, d: object) -> None:
    for name, value in (("n", n), ("d", d)):
        if value is not None:
            raise ArgumentError(name, "must not be given together with public data, which has its own; leave it out")
