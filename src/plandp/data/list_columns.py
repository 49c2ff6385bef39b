"""Arrow columns whose cells are lists of numbers, such as embeddings: each place of the list is a column of its own."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_numbers import arrow_numbers
from plandp.data.table import RowChoice
from plandp.terms.columns import Label

_PLACE = re.compile(r"(.*)\[(0|[1-9][0-9]{0,6})\]", re.DOTALL)
_MOST_PLACES = 2**20


def is_alone(columns: Iterable[Label] | None, name: str) -> bool:
    """Whether places of the only column are called 0, 1, …: not where somebody asks for them as x[0], x[1], …."""
    return not named_places(columns, name, alone=False)


def place_label(name: str, place: int, *, alone: bool) -> Label:
    """Return what one place of a list column is called: x[0], x[1], …, or 0, 1, … where there is no other column."""
    return place if alone else f"{name}[{place}]"


def named_places(columns: Iterable[Label] | None, name: str, *, alone: bool) -> int:
    """Return how wide a list column must be for the places of it that are asked for, 0 for none.

    A list without a fixed width has as many places as somebody names, from public knowledge.
    """
    listed = isinstance(columns, Iterable) and getattr(columns, "ndim", 1) != 0
    if columns is None or isinstance(columns, str) or not listed:
        return 0
    places = [_place(label, name, alone=alone) for label in columns]
    return max((1 + place for place in places if 0 <= place < _MOST_PLACES), default=0)


def _place(label: object, name: str, *, alone: bool) -> int:
    if alone:
        return label if type(label) is int else -1
    match = _PLACE.fullmatch(label) if isinstance(label, str) else None
    return int(match[2]) if match is not None and match[1] == name else -1


def fixed_width(dtype: Any) -> int | None:
    """Return the width of a fixed-size list type, None for any other type."""
    from pyarrow import types  # type: ignore[import-untyped]  # pyarrow ships no types

    return int(dtype.list_size) if types.is_fixed_size_list(dtype) else None


def is_list(dtype: object) -> bool:
    """Whether columns of this type hold lists that can be read."""
    import pyarrow

    types = pyarrow.types
    # asked first, since most columns hold numbers
    nested = types.is_nested(dtype)
    return bool(nested and (types.is_fixed_size_list(dtype) or types.is_list(dtype) or types.is_large_list(dtype)))


def list_values(column: Any, rows: RowChoice, width: int) -> NDArray[Any]:
    """Return the first `width` places of the lists in these rows, NaN where a list or a number is missing.

    A longer list counts as far as that, a shorter one is missing from there on: each by itself.
    """
    parts, begin = [], 0
    for chunk in column.chunks:
        end = begin + len(chunk)
        if isinstance(rows, slice):
            first, last = max(rows.start, begin), min(rows.stop, end)
            if first < last:
                parts.append(_places(chunk.slice(first - begin, last - first), None, width))
        else:
            own = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, end)]
            if len(own):
                lists = chunk.slice(own[0] - begin, 1 + own[-1] - own[0])
                parts.append(_places(lists, own - own[0], width))
        begin = end
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, width)), *parts])


def _places(lists: Any, rows: NDArray[np.int64] | None, width: int) -> NDArray[Any]:
    size = fixed_width(lists.type)
    if size == width:  # the numbers lie side by side already
        numbers = arrow_numbers(lists.values.slice(lists.offset * width, len(lists) * width)).reshape(-1, width)
        table = numbers if rows is None else numbers[rows]
    else:
        begin, length = _begins(lists, size)
        first, last = begin[0], begin[-1] + length[-1]
        numbers = arrow_numbers(lists.values.slice(first, last - first))  # decimals take their time
        begin -= first
        if rows is not None:
            begin, length = begin[rows], length[rows]
        place = np.arange(width)
        there = place < length[:, None]
        table = np.full((len(begin), width), np.nan)
        table[there] = numbers[(begin[:, None] + place)[there]]
    if lists.null_count:
        absent = np.asarray(lists.is_null().to_numpy(zero_copy_only=False))
        table = np.where((absent if rows is None else absent[rows])[:, None], np.nan, table)
    return table


def _begins(lists: Any, size: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins among all numbers, and how long it is."""
    if size is not None:
        begin = np.arange(lists.offset, lists.offset + len(lists), dtype=np.int64) * size
        return begin, np.full(len(lists), size)
    offsets = lists.offsets.to_numpy().astype(np.int64)  # a copy
    return offsets[:-1], np.diff(offsets)
