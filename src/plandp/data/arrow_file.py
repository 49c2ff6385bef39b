"""Feather and Arrow IPC files, read batch by batch, large batches in pieces; only the columns asked for are read."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

from plandp.data import batches
from plandp.data.arrow_messages import StoredBatch, is_file, stored_batches
from plandp.data.arrow_numbers import refuse_damaged
from plandp.data.arrow_pieces import ColumnPlaces, batch_pieces, column_places
from plandp.data.arrow_table import ArrowColumns, choose_columns
from plandp.data.batches import Batches, Piece
from plandp.data.column_groups import MOST_TOGETHER, ColumnGroups
from plandp.data.read_room import ReadRoom
from plandp.data.stored_columns import stored_kind, stretches
from plandp.errors import MissingExtra
from plandp.terms.columns import Label

LARGE = 2**23
"""A batch of more values (64 MiB) is not held whole: usual ones of 65,536 rows and 128 columns are, which is faster."""

ROWS_OF_A_GROUP = 2**14
"""So many rows of a group of columns are unpacked at a time: few, since a window may end there."""

WIDE = 4
"""Of very many columns that need no unpacking so many times as many values are read at a time, in longer reads."""


def open_ipc(path: Path, columns: Collection[Label] | None) -> Batches:
    """Return a Feather (version 2) or Arrow IPC file or stream whose schema was accepted; no value is read."""
    with ipc_reader(path) as (reader, _):
        schema = reader.schema
    chosen = choose_columns(schema, columns)
    return ArrowFile(
        path=path,
        names=tuple(schema.names),
        columns=chosen,
        places=column_places(schema),
        size=path.stat().st_size,
        stream=not is_file(path),
    )


@contextmanager
def ipc_reader(path: Path, fields: Sequence[int] = ()) -> Iterator[tuple[Any, Any]]:
    """Open an Arrow IPC file or stream, of which only these fields are read, or all; return also what it reads."""
    try:
        from pyarrow import OSFile, ipc  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading an Arrow or Feather file") from None
    opened = ipc.open_file if is_file(path) else ipc.open_stream
    with OSFile(str(path)) as source:
        yield opened(source, options=ipc.IpcReadOptions(included_fields=list(fields))), source


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowFile:
    """The rows of an Arrow IPC file or stream, batch by batch."""

    path: Path
    names: tuple[str, ...]  # of all its columns
    columns: ArrowColumns
    places: ColumnPlaces | None
    size: int
    stream: bool
    n = None  # it takes a pass to count them, but a short one

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.columns.labels

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through the headers of the batches."""
        for batch in stored_batches(self.path):
            yield batch.n, batch.size

    def pieces(self) -> Iterator[Piece]:
        """Go through the batches."""
        room = ReadRoom()
        fields = sorted(self.names.index(name) for name in self.columns.names)
        with ipc_reader(self.path, fields) as (reader, source), self.path.open("rb", buffering=0) as file:
            for number, batch in enumerate(stored_batches(self.path)):
                own = self._read_here(file, batch, room)
                if own is not None:
                    yield from own
                    if self.stream:
                        source.seek(batch.end)
                elif self.stream:  # from where pyarrow is, which must have seen the columns of categories before
                    yield from self._whole(reader.read_next_batch(), batch)
                else:
                    yield from self._whole(reader.get_batch(number), batch)

    def _read_here(self, file: FileIO, batch: StoredBatch, room: ReadRoom) -> Iterator[Piece] | None:
        """Go through the rows of a batch without pyarrow's reader; None for a batch that is left to it."""
        if self.places is None or not self.places.fit(batch):
            return None
        places = [self.places.columns[name] for name in self.columns.names]
        kind = stored_kind(batch, places)
        if kind is not None:
            tables = stretches(file, batch, places, kind=kind, labels=self.labels, room=room)
            return ((table, batch.size * table.n // batch.n) for table in tables)
        return self._cut(batch) if self._in_pieces(batch) else None

    @property
    def _wide(self) -> bool:
        return len(self.columns.names) > MOST_TOGETHER and not any(self.columns.widths)

    def _in_pieces(self, batch: StoredBatch) -> bool:
        if self.stream and self.places is not None and self.places.dictionaries:  # pyarrow must see them all, or none
            return True
        return batch.n * self.columns.unpacked > LARGE

    def _cut(self, batch: StoredBatch) -> Iterator[Piece]:
        """Go through the rows of a batch that is not held whole."""
        import pyarrow

        assert self.places is not None
        read = partial(batch_pieces, self.path, batch, self.places)
        names = self.columns.names
        if self._wide and batch.codec is not None:  # each column that is unpacked takes a megabyte
            read_group = partial(read, ROWS_OF_A_GROUP)
            yield ColumnGroups(n=batch.n, labels=self.labels, names=names, batches=read_group), batch.size
            return
        step = max(1, (WIDE if self._wide else 1) * batches.VALUES_AT_A_TIME // self.columns.unpacked)
        for piece in read(step, names):
            yield self.columns.of(pyarrow.Table.from_batches([piece])), batch.size * piece.num_rows // batch.n
            del piece

    def _whole(self, batch: Any, stored: StoredBatch) -> Iterator[Piece]:
        """Return the rows of a batch that was read."""
        import pyarrow

        if batch.num_rows != stored.n:
            raise EOFError("a batch has another number of rows than its header says")
        refuse_damaged(batch)
        table = pyarrow.Table.from_batches([batch])
        del batch
        yield self.columns.of(table), stored.size
