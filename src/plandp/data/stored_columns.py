"""Batches of an Arrow file whose columns are read as they are stored: numbers of one machine type, none missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import FileIO

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_messages import StoredBatch
from plandp.data.arrow_numbers import stored_type
from plandp.data.arrow_pieces import ColumnPlace
from plandp.data.read_room import LINE, ReadRoom
from plandp.data.row_choice import runs_in
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import FLOAT, ColumnsInMemory, columns_at, side_by_side, worth_a_loop
from plandp.data.table import RowChoice, float_block
from plandp.terms.columns import Label

STRETCH = 2**24
"""So many bytes are read at a time: they stay in the last cache, and each column is worth a call."""


SKIPPED = 3 * 2**13
"""So many bytes of a column, on average, between rows that are picked are passed over instead of read."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoredColumns:
    """Consecutive rows of columns in an open file, read when they are asked for."""

    file: FileIO
    begins: tuple[int, ...]  # of each column's first row
    kind: np.dtype[np.generic]
    n: int
    labels: tuple[Label, ...]
    room: ReadRoom

    @cached_property
    def columns(self) -> ColumnsInMemory:
        """All rows, in memory that is used again once nobody holds them."""
        size = self.n * self.kind.itemsize
        apart = -(-size // LINE) * LINE
        lent = self.room.lend(apart * len(self.begins))
        content = lent.data
        for place, begin in enumerate(self.begins):
            _fill(self.file, content[place * apart : place * apart + size], begin)
        return _at(lent.ctypes.data, apart, len(self.begins), self.n, lent, self.kind)

    converts = True

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column as float64."""
        for column, own in zip(self.columns.each(self.n), floats, strict=True):
            own[:] = column[rows]

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64."""
        if not isinstance(rows, slice):
            runs = runs_in(rows)
            if (self.n - len(rows)) * self.kind.itemsize > SKIPPED * len(runs):
                return float_block(self._picked(rows, runs))
        if self.columns.plain:
            return float_block(self.columns.rows(rows))
        columns = [column[rows] for column in self.columns.each(self.n)]
        return float_block(side_by_side(columns, of=self.n * len(self.labels)))

    def _picked(self, rows: NDArray[np.int64], runs: Sequence[slice]) -> NDArray[np.float64]:
        size, d = self.kind.itemsize, len(self.begins)
        stored = np.empty((d, len(rows)), self.kind)
        content = stored.view(np.uint8).reshape(-1).data
        places = [(run.start * size, run.stop * size, int(rows[run.start]) * size) for run in runs]
        for column, begin in enumerate(self.begins):
            start = column * len(rows) * size
            for first, last, after in places:
                _fill(self.file, content[start + first : start + last], begin + after)
        floats = stored.astype(np.float64, copy=False)
        return _at(floats.ctypes.data, floats.strides[0], d, len(rows), floats, FLOAT).rows(slice(0, len(rows)))


def stored_kind(batch: StoredBatch, columns: Sequence[ColumnPlace]) -> np.dtype[np.generic] | None:
    """The type of all numbers of these columns, where they are read as they are stored; None elsewhere."""
    if batch.codec is not None or not worth_a_loop(batch.n * len(columns)):
        return None
    nulls = batch.nodes["nulls"].tolist()
    if any(nulls[column.node] for column in columns):
        return None
    return stored_type([column.dtype for column in columns])


def stretches(
    file: FileIO,
    batch: StoredBatch,
    places: Sequence[ColumnPlace],
    *,
    kind: np.dtype[np.generic],
    labels: tuple[Label, ...],
    room: ReadRoom,
) -> Iterator[StoredColumns]:
    """Go through the rows of a batch; who holds one stretch while the next is read makes it take memory of its own."""
    size, begins = kind.itemsize, []
    offsets, lengths = batch.buffers["offset"].tolist(), batch.buffers["length"].tolist()
    rows, further = batch.nodes["length"].tolist(), [0, *np.cumsum(batch.further).tolist()]
    for place in places:
        number = place.buffer + 1 + further[place.views]
        if rows[place.node] != batch.n or lengths[number] < batch.n * size:
            raise EOFError("a column has not as many rows as its batch")
        begins.append(batch.body + offsets[number])
    step = max(1, STRETCH // (size * len(begins)))
    for first in range(0, batch.n, step):
        yield StoredColumns(
            file=file,
            begins=tuple(begin + first * size for begin in begins),
            kind=kind,
            n=min(step, batch.n - first),
            labels=labels,
            room=room,
        )


def _at(first: int, apart: int, d: int, n: int, owner: object, kind: np.dtype[np.generic]) -> ColumnsInMemory:
    columns = columns_at([first + place * apart for place in range(d)], n, owner, kind)
    assert columns is not None  # `stored_kind` has seen that there is a compiler
    return columns


def _fill(file: FileIO, left: memoryview, begin: int) -> None:
    file.seek(begin)
    while left:
        count = file.readinto(left)
        if not count:
            raise EOFError("a file is cut off")
        left = left[count:]
