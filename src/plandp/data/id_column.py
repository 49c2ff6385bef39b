"""A column of ids as numbers: equal ids have equal numbers, and null is -1."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.event_ids import canonical_id
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

_SPARSENESS = 4
"""Integers that span up to so many times their number are counted in a table, which is faster than sorting them."""

NULL = -1


# No repr of the fields, as for all tables: it would carry values into logs and tracebacks.
@dataclass(frozen=True, eq=False, repr=False)
class IdColumn:
    """The id of each event, as its place in a list of distinct canonical ids; the list may hold ids of no event."""

    numbers: NDArray[np.int64]  # of the shape of the column; -1 is null
    ids: Callable[[], Sequence[bytes]]  # made when needed: text of a million integers takes longer than the rest


class Numbering(defaultdict[bytes, int]):
    """Numbers for ids in the order in which they come; the empty id is null."""

    def __init__(self) -> None:
        super().__init__(count().__next__, {b"": NULL})

    def column(self, numbers: NDArray[np.int64]) -> IdColumn:
        """Return the column that has these numbers."""
        return IdColumn(numbers, lambda: [text for text in self if text])


class _TextNumbering(dict[str, int]):
    """Numbers for plain strings, whose text is encoded once and not for every event."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering

    def __missing__(self, text: str) -> int:
        number = self[text] = self._numbering[canonical_id(text) or b""]
        return number


def number_cells(cells: Iterable[object]) -> IdColumn:
    """Return a column of Python objects, each read on its own; what is neither text nor an integer is null."""
    numbering = Numbering()
    texts = _TextNumbering(numbering)
    # Only strings are looked up: as keys, True and 1.0 would be the 1 of somebody else.
    numbers = (texts[cell] if type(cell) is str else numbering[canonical_id(cell) or b""] for cell in cells)
    return numbering.column(np.fromiter(numbers, dtype=np.int64))


def number_integers(values: NDArray[Any], null: NDArray[np.bool_] | None = None) -> IdColumn:
    """Return a column of integers of any width; where `null` is true the value does not count."""
    wide = values if values.dtype.itemsize == 8 else values.astype(np.int64)
    if len(wide) == 0:
        return IdColumn(np.empty(0, dtype=np.int64), list)
    low, high = int(wide.min()), int(wide.max())
    if high - low <= _SPARSENESS * len(wide):
        offsets = (wide - wide.dtype.type(low)).astype(np.int64)
        seen = np.zeros(high - low + 1, dtype=np.bool_)
        seen[offsets] = True
        distinct = np.flatnonzero(seen)
        numbers = (np.cumsum(seen) - 1)[offsets]
    else:
        low = 0
        distinct, numbers = np.unique(wide, return_inverse=True)
    if null is not None:
        numbers = np.where(null, NULL, numbers)
    return IdColumn(numbers, lambda: [b"%d" % (low + offset) for offset in distinct.tolist()])


def number_categories(places: NDArray[Any], categories: IdColumn) -> IdColumn:
    """Return a column of places in a list of categories, -1 for null; categories of one text are one id."""
    with_null = np.append(categories.numbers, np.int64(NULL))
    return IdColumn(with_null[places], categories.ids)


def places_of(column: IdColumn, places: Mapping[bytes, int]) -> NDArray[np.int64]:
    """Return for each event the place of its id, null if the id has none."""
    by_number = [places.get(text, NULL) for text in column.ids()]
    return np.array([*by_number, NULL], dtype=np.int64)[column.numbers]


def not_an_id(argument: str, label: Label, dtype: object) -> ArgumentError:
    """Return the refusal of a column of ids by its public dtype."""
    name = str(dtype)
    advice = (
        "Where one null has turned integers into floats, ids may have been lost: read the column again as Int64 or as "
        "text"
        if "float" in name.lower() or "double" in name
        else "Convert the column to text or integers"
    )
    return ArgumentError(argument, f"column {label!r} has dtype {name}; ids are integers or text.  {advice}")
