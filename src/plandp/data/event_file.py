"""Files as tables of events; only the columns asked for are read."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plandp.data.arrow_events import ArrowEvents, as_bytes
from plandp.data.arrow_file import ipc_reader
from plandp.data.csv_events import read_csv_events
from plandp.data.event_table import Accept, EventTable
from plandp.data.files import read_file
from plandp.data.parquet_file import parquet_reader
from plandp.terms.columns import Label

Choice = Callable[[Any], list[str]]
"""Names some columns of a schema, or refuses it, before any value is read."""

EVENT_FILES = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".arrows", ".ipc", ".feather")


def open_event_file(
    name: str | os.PathLike[str], *, ids: Sequence[Label], values: Sequence[Label], accept: Accept, progress: bool
) -> EventTable:
    """Return the events in a file, of which these columns are read; no cell can raise.

    `accept` is called between the header or schema and the events.
    """
    wanted = {*ids, *values}
    read_text = partial(read_csv_events, ids=ids, values=values, accept=accept, progress=progress)
    of_parquet = "Parquet", partial(_read_columns, _load_parquet, wanted, accept)
    of_arrow = partial(_read_columns, _load_arrow, wanted, accept)
    readers: dict[str, tuple[str, Callable[[Path], EventTable]]] = {
        ".csv": ("CSV", partial(read_text, delimiter=b",")),
        ".tsv": ("TSV", partial(read_text, delimiter=b"\t")),
        ".parquet": of_parquet,
        ".pq": of_parquet,
        ".arrow": ("Arrow IPC", of_arrow),
        ".arrows": ("Arrow IPC", of_arrow),
        ".ipc": ("Arrow IPC", of_arrow),
        ".feather": ("Feather", of_arrow),
    }
    return read_file(name, readers, content="events")


def _read_columns(load: Callable[[Path, Choice], Any], wanted: set[Label], accept: Accept, path: Path) -> ArrowEvents:
    labels: list[str] = []

    def choose(schema: Any) -> list[str]:
        labels.extend(schema.names)
        accept(ArrowEvents(schema.empty_table(), tuple(labels)))
        return [name for name in schema.names if name in wanted]

    table = load(path, choose)
    # A damaged file can promise more text than it holds; as bytes, since text that is not UTF-8 is no reason to raise.
    as_bytes(table).validate(full=True)
    return ArrowEvents(table, tuple(labels))


def _load_parquet(path: Path, choose: Choice) -> Any:
    with parquet_reader(path) as file:
        return file.read(columns=choose(file.schema_arrow))


def _load_arrow(path: Path, choose: Choice) -> Any:
    with ipc_reader(path) as (reader, _):
        schema = reader.schema
    places = sorted(schema.names.index(name) for name in choose(schema))
    with ipc_reader(path, places) as (reader, _):
        return reader.read_all()
