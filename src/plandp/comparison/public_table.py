"""Data that was declared public or synthetic, whole in memory.  Nothing here is private, and nothing must be."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from plandp.data.open import open_rows
from plandp.errors import ArgumentError
from plandp.terms.columns import Columns, FloatArray, Label, named_in_bounds

_NAMES = {"data": "public_data", "columns": "bounds"}


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicTable:
    """The rows as they are, the labels of their columns."""

    values: FloatArray
    labels: tuple[Label, ...]

    def inside(self, columns: Columns) -> FloatArray:
        """Return the rows clipped to the bounds, what is missing left out."""
        return np.asarray(np.clip(self.values, columns.low, columns.high))

    def mean(self, columns: Columns) -> FloatArray:
        """Return the mean of what is there, clipped to the bounds; of an empty column their middle."""
        inside = self.inside(columns)
        there = ~np.isnan(inside)
        middle = columns.low / 2.0 + columns.high / 2.0
        total = np.where(there, inside, 0.0).sum(axis=0)
        return np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), middle)

    def filled(self, columns: Columns) -> FloatArray:
        """Return the clipped rows with means where values are missing: for libraries that know no missing values."""
        inside = self.inside(columns)
        return np.where(np.isnan(inside), self.mean(columns), inside)

    def spread(self, columns: Columns) -> FloatArray:
        """Return the spreads, but no finer than matters."""
        return np.asarray(np.maximum(self.filled(columns).std(axis=0), columns.smallest_spread))


def read_public_table(data: object, *, bounds: object, progress: bool) -> PublicTable:
    """Read all rows of the columns that the bounds name, or of all."""
    with told_as_public():
        rows = open_rows(data, columns=named_in_bounds(bounds), progress=progress)
    return PublicTable(values=np.concatenate(list(rows.blocks())), labels=rows.labels)


@contextmanager
def told_as_public() -> Iterator[None]:
    """Name the arguments of `plandp.compare` where a source names those of its own."""
    try:
        yield
    except ArgumentError as error:
        argument, problem = _NAMES.get(error.argument, error.argument), error.problem
    else:
        return
    raise ArgumentError(argument, problem)
