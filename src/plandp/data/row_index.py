"""`row_index=`: whether rows have public numbers, and where they stand."""

from collections.abc import Callable, Collection, Iterable, Set
from contextlib import suppress
from operator import index
from typing import TypeVar

import numpy as np

from plandp.data.blocks import VALUES_PER_BLOCK, TableRows
from plandp.data.labels import BeforeValues, offer
from plandp.data.numbered_rows import NumberedRows, UnnumberedRows
from plandp.data.row_numbers import refuse_misnumbered
from plandp.data.rows import Rows
from plandp.data.table import Table
from plandp.errors import ArgumentError
from plandp.terms.columns import Label, fits_label

T = TypeVar("T")

RowIndex = Label | bool | None
"""None: by position where the source has an order; False: no numbers; a label: the column that holds them."""


def read_row_index(row_index: object) -> RowIndex:
    """Accept or refuse what was passed as `row_index`."""
    if row_index is None or row_index is False:
        return row_index
    if isinstance(row_index, str):
        return str(row_index)
    if not isinstance(row_index, bool) and hasattr(type(row_index), "__index__"):
        with suppress(TypeError):  # arrays have it and are no numbers
            number = index(row_index)  # type: ignore[arg-type]  # NumPy integers become int here
            if fits_label(number):
                return number
    raise ArgumentError(
        "row_index",
        "must be the name of the column that holds the row numbers, False for rows without numbers, or None",
    )


def open_numbered(
    opened: Callable[[Collection[Label] | None, BeforeValues], Rows],
    columns: Collection[Label] | None,
    row_index: RowIndex,
    before_values: BeforeValues,
    numbers: Callable[[Label], Table | None],
) -> Rows:
    """Open rows that lie in public order, and number them as asked.

    Of a table in memory `numbers` returns the column of row numbers alone, which is checked before `before_values` is
    called: it is public.  Of rows that are brought into memory it is checked then, of others in the first pass.
    """
    if row_index is None:
        return opened(columns, before_values)
    if row_index is False:
        return UnnumberedRows(opened(columns, before_values))
    checked = False

    def before(labels: tuple[Label, ...]) -> None:
        nonlocal checked
        column = numbers(row_index)
        if column is not None:
            _refuse_misnumbered(column, 0)
            checked = True
        before_values(labels)

    rows = open_with_index(opened, columns, row_index, before)
    index = rows.labels.index(row_index)
    if isinstance(rows, TableRows) and not checked:
        _refuse_misnumbered(rows.table, index)
        checked = True
    return NumberedRows(rows, index=index, checked=checked)


def open_with_index(
    opened: Callable[[Collection[Label] | None, BeforeValues], T],
    columns: Collection[Label] | None,
    row_index: Label,
    before_values: BeforeValues,
) -> T:
    """Open the asked columns and that of the row numbers; `before_values` sees the asked ones only."""

    def before(labels: tuple[Label, ...]) -> None:
        released = tuple(label for label in labels if label != row_index)
        if len(released) == len(labels):
            raise ArgumentError("row_index", f"the data has no column {row_index!r}; {offer(labels)}")
        if not released:
            raise ArgumentError("data", "there is no column but that of the row numbers; pass some to release")
        before_values(released)

    try:
        return opened(_with(columns, row_index), before)
    except ArgumentError as error:
        problem = _problem_of(row_index, error)
        if problem is None:
            raise
    raise ArgumentError("row_index", problem)


def not_row_numbers(label: Label, dtype: object) -> ArgumentError:
    """Return the refusal of a column of row numbers by its public dtype."""
    return ArgumentError(
        "row_index", f"column {label!r} has dtype {dtype}; row numbers are 0, 1, …, n-1 in a numeric column"
    )


@np.errstate(all="ignore")
def _refuse_misnumbered(table: Table, index: int) -> None:
    """Refuse a table in memory unless this column of it holds each row number once."""
    step = max(1, VALUES_PER_BLOCK // len(table.labels))
    stretches = (slice(start, min(start + step, table.n)) for start in range(0, table.n, step))
    refuse_misnumbered((table.read(rows)[:, index] for rows in stretches), table.n)


def _problem_of(row_index: Label, error: ArgumentError) -> str | None:
    """Return what is wrong with the column of the row numbers, None where something else is."""
    if error.argument == "columns" and error.problem.startswith(f"the data has no column {row_index!r};"):
        return error.problem
    if error.argument == "data" and (found := f"column {row_index!r} has dtype ") in error.problem:
        dtype = error.problem.partition(found)[2].partition(", which is ")[0]
        return not_row_numbers(row_index, dtype).problem
    return None


def accepted_labels(
    find: Callable[[Collection[Label] | None], tuple[Label, ...]],
    columns: Collection[Label] | None,
    row_index: RowIndex,
    before_values: BeforeValues,
) -> tuple[tuple[Label, ...], Label | None]:
    """Return the labels that are released and that of the row numbers, when `find` has found and accepted them."""

    def accept(asked: Collection[Label] | None, before: BeforeValues) -> tuple[Label, ...]:
        labels = find(asked)
        if labels:  # a table without columns is refused as such
            before(labels)
        return labels

    if row_index is None or row_index is False:
        return accept(columns, before_values), None
    labels = open_with_index(accept, columns, row_index, before_values)
    return tuple(label for label in labels if label != row_index), row_index


def _with(columns: Collection[Label] | None, row_index: Label) -> Collection[Label] | None:
    if isinstance(columns, str) or not isinstance(columns, Iterable) or getattr(columns, "ndim", 1) == 0:
        return columns  # None, for all of them, or what is refused as such
    asked = list(columns)
    if row_index in asked:
        raise ArgumentError(
            "row_index",
            f"{row_index!r} is a column to release, and row numbers are public; leave it out of one of them",
        )
    return {*asked, row_index} if isinstance(columns, Set) else [*asked, row_index]
