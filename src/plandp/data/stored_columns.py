"""Batches of an Arrow file whose columns are read as they are stored: numbers of one machine type, none missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import FileIO

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_messages import StoredBatch
from plandp.data.arrow_numbers import stored_type
from plandp.data.arrow_pieces import ColumnPlace
from plandp.data.read_room import LINE, ReadRoom
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import ColumnsInMemory, columns_at, side_by_side, worth_a_loop
from plandp.data.table import RowChoice, float_block
from plandp.terms.columns import Label

STRETCH = 2**24
"""So many bytes are read at a time: they stay in the last cache, and each column is worth a call."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoredColumns:
    """Some rows of columns that were read as they are stored."""

    n: int
    labels: tuple[Label, ...]
    columns: ColumnsInMemory

    converts = True

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column as float64."""
        for column, own in zip(self.columns.each(self.n), floats, strict=True):
            own[:] = column[rows]

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64."""
        if self.columns.plain:
            return float_block(self.columns.rows(rows))
        columns = [column[rows] for column in self.columns.each(self.n)]
        return float_block(side_by_side(columns, of=self.n * len(self.labels)))


def stored_kind(batch: StoredBatch, columns: Sequence[ColumnPlace]) -> np.dtype[np.generic] | None:
    """The type of all numbers of these columns, where they are read as they are stored; None elsewhere."""
    if batch.codec is not None or not worth_a_loop(batch.n * len(columns)):
        return None
    if any(batch.nodes[column.node]["nulls"] for column in columns):
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
    """Go through the rows of a batch; what is yielded must be let go before the next is asked for, or takes memory."""
    size, begins = kind.itemsize, []
    for place in places:
        number = place.buffer + 1 + int(batch.further[: place.views].sum())
        offset, length = map(int, batch.buffers[number])
        if batch.nodes[place.node]["length"] != batch.n or length < batch.n * size:
            raise EOFError("a column has not as many rows as its batch")
        begins.append(batch.body + offset)
    step = max(1, STRETCH // (size * len(begins)))
    for first in range(0, batch.n, step):
        rows = min(step, batch.n - first)
        apart = -(-rows * size // LINE) * LINE
        lent = room.lend(apart * len(begins))
        for number, begin in enumerate(begins):
            _fill(file, lent[number * apart : number * apart + rows * size], begin + first * size)
        addresses = [lent.ctypes.data + number * apart for number in range(len(begins))]
        columns = columns_at(addresses, rows, lent, kind)
        assert columns is not None
        del lent
        yield StoredColumns(n=rows, labels=labels, columns=columns)
        del columns


def _fill(file: FileIO, part: NDArray[np.uint8], begin: int) -> None:
    file.seek(begin)
    done = 0
    while done < len(part):
        count = file.readinto(part[done:].data)
        if not count:
            raise EOFError("a file is cut off")
        done += count
