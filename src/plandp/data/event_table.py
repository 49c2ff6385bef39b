"""What a container of events must offer: its columns, as ids or as numbers."""

from collections.abc import Callable, Collection
from typing import Protocol

from numpy import float64
from numpy.typing import NDArray

from plandp.data.id_column import IdColumn
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


class EventColumns(Protocol):
    """What is public of a table with one row per event."""

    @property
    def labels(self) -> tuple[object, ...]:
        """The names of all columns."""
        ...

    def offer(self, asked: Collection[Label]) -> str:
        """Say which columns there are, where one of those asked for is not."""
        ...

    def refuse_ids(self, label: Label, argument: str) -> None:
        """Refuse a column whose dtype is neither integer nor text, as this argument; no cell is read."""
        ...

    def refuse_values(self, label: Label) -> None:
        """Refuse a column that is not numeric, as the argument `measure`; no cell is read."""
        ...


class EventTable(EventColumns, Protocol):
    """A table with one row per event; each cell is read on its own, whatever the other cells are."""

    def ids(self, label: Label) -> IdColumn:
        """Return a column of ids, which was not refused."""
        ...

    def values(self, label: Label) -> NDArray[float64]:
        """Return a numeric column, which was not refused, as float64, nulls as NaN."""
        ...


Accept = Callable[[EventColumns], None]
"""Accepts or refuses a table of events by its labels and types, before a cell is read; it need not have its rows."""


def not_a_measure(label: Label, dtype: object) -> ArgumentError:
    """Return the refusal of a column of values by its public dtype."""
    return ArgumentError(
        "measure", f"column {label!r} has dtype {dtype}, which is not numeric; name a numeric column or convert it"
    )
