"""The front door for events: one row per event in, the mean over people out."""

import os
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from plandp.data.events import open_events
from plandp.handover import release_sparse
from plandp.ledger.ledger import Ledger
from plandp.noise.meter import open_door
from plandp.spending import spending
from plandp.terms.budget import large_delta, read_budget, read_promise
from plandp.terms.choices import read_error_norm, read_refine, read_sparse_columns, refuse_no_bounds
from plandp.terms.columns import Columns, Label
from plandp.terms.release import MeanRelease


@np.errstate(all="ignore")  # or the values could decide whether a caller who made NumPy strict sees an exception
def mean_of_events(
    table: object,
    *,
    person: Label,
    item: Label,
    items: Sequence[Label],
    people: int,
    measure: Label = "presence",
    bounds: object = None,
    rho: float | str | Fraction | Decimal | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    error_norm: float = 1,
    error_scale: object = None,
    refine: Sequence[str] | None = None,
    sampler: str = "exact",
    testing_seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    progress: bool = False,
) -> MeanRelease:
    """Release how much of each item people have on average, from a table with one row per event.

    Guarantee: everything in the returned release together is ρ-zCDP, ρ = `receipt.rho`, for **people**: when all
    events of one person are replaced by any others, of the same or of one fresh id.  The number of people and the list
    of items are public.  Nothing in the events can raise, warn or change a shape.  Proof: docs/proofs/event_rows.md.

    Parameters
    ----------
    table
        One row per event: a pandas or polars frame, Arrow table, Spark frame, or the path of a file (.csv, .tsv,
        .parquet or .pq, .feather, .arrow, .arrows or .ipc).
    person, item
        The columns that say whose event it is and of which item: integers or text.  An id is its exact text, and an
        integer that of its decimal digits: 7 is "7", but not "007".  Events where one of them is missing do not count.
    items
        All items that can count, in the order of the estimate: public knowledge, never read from the events.  Events of
        other items do not count.
    people
        The public number of people; it is never counted.  People without events count as having nothing.  If there are
        events of more, those people who come first in a public order of ids (by a hash) are kept, and the estimate is
        about them: that they are a sample is in no stated error.
    measure
        What a person has of an item: "presence" (1 if there is an event, whatever their number), "count" (the number of
        events), or the name of a numeric column (its exact sum over the events).  Sums below zero count as zero.
    bounds
        `(0, high)`: the most that one person can have of an item; more counts as that.  Public knowledge, needed for
        everything but "presence".
    rho, epsilon, delta
        The budget: ρ of zCDP (float, string such as "1/8", Fraction), or ε together with δ.
    error_norm, error_scale
        The error to make small is Σ(|error_i| / scale_i)^p, p ≥ 1.  "bounds" takes the upper bounds as scale.
    refine
        Post-processing at no cost in privacy, all of it when left out: see `plandp.mean`.
    sampler
        "exact" (vectorised, in this package) or "opendp" (needs the extra of that name).
    testing_seed
        Makes a run repeatable, for tests only: the release says that it protects nobody.
    ledger, dataset
        Pay from the budget of a dataset that is kept in a `plandp.Ledger`, given as such or by its path or URL: see
        `plandp.mean`.  Its unit must be the people of the column `person`.
    progress
        Show a progress bar while a file is read.

    `plandp.check(n=people, d=len(items), kind="binary", error_norm=1, rho=...)` says beforehand what to expect of
    "presence"; of other measures with kind="nonnegative" and the same bounds.

    Examples
    --------
    >>> import pandas, plandp
    >>> visits = pandas.DataFrame({"user": [1, 1, 2, 3] * 500, "page": ["home", "help", "home", "gone"] * 500})
    >>> visits["user"] += 3 * (visits.index // 4)  # 1,500 people, of 2,000 who could have come
    >>> release = plandp.mean_of_events(
    ...     visits, person="user", item="page", items=["home", "help"], people=2_000, rho=0.5, testing_seed=1
    ... )
    >>> bool(abs(release.estimate - [0.5, 0.25]).max() < 0.05)
    True
    >>> release.receipt.privacy_unit
    'person'
    """
    kind = "binary" if isinstance(measure, str) and measure == "presence" else "nonnegative"
    refuse_no_bounds(kind, bounds)
    p = read_error_norm(error_norm)
    switched_on = read_refine(refine, kind)
    budget = read_budget(rho=rho, epsilon=epsilon, delta=delta)
    door = open_door(reserved=budget, sampler=sampler, testing_seed=testing_seed)
    public: Columns

    def before_values(labels: tuple[Label, ...]) -> None:
        nonlocal public
        public = read_sparse_columns(labels, kind=kind, bounds=bounds, error_scale=error_scale, measure=measure)
        run.reading()

    with spending(ledger=ledger, dataset=dataset, rho=budget, person=person, testing_seed=testing_seed) as run:
        rows = open_events(
            table,
            person=person,
            item=item,
            items=items,
            people=people,
            measure=measure,
            before_values=before_values,
            progress=progress,
        )
        release = release_sparse(
            rows,
            door,
            budget,
            kind=kind,
            public=public,
            error_norm=p,
            refine=switched_on,
            warnings=large_delta(delta, rows.n),
            delta=read_promise(epsilon, delta)[1],
            privacy_unit="person",
            neighbours="replace all events of one person",
        )
        return run.paid(release)
