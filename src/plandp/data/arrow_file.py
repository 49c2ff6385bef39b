"""Feather and Arrow IPC files, read batch by batch; only the columns asked for are read."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from plandp.data.arrow_numbers import refuse_damaged
from plandp.data.arrow_table import ArrowColumns, choose_columns
from plandp.data.batches import Batches, Piece
from plandp.data.column_groups import ColumnGroups, windows
from plandp.data.mapped_reads import MappedReads
from plandp.errors import MissingExtra
from plandp.terms.columns import Label

LARGE = 2**24
"""A batch of more values (128 MiB) is not held whole, where the file allows that."""

_FILE = b"ARROW1"  # the first bytes of the file format; the streaming format starts with a message


def open_ipc(path: Path, columns: Collection[Label] | None) -> Batches:
    """Return a Feather (version 2) or Arrow IPC file or stream whose schema was accepted; no value is read."""
    with ipc_reader(path) as (reader, _):
        schema = reader.schema
    chosen = choose_columns(schema, columns)
    kind = ArrowFile if _is_file(path) else ArrowStream
    # Columns are copied into rows as soon as they are read; lists lie as rows already, and would be looked at later.
    # pyarrow copies what it reads of a file, but not of a stream.
    mapped = kind is ArrowStream and not any(chosen.widths)
    fields = Fields(path=path, names=tuple(schema.names), mapped=mapped)
    return kind(fields=fields, columns=chosen, size=path.stat().st_size)


@contextmanager
def ipc_reader(path: Path, fields: Sequence[int] = (), *, mapped: bool = False) -> Iterator[tuple[Any, Any]]:
    """Open an Arrow IPC file or stream, of which only these fields are read, or all; return also what it reads."""
    try:
        from pyarrow import OSFile, PythonFile, ipc  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading an Arrow or Feather file") from None
    opened = ipc.open_file if _is_file(path) else ipc.open_stream
    with ExitStack() as stack:
        if mapped:
            file = stack.enter_context(path.open("rb", buffering=0))
            source = stack.enter_context(PythonFile(MappedReads(file), mode="r"))
        else:
            source = stack.enter_context(OSFile(str(path)))
        yield opened(source, options=ipc.IpcReadOptions(included_fields=list(fields))), source


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fields:
    """A file, the names of all its columns, and whether values may be read where they lie in it."""

    path: Path
    names: tuple[str, ...]
    mapped: bool

    @contextmanager
    def reader(self, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Open the file for some of its columns."""
        fields = sorted(self.names.index(name) for name in names)
        with ipc_reader(self.path, fields, mapped=self.mapped) as opened:
            yield opened


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowStream:
    """The rows of an Arrow IPC stream: its batches, each of them held whole."""

    fields: Fields
    columns: ArrowColumns
    size: int
    n = None  # it takes a pass to count them

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.columns.labels

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through the batches, of which one column is unpacked."""
        for batch, size in self._batches(self.columns.names[:1]):
            yield batch.num_rows, size

    def pieces(self, *, picked: bool) -> Iterator[Piece]:
        """Go through the batches."""
        for batch, size in self._batches(self.columns.names):
            yield self.columns.of(_checked(batch)), size

    def _batches(self, names: Sequence[str]) -> Iterator[tuple[Any, int]]:
        read = 0
        with self.fields.reader(names) as (reader, source):
            for batch in reader:
                end = source.tell()
                yield batch, end - read
                read = end


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowFile:
    """The rows of an Arrow IPC file: its batches, a few columns at a time of those that are large."""

    fields: Fields
    columns: ArrowColumns
    size: int
    n = None  # it takes a pass to count them, but a short one

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.columns.labels

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through the batches, of which one column is read."""
        with self.fields.reader(self.columns.names[:1]) as (reader, _):
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number).num_rows, self.size // reader.num_record_batches

    def pieces(self, *, picked: bool) -> Iterator[Piece]:
        """Go through the batches."""
        lengths = [length for length, _ in self.counts()] if self._may_be_cut else []
        with self.fields.reader(self.columns.names) as (reader, _):
            for number in range(reader.num_record_batches):
                size = self.size // reader.num_record_batches
                if self._may_be_cut and lengths[number] * len(self.labels) > LARGE:
                    group = ColumnGroups(
                        n=lengths[number],
                        labels=self.labels,
                        names=self.columns.names,
                        batches=partial(self._columns_of, number),
                    )
                    for window in windows(group, picked=picked):
                        yield window, size * window.n // group.n
                        del window  # it is large, and would live on while the next is read
                else:
                    yield self.columns.of(_checked(reader.get_batch(number))), size

    @property
    def _may_be_cut(self) -> bool:
        return len(self.columns.names) > 1 and not any(self.columns.widths)

    def _columns_of(self, number: int, names: Sequence[str]) -> Iterator[Any]:
        with self.fields.reader(names) as (reader, _):
            batch = reader.get_batch(number)
            refuse_damaged(batch)
            yield batch


def _is_file(path: Path) -> bool:
    with path.open("rb") as start:
        return start.read(len(_FILE)) == _FILE


def _checked(batch: Any) -> Any:
    """Return a batch as a table; a damaged file can promise more values than it holds."""
    import pyarrow

    refuse_damaged(batch)
    return pyarrow.Table.from_batches([batch])
