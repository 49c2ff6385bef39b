"""Parquet, Feather and Arrow IPC files as tables; only the columns asked for are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plandp.data.arrow_table import ArrowTable, open_arrow
from plandp.data.labels import find_positions, read_labels
from plandp.errors import MissingExtra
from plandp.terms.columns import Label

_IPC_FILE = b"ARROW1"  # the first bytes of the file format; the streaming format starts with a message


def read_parquet(path: Path, columns: Sequence[Label] | None, progress: bool) -> ArrowTable:
    """Return the table in a Parquet file; its schema decides what is accepted, before any value is read."""
    try:
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading a Parquet file") from None
    with ParquetFile(path) as file:
        names = _accepted(file.schema_arrow, columns).labels
        return _checked(file.read(columns=list(names)), columns)


def read_arrow(path: Path, columns: Sequence[Label] | None, progress: bool) -> ArrowTable:
    """Return the table in a Feather (version 2) or Arrow IPC file or stream, accepted by its schema."""
    try:
        from pyarrow import OSFile, ipc  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading an Arrow or Feather file") from None
    with path.open("rb") as start:
        reader = ipc.open_file if start.read(len(_IPC_FILE)) == _IPC_FILE else ipc.open_stream
    with OSFile(str(path)) as source:
        schema = reader(source).schema
    _accepted(schema, columns)
    positions = find_positions(read_labels(schema.names), columns)
    wanted = ipc.IpcReadOptions(included_fields=None if positions is None else sorted(positions))
    with OSFile(str(path)) as source:
        return _checked(reader(source, options=wanted).read_all(), columns)


def _accepted(schema: Any, columns: Sequence[Label] | None) -> ArrowTable:
    """Return the table of this schema without rows, or refuse it."""
    table = open_arrow(schema.empty_table(), columns)
    assert table is not None
    return table


def _checked(table: Any, columns: Sequence[Label] | None) -> ArrowTable:
    table.validate()  # a damaged file can promise more values than it holds
    opened = open_arrow(table, columns)
    assert opened is not None
    return opened
