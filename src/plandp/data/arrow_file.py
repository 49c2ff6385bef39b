"""Parquet, Feather and Arrow IPC files as tables; only the columns asked for are read."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plandp.data.arrow_table import ArrowTable, open_arrow
from plandp.data.labels import BeforeValues
from plandp.data.table import refuse_empty
from plandp.errors import MissingExtra
from plandp.terms.columns import Label

Choice = Callable[[Any, int | None], Sequence[Label]]
"""Names some columns of a schema, or refuses it, before any value is read; the number of rows may be known, too."""

_IPC_FILE = b"ARROW1"  # the first bytes of the file format; the streaming format starts with a message


def read_parquet(
    path: Path, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool
) -> ArrowTable:
    """Return the table in a Parquet file; its schema decides what is accepted, before any value is read."""
    return _checked(load_parquet(path, partial(_accept, columns, before_values)), columns)


def read_arrow(
    path: Path, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool
) -> ArrowTable:
    """Return the table in a Feather (version 2) or Arrow IPC file or stream, accepted by its schema."""
    return _checked(load_arrow(path, partial(_accept, columns, before_values)), columns)


def load_parquet(path: Path, choose: Choice) -> Any:
    """Return the columns of a Parquet file that `choose` names when it has seen the schema, as a pyarrow.Table."""
    try:
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading a Parquet file") from None
    with ParquetFile(path) as file:
        return file.read(columns=list(choose(file.schema_arrow, file.metadata.num_rows)))


def load_arrow(path: Path, choose: Choice) -> Any:
    """Return the columns of an Arrow IPC file or stream that `choose` names when it has seen the schema."""
    try:
        from pyarrow import OSFile, ipc  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading an Arrow or Feather file") from None
    with path.open("rb") as start:
        reader = ipc.open_file if start.read(len(_IPC_FILE)) == _IPC_FILE else ipc.open_stream
    with OSFile(str(path)) as source:
        schema = reader(source).schema
    positions = [schema.names.index(name) for name in choose(schema, None)]
    with OSFile(str(path)) as source:
        return reader(source, options=ipc.IpcReadOptions(included_fields=sorted(positions))).read_all()


def _accept(
    columns: Collection[Label] | None, before_values: BeforeValues, schema: Any, n: int | None
) -> tuple[Label, ...]:
    """Return the columns to be read, or refuse the schema."""
    table = open_arrow(schema.empty_table(), columns)
    assert table is not None
    if n is not None:
        refuse_empty(n=n, d=len(table.labels))
    before_values(table.labels)
    return table.labels


def _checked(table: Any, columns: Collection[Label] | None) -> ArrowTable:
    table.validate()  # a damaged file can promise more values than it holds
    opened = open_arrow(table, columns)
    assert opened is not None
    return opened
