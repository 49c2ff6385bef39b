"""From events to sparse rows, one row per person: who is kept, what counts, and sums that no order can change."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.event_ids import first_people
from plandp.data.id_column import NULL, IdColumn
from plandp.data.sparse_rows import SparseBlock
from plandp.data.stored_rows import MOST_ROWS, narrowest

ROWS_PER_BLOCK = 2**16
"""How many rows a block has, or d if that is more: sums by item are merged per block."""

LARGEST_VALUE = 2.0**100
"""Values of single events are clipped here, so that no sum of them overflows."""

_EXACT_INTEGERS = 2.0**52


@dataclass(frozen=True, eq=False, repr=False)
class PersonRows:
    """The rows of n people: first those who have an item, then empty ones."""

    n: int
    d: int
    begin: NDArray[np.int64]
    items: NDArray[Any]  # int32 or int64
    values: NDArray[Any] | None

    def blocks(self) -> Iterator[SparseBlock]:
        """Return all n rows, cut by n and d alone; empty rows take no memory until they are read."""
        step = min(max(ROWS_PER_BLOCK, self.d), MOST_ROWS)
        for start in range(0, self.n, step):
            rows = np.arange(start, min(start + step, self.n) + 1)
            begin = self.begin[np.minimum(rows, len(self.begin) - 1)]
            held = slice(int(begin[0]), int(begin[-1]))
            yield SparseBlock(begin - begin[0], self.items[held], None if self.values is None else self.values[held])


def keep_people(person: IdColumn, people: int) -> NDArray[np.int64]:
    """Return the numbers of the people, null for all but the first `people` in the public order.

    Everybody who has an event in the table counts, also those all of whose items are unknown: who is kept must not
    depend on what others did, and so is the same for every measure and every list of items.
    """
    present = np.flatnonzero(np.bincount(person.numbers + 1)[1:])
    if len(present) <= people:
        return person.numbers
    ids = person.ids()
    kept = np.full(len(ids) + 1, NULL, dtype=np.int64)  # the last place is that of null, -1
    numbers = list(first_people(((number, ids[number]) for number in present.tolist()), people))
    kept[numbers] = numbers
    return kept[person.numbers]


def group_events(
    person: NDArray[np.int64],
    item: NDArray[np.int64],
    values: NDArray[np.float64] | None,
    *,
    n: int,
    d: int,
    count: bool,
) -> PersonRows:
    """Return the rows of events given by person and item, null where an event does not count.

    An item of a row counts one; with `count` the number of its events; with `values` their sum, where it is above zero.
    """
    counting = (person != NULL) & (item != NULL)
    if values is not None:
        counting &= ~np.isnan(values)
        values = values[counting]
    cell = person[counting] * d + item[counting]  # below 2**63, or the events would not fit into memory
    if values is not None:
        order = np.argsort(cell, kind="stable")
        cell, values = cell[order], values[order]
    else:
        cell.sort()
    first = _starts(cell)
    cell = cell[first]
    measured: NDArray[Any] | None = None
    if values is not None:
        sums = exact_sums(values, first)
        above = sums > 0
        cell, measured = cell[above], sums[above]
    elif count:
        measured = np.diff(np.append(first, np.count_nonzero(counting)))
    row = cell // d
    return PersonRows(
        n=n,
        d=d,
        begin=np.append(_starts(row), len(row)),
        items=(cell - row * d).astype(narrowest(d)),
        values=measured,
    )


def exact_sums(values: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of groups of consecutive values, given where each begins; NaN must have been dropped.

    Guarantee: each is the exact sum of its values, clipped to ±2**100, rounded once to float64: a function of the
    values in the group and of nothing else, neither their order nor other groups.
    """
    if len(first) == 0:
        return np.empty(0)
    clipped = np.clip(values, -LARGEST_VALUE, LARGEST_VALUE)
    # Where all partial sums are integers below 2**53, float64 adds them without rounding, in any order.
    if np.all(clipped == np.rint(clipped)) and float(np.abs(clipped).sum()) < _EXACT_INTEGERS:
        return np.add.reduceat(clipped, first)
    end = np.append(first[1:], len(clipped))
    sums = clipped[first]
    several = np.flatnonzero(end - first > 1)
    for group, start, stop in zip(several.tolist(), first[several].tolist(), end[several].tolist(), strict=True):
        sums[group] = fsum(clipped[start:stop])
    return sums


def _starts(sorted_values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each run of equal values begins."""
    new = np.ones(len(sorted_values), dtype=np.bool_)
    np.not_equal(sorted_values[1:], sorted_values[:-1], out=new[1:])
    return np.flatnonzero(new)
