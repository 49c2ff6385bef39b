"""What a container of events must offer: its columns, as ids or as numbers."""

from typing import Protocol

from numpy import float64
from numpy.typing import NDArray

from plandp.data.id_column import IdColumn
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


class EventTable(Protocol):
    """A table with one row per event; each cell is read on its own, whatever the other cells are."""

    @property
    def labels(self) -> tuple[object, ...]:
        """The names of all columns."""
        ...

    def ids(self, label: Label, argument: str) -> IdColumn:
        """Return a column of ids; one whose dtype is neither integer nor text is refused, as this argument."""
        ...

    def values(self, label: Label) -> NDArray[float64]:
        """Return a numeric column as float64, nulls as NaN; others are refused, as the argument `measure`."""
        ...


def not_a_measure(label: Label, dtype: object) -> ArgumentError:
    """Return the refusal of a column of values by its public dtype."""
    return ArgumentError(
        "measure", f"column {label!r} has dtype {dtype}, which is not numeric; name a numeric column or convert it"
    )
