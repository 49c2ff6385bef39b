"""The front door: check the public arguments, make the design, reserve, run, and hand over the release."""

import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np

from plandp.data.open import open_rows
from plandp.data.row_index import read_row_index
from plandp.errors import ArgumentError
from plandp.handover import handed_over, release_sparse
from plandp.ledger.ledger import Ledger
from plandp.methods import PLAN, Estimator, find_estimator, find_estimator_of_items
from plandp.noise.meter import open_door
from plandp.spending import spending
from plandp.terms.budget import large_delta, read_budget, read_promise
from plandp.terms.choices import check_kind, read_error_norm, read_refine, read_sparse_columns, read_threads
from plandp.terms.columns import Columns, Label, named_in_bounds, read_columns
from plandp.terms.release import MeanRelease

T = TypeVar("T")


@np.errstate(all="ignore")  # or the values could decide whether a caller who made NumPy strict sees an exception
def mean(
    data: object,
    *,
    bounds: object = None,
    rho: float | str | Fraction | Decimal | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    kind: str = "real",
    columns: Sequence[Label] | None = None,
    row_index: Label | bool | None = None,
    missing: object = None,
    error_norm: float = 2,
    error_scale: object = None,
    spread: object = None,
    smallest_spread: object = None,
    method: str | Estimator = "plan",
    refine: Sequence[str] | None = None,
    sampler: str = "exact",
    testing_seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    progress: bool = False,
    threads: int = 1,
) -> MeanRelease:
    """Release the mean of a table of personal data, one row per person, under differential privacy.

    Guarantee: everything in the returned release together is ρ-zCDP, ρ = `receipt.rho`, when one row is replaced by
    any other row; the number of rows is public and published exactly.  Nothing about the values can raise, warn or
    change a shape.  Proof: docs/proofs/plan_mean.md.

    Parameters
    ----------
    data
        Rows × columns: a NumPy array (one or two dimensions), pandas or polars frame, Arrow table, list of rows, or
        the path of a file (.csv, .tsv, .parquet or .pq, .feather, .arrow, .arrows or .ipc, .npy, .npz).  Also many
        files, by a pattern such as "data/*.parquet", a directory or a list of paths, and a function that returns an
        iterator of arrays, frames or Arrow batches: what is larger than memory is read more than once.  Of the sparse
        kinds also a SciPy sparse matrix or array.  Dask arrays and frames, and Spark frames, are read by their workers.
    bounds
        Public limits, never taken from the data: `(low, high)` for all columns, one pair per column, or a mapping by
        label.  Values outside are clipped.  Generous bounds cost only logarithmically.
    rho, epsilon, delta
        The budget: ρ of zCDP (float, string such as "1/8", Fraction), or ε together with δ.
    kind
        "real": any numbers.  "binary": items that are there or not, such as purchases or clicks; any value but 0 and
        NaN is a one, and bounds are (0, 1).  "nonnegative": counts and other values from 0 on, with bounds (0, high);
        what is negative or NaN counts as 0.  Rows of the last two may be sparse, and are never made dense.
    columns
        Labels of the columns to release, in order.  When left out, those that `bounds` names, in the order of the
        data; all of them when it names none.
    row_index
        Rough steps read a sample of the rows, chosen by public coins and the public number of a row: its position in
        the data, unless a column is named here that holds the numbers 0 … n-1, each once.  That column is public, and
        not released.  Neither may follow from other people's values, as in a table sorted by one.  False: the rows have
        no numbers, and every step reads all of them.
    missing
        What a missing value (NaN, null) counts as: a public value, one per column, or a mapping by label.  When left
        out it counts as the released centre of its column and so adds nothing to the sum.
    error_norm, error_scale
        The error to make small is Σ(|error_i| / scale_i)^p, p ≥ 1.  "bounds" takes the widths of the bounds as scale.
    spread
        Publicly known spreads of the columns: then nothing is spent on finding them.
    smallest_spread
        The finest spread that matters; 2^-20 of the width of the bounds when left out.
    method
        "plan", "unscaled", "gaussian", "plan-classic", "iome", "coinpress", "mahalanobis", or an `Estimator` from
        plandp.methods.  Of kind="binary" "plan", "plan-classic" and "iome"; of kind="nonnegative" "plan" only.
    refine
        Post-processing of the sparse kinds, at no cost in privacy, all of it when left out: "combine" both looks at the
        means by their precision, "shrink" them by what all of them together teach (empirical Bayes), "clamp" them to
        the bounds.  `noise_std`, `unrefined` and intervals are about the estimate before the last two.
    sampler
        "exact" (vectorised, in this package) or "opendp" (needs the extra of that name).
    testing_seed
        Makes a run repeatable, for tests only: the release says that it protects nobody.
    ledger, dataset
        Pay from the budget of a dataset that is kept in a `plandp.Ledger`, given as such or by its path or URL.  ρ is
        reserved before any row value is read, and the release is stored.  A run that is stopped after that has spent
        its ρ; one that is refused before, say for a misspelled column, has not.
    progress
        Show a progress bar while rows are read.
    threads
        How many threads add up the rows of a table of kind "real" that is held in memory, 1 to 64; the release is the
        same with any number.  It pays for tables of 100 MB and more, with Numba.

    Examples
    --------
    >>> import numpy as np, plandp
    >>> heights = np.linspace([150.0, 40.0], [200.0, 100.0], 10_000)  # height and weight of 10,000 people
    >>> release = plandp.mean(heights, bounds=[(50, 250), (0, 300)], rho=0.5, testing_seed=1)
    >>> bool(np.all(abs(release.estimate - [175, 70]) < 1))
    True
    >>> release.receipt.rho
    Fraction(1, 2)
    """
    check_kind(kind)
    threads = read_threads(threads)
    p = read_error_norm(error_norm)
    budget = read_budget(rho=rho, epsilon=epsilon, delta=delta)
    _, promised = read_promise(epsilon, delta)
    door = open_door(reserved=budget, sampler=sampler, testing_seed=testing_seed)
    switched_on = read_refine(refine, kind)
    numbers = read_row_index(row_index)
    if kind != "real":
        real_only = ("row_index", row_index), ("missing", missing), ("spread", spread)
        for name, given in (*real_only, ("smallest_spread", smallest_spread)):
            if given is not None:
                why = f", since with kind={kind!r} what is missing counts as 0" if name == "missing" else ""
                raise ArgumentError(name, f"is for kind='real' only; leave it out{why}")
    estimator = find_estimator(method) if kind == "real" else find_estimator_of_items(method, kind)
    if refine is not None and estimator is not PLAN:
        raise ArgumentError("refine", "is for method='plan' only; leave it out")
    if estimator.needs_order and numbers is not None:
        raise ArgumentError("method", f"{estimator.name!r} goes by the position of a row; leave row_index out")
    public: Columns

    def before_values(labels: tuple[Label, ...]) -> None:
        nonlocal public
        if kind == "real":
            public = read_columns(
                labels=labels,
                bounds=bounds,
                missing=missing,
                error_scale=error_scale,
                spread=spread,
                smallest_spread=smallest_spread,
            )
        else:
            public = read_sparse_columns(labels, kind=kind, bounds=bounds, error_scale=error_scale)
        run.reading()

    with spending(ledger=ledger, dataset=dataset, rho=budget, person=None, testing_seed=testing_seed) as run:
        if kind == "real":
            opened = partial(
                open_rows,
                data,
                row_index=numbers,
                in_order=estimator.needs_order,
                before_values=before_values,
                progress=progress,
                threads=threads,
            )
            rows = _of_columns(columns, bounds, opened)
            design = estimator.design(n=rows.n, columns=public, rho=budget, error_norm=p, numbered=rows.numbered)
            release = handed_over(
                estimator.run(rows, design, door),
                rows,
                door,
                public,
                method=estimator.name,
                error_norm=p,
                noise_share=float(design.split.sum / design.split.rho),
                warnings=large_delta(delta, rows.n),
                delta=promised,
            )
        else:
            from plandp.data.open_sparse import open_sparse_rows  # here, since tables of numbers do not need it

            binary = kind == "binary"
            opened_sparse = partial(
                open_sparse_rows,
                data,
                binary=binary,
                in_order=estimator.needs_order,
                before_values=before_values,
                progress=progress,
            )
            sparse = _of_columns(columns, bounds, opened_sparse)
            if estimator is PLAN:
                release = release_sparse(
                    sparse,
                    door,
                    budget,
                    kind=kind,
                    public=public,
                    error_norm=p,
                    refine=switched_on,
                    warnings=large_delta(delta, sparse.n),
                    delta=promised,
                )
            else:
                assert estimator.items is not None  # or it was refused
                design = estimator.items.plan(n=sparse.n, columns=public, rho=budget, error_norm=p)
                release = handed_over(
                    estimator.items.run(sparse, design, door),
                    sparse,
                    door,
                    public,
                    method=estimator.name,
                    error_norm=p,
                    noise_share=float(design.split.sum / design.split.rho),
                    warnings=large_delta(delta, sparse.n),
                    delta=promised,
                    kind=kind,
                )
        return run.paid(release)


def _of_columns(columns: Sequence[Label] | None, bounds: object, opened: Callable[..., T]) -> T:
    """Open the data with the columns that are asked for, or else named in the bounds."""
    if columns is not None:
        return opened(columns=columns)
    try:
        return opened(columns=named_in_bounds(bounds))
    except ArgumentError as error:
        if error.argument != "columns":
            raise
        problem = error.problem
    raise ArgumentError("bounds", problem)
