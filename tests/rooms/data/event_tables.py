"""A few events in every container, and the rows that they make."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from plandp.data.events import open_events
from plandp.data.sparse_rows import SparseBlock, SparseRows
from plandp.errors import ArgumentError

Columns = dict[str, list[Any]]
CANARY = "canary48151623"

EVENTS: Columns = {
    "user": [3, 1, None, 3, 2, 3, 1, 12, 12],
    "page": ["home", "a,b", "home", "home", None, "strange", "é", "home", "home"],
    "time": [1.5, 2.0, 4.0, 0.25, 1.0, 1.0, None, -1.0, 0.5],
}
ITEMS = ["é", "home", "a,b", "nobody was here"]
PRESENCE = Counter({frozenset({(1, 1.0)}): 2, frozenset({(0, 1.0), (2, 1.0)}): 1, frozenset(): 4})
COUNT = Counter({frozenset({(1, 2.0)}): 2, frozenset({(0, 1.0), (2, 1.0)}): 1, frozenset(): 4})
TIME = Counter({frozenset({(1, 1.75)}): 1, frozenset({(2, 2.0)}): 1, frozenset(): 5})


def rows_of(source: SparseRows) -> Counter[frozenset[tuple[int, float]]]:
    """All rows of a source, each as a set of items with their values."""
    rows: Counter[frozenset[tuple[int, float]]] = Counter()

    def note(block: SparseBlock) -> tuple[Any, ...]:
        values = np.ones(len(block.items)) if block.values is None else block.values
        for start, end in zip(block.begin[:-1].tolist(), block.begin[1:].tolist(), strict=True):
            rows[frozenset(zip(block.items[start:end].tolist(), values[start:end].tolist(), strict=True))] += 1
        return (np.array([len(block.begin) - 1]),)

    (n,) = source.fold(note)
    assert n[0] == source.n
    return rows


def event_rows(table: object, *, items: list[Any], people: int, measure: str = "presence") -> Counter[Any]:
    return rows_of(open_events(table, person="user", item="page", items=items, people=people, measure=measure))


def frame_of(events: list[tuple[object, object, float]]) -> pandas.DataFrame:
    """A frame of objects, which can hold any cell."""
    user, page, time = zip(*events, strict=True)
    objects = {name: pandas.Series(list(cells), dtype=object) for name, cells in (("user", user), ("page", page))}
    return pandas.DataFrame(objects | {"time": list(time)})


def as_text(columns: Columns) -> Columns:
    return {name: [None if cell is None else str(cell) for cell in cells] for name, cells in columns.items()}


def as_frame(columns: Columns, user: str = "Int64", page: str = "str") -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "user": pandas.Series(columns["user"], dtype=object).astype(user),
            "page": pandas.Series(columns["page"], dtype=object).astype(page),
            "time": pandas.Series(columns["time"], dtype=float),
        }
    )


def as_arrow(columns: Columns, user: Any = None, page: Any = None) -> pyarrow.Table:
    kinds = {"user": user or pyarrow.int64(), "page": page or pyarrow.string(), "time": pyarrow.float64()}
    cells = as_text(columns) if user is not None and not pyarrow.types.is_integer(user) else columns
    return pyarrow.table(
        {
            name: pyarrow.array(columns["time"] if name == "time" else cells[name]).cast(kind)
            for name, kind in kinds.items()
        }
    )


def as_file(name: str, write: Callable[[Columns, str], object]) -> Callable[[Columns], object]:
    def put(columns: Columns) -> object:
        write(columns, name)
        return name

    return put


def write_csv(columns: Columns, name: str) -> None:
    mark = "," if name.endswith(".csv") else "\t"
    lines = [
        mark.join("" if cell is None else f'"{cell}"' if mark in str(cell) else str(cell) for cell in cells)
        for cells in zip(*columns.values(), strict=True)
    ]
    Path(name).write_text("\n".join([mark.join(columns), *lines]) + "\n", encoding="utf-8")


def write_stream(columns: Columns, name: str) -> None:
    table = as_arrow(columns)
    with pyarrow.OSFile(name, "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=2)


CONTAINERS: dict[str, Callable[[Columns], object]] = {
    "pandas": as_frame,
    "pandas objects": lambda columns: as_frame(columns, "object", "object"),
    "pandas text": lambda columns: as_frame(as_text(columns) | {"time": columns["time"]}, "string[python]", "string"),
    "pandas categories": lambda columns: as_frame(columns, "category", "category"),
    "pandas narrow": lambda columns: as_frame(columns, "UInt8"),
    "pandas arrow": lambda columns: as_frame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda columns: polars.DataFrame(columns),
    "polars text": lambda columns: polars.DataFrame(columns).with_columns(polars.col("user").cast(polars.String)),
    "polars categories": lambda columns: polars.DataFrame(columns).with_columns(
        polars.col("page").cast(polars.Categorical)
    ),
    "polars wide": lambda columns: polars.DataFrame(columns).with_columns(polars.col("user").cast(polars.Int128)),
    "arrow": as_arrow,
    "arrow batch": lambda columns: as_arrow(columns).to_batches()[0],
    "arrow chunks": lambda columns: pyarrow.concat_tables([as_arrow(columns).slice(0, 4), as_arrow(columns).slice(4)]),
    "arrow views": lambda columns: as_arrow(columns, pyarrow.large_string(), pyarrow.string_view()),
    "arrow narrow": lambda columns: as_arrow(columns, pyarrow.uint8()),
    "arrow dictionaries": lambda columns: pyarrow.concat_tables(
        [
            as_arrow(columns, pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), pyarrow.large_string()).slice(*part)
            for part in ((0, 3), (3,))
        ]
    ),
    "csv": as_file("events.csv", write_csv),
    "tsv": as_file("events.tsv", write_csv),
    "parquet": as_file(
        "events.parquet", lambda columns, name: pyarrow.parquet.write_table(as_arrow(columns), name, row_group_size=2)
    ),
    "feather": as_file("events.feather", lambda columns, name: pyarrow.feather.write_feather(as_arrow(columns), name)),
    "arrow stream": as_file("events.arrow", write_stream),
}
every_container = pytest.mark.parametrize("put", CONTAINERS.values(), ids=CONTAINERS)


def refused(table: object, **arguments: Any) -> str:
    given = {"person": "user", "item": "page", "items": ["a"], "people": 5, "measure": "presence"} | arguments
    with pytest.raises(ArgumentError) as caught:
        open_events(table, **given)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in str(caught.value)
    return str(caught.value)
