"""Arrow tables and record batches as tables."""

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_numbers import (
    addresses_of,
    arrow_floats,
    arrow_numbers,
    is_arrow_number,
    stored_type,
    write_floats,
)
from plandp.data.labels import find_positions, read_labels, select
from plandp.data.list_columns import fixed_width, is_alone, is_list, list_values, named_places, place_label
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import ColumnsInMemory, columns_at, side_by_side, worth_a_loop
from plandp.data.table import RowChoice, float_block, not_numeric
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

ANY_WIDTH = 1024
"""Lists of no fixed width are read in so many rows as if they were as long as this, or as somebody names."""


SHOWN = 3
"""So many lists are named to who asks for a place of one by a number."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowColumns:
    """What is read of tables with one schema, by public names and types alone."""

    names: tuple[str, ...]  # of the columns that are read, in the order of the first label of each
    widths: tuple[int | None, ...]  # of those that hold lists; None for numbers
    labels: tuple[Label, ...]
    positions: tuple[int, ...] | None  # of the labels among all that the columns hold; None without lists
    unpacked: int  # numbers of a row that are read, however few are asked for: lists are read whole

    def of(self, table: Any) -> "ArrowTable":
        """Return what is asked for of a pyarrow.Table."""
        return ArrowTable(table=table.select(list(self.names)), columns=self)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowTable:
    """A pyarrow.Table of columns of numbers, or of lists of numbers."""

    table: Any
    columns: ArrowColumns

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.columns.labels

    @cached_property
    def kind(self) -> np.dtype[Any] | None:
        """The type of all numbers, where columns hold numbers of one machine type."""
        return stored_type(self.table.schema.types)

    @cached_property
    def in_memory(self) -> ColumnsInMemory | None:
        """The columns, where they can be read as they lie."""
        if self.kind is None or not worth_a_loop(self.n * len(self.labels)):
            return None
        found = addresses_of(self.table.columns, self.kind)
        return None if found is None else columns_at(found, self.n, self.table, self.kind)

    @property
    def converts(self) -> bool:
        """Whether columns can be converted one by one: they hold numbers, not lists."""
        return not any(self.columns.widths)

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column as float64, nulls as NaN."""
        for column, own in zip(self.table.columns, floats, strict=True):
            write_floats(column.slice(rows.start, rows.stop - rows.start), own)

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, nulls as NaN."""
        widths, positions = self.columns.widths, self.columns.positions
        columns = self.in_memory
        if columns is not None and columns.plain:
            return float_block(columns.rows(rows))
        if not any(widths):
            if columns is None:
                stored = [arrow_numbers(column) for column in _rows_of(self.table, rows).columns]
            else:
                stored = [column[rows] for column in columns.each(self.n)]
            values = side_by_side(stored, of=self.n * len(self.labels))
        elif len(widths) == 1:
            values = list_values(self.table.column(0), rows, widths[0] or 0)
        else:
            values = np.concatenate(
                [
                    arrow_floats(_rows_of(self.table.select([place]), rows).column(0))[:, None]
                    if width is None
                    else list_values(self.table.column(place), rows, width)
                    for place, width in enumerate(widths)
                ],
                axis=1,
                dtype=np.float64,
            )
        return float_block(values if positions is None else values[:, list(positions)])


def open_arrow(data: object, columns: Collection[Label] | None) -> ArrowTable | None:
    """Return a Table or RecordBatch as a table, None for other objects; non-numeric columns are refused."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    table = pyarrow.Table.from_batches([data]) if isinstance(data, pyarrow.RecordBatch) else data
    if not isinstance(table, pyarrow.Table):
        return None
    return choose_columns(table.schema, columns).of(table)


def choose_columns(schema: Any, columns: Collection[Label] | None) -> ArrowColumns:
    """Return which columns of a schema are read for the labels that are asked for; other schemas are refused.

    A column of lists has the labels x[0], x[1], …, and its own name stands for all.  If there is no other they are
    0, 1, …, unless they are asked for as x[0], x[1], ….
    """
    columns = list(columns) if isinstance(columns, Iterator) else columns  # it is gone through more than once
    names = schema.names  # made anew whenever it is asked for
    labels = read_labels(names)
    if columns is None and labels and all(map(is_arrow_number, _distinct(schema.types))):  # the usual case at once
        return ArrowColumns(
            names=tuple(names), widths=(None,) * len(names), labels=labels, positions=None, unpacked=len(names)
        )
    alone = len(schema) == 1 and is_alone(columns, names[0])
    widths = [
        (fixed_width(field.type) or named_places(columns, field.name, alone=alone)) if is_list(field.type) else None
        for field in schema
    ]
    every = tuple(_labels_of(field.name, width, alone=alone) for field, width in zip(schema, widths, strict=True))
    labels = read_labels(label for own in every for label in own)
    if not labels and len(schema):  # one column of lists: it has places when some are named
        _refuse_type(schema.field(0), widths[0])
    asked = _found(labels, _with_places(columns, schema, widths, every), schema)
    wanted = select(labels, asked)
    source = {label: place for place, own in enumerate(every) for label in own}
    places = tuple(dict.fromkeys(source[label] for label in wanted)) if columns is not None else range(len(every))
    for place in places:
        _refuse_type(schema.field(place), widths[place])
    held = [label for place in places for label in every[place]]
    where = {label: position for position, label in enumerate(held)}
    return ArrowColumns(
        names=tuple(names[place] for place in places),
        widths=tuple(widths[place] for place in places),
        labels=wanted,
        positions=None if list(wanted) == held else tuple(where[label] for label in wanted),
        unpacked=sum(_unpacked(schema.field(place).type, widths[place]) for place in places),
    )


def _distinct(types: Sequence[Any]) -> Collection[Any]:
    try:
        return set(types)
    except TypeError:  # types of somebody's own need not have a hash
        return types


def _unpacked(dtype: Any, width: int | None) -> int:
    # How long lists of no fixed width are is not public: they are taken for as long as 1 GB is promised for.
    return 1 if width is None else fixed_width(dtype) or max(width, ANY_WIDTH)


def _rows_of(table: Any, rows: RowChoice) -> Any:
    return table.slice(rows.start, rows.stop - rows.start) if isinstance(rows, slice) else table.take(rows)


def _labels_of(name: str, width: int | None, *, alone: bool) -> tuple[Label, ...]:
    return (name,) if width is None else tuple(place_label(name, place, alone=alone) for place in range(width))


def _found(labels: tuple[Label, ...], columns: Collection[Label] | None, schema: Any) -> tuple[int, ...] | None:
    """Where the asked labels are; one that is not there may be meant as a place of a list."""
    try:
        return find_positions(labels, columns)
    except ArgumentError as error:
        refusal = error
    lists = _meant(labels, columns, schema) if refusal.problem.startswith("the data has no column") else []
    if not lists:
        raise refusal
    places = ", ".join(f"'{name}[0]', '{name}[1]', …" for name in lists[:SHOWN])
    hold = f"{lists[0]!r} holds" if len(lists) == 1 else f"{len(lists)} columns hold"
    raise ArgumentError(
        "columns",
        f"{refusal.problem}; {hold} lists, whose places are {places} where there is another column, such as one of row "
        "numbers",
    )


def _meant(labels: tuple[Label, ...], columns: Collection[Label] | None, schema: Any) -> list[str]:
    """The lists of which the first label that is not there may be a place: a number of any, a name of one not offered.

    A name that is like nothing is mistyped, or that of the row numbers is: what there is was offered.
    """
    absent = next((label for label in columns or () if label not in labels), None)
    lists = [field.name for field in schema if is_list(field.type)] if len(schema) > 1 else []
    if not isinstance(absent, str):
        return lists
    hidden = [name for name in lists if place_label(name, 0, alone=False) not in labels]  # of no fixed width
    return [name for name in hidden if absent == name or absent.startswith(f"{name}[")] or hidden


def _with_places(
    columns: Collection[Label] | None,
    schema: Any,
    widths: Sequence[int | None],
    every: Sequence[tuple[Label, ...]],
) -> Collection[Label] | None:
    """Return the asked labels, in place of the name of a list column those of all its places."""
    lists = {name: place for place, name in enumerate(schema.names) if widths[place] is not None}
    listed = isinstance(columns, Iterable) and getattr(columns, "ndim", 1) != 0
    if not lists or columns is None or isinstance(columns, str) or not listed:
        return columns
    asked: list[Label] = []
    for column in columns:
        place = lists.get(column) if isinstance(column, str) else None
        if place is None:
            asked.append(column)
        else:
            _refuse_type(schema.field(place), widths[place])
            asked.extend(every[place])
    return set(asked) if isinstance(columns, Set) else asked


def _refuse_type(field: Any, width: int | None) -> None:
    if width is None:
        if not is_arrow_number(field.type):
            raise not_numeric(field.name, field.type)
        return
    if not is_arrow_number(field.type.value_type):
        raise not_numeric(field.name, field.type)
    if width == 0:
        raise ArgumentError(
            "data",
            f"column {field.name!r} holds lists of no fixed width; store it as a fixed-size list, or name the places "
            f"that are read: columns=['{field.name}[0]', '{field.name}[1]', ...]",
        )
