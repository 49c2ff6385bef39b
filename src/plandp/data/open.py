"""The way in: from whatever holds the table to rows that can be folded."""

import os
from collections.abc import Collection, Iterator

import numpy as np

from plandp.data.array import open_array
from plandp.data.batch_stream import holds_batches, only_once, open_stream
from plandp.data.batches import Batches
from plandp.data.blocks import TableRows
from plandp.data.containers import is_container, is_scipy_matrix, open_container
from plandp.data.labels import BeforeValues, find_positions, nothing_before, select
from plandp.data.lists import list_array, list_width
from plandp.data.open_engine import open_engine
from plandp.data.paths import refuse_open_file
from plandp.data.row_index import RowIndex, open_numbered
from plandp.data.rows import Rows
from plandp.data.table import Table, refuse_empty
from plandp.errors import ArgumentError
from plandp.terms.columns import Label
from plandp.terms.text_table import with_article


def open_rows(
    data: object,
    *,
    columns: Collection[Label] | None = None,
    row_index: RowIndex = None,
    in_order: bool = False,
    before_values: BeforeValues = nothing_before,
    progress: bool = False,
    threads: int = 1,
) -> Rows:
    """Return `data` as rows that can be folded, with the asked columns in the asked order, numbered as asked.

    Only types, shapes and labels decide what is accepted; no value is looked at, and `data` is never changed.
    `before_values` is called once, with the labels, when all of that was accepted and before a value is parsed; only
    the number of rows of a file may be known later.  A source without order is refused where rows must be `in_order`.
    """
    elsewhere = open_engine(data, columns=columns, row_index=row_index, in_order=in_order, before_values=before_values)
    if elsewhere is not None:
        return elsewhere

    def opened(columns: Collection[Label] | None, before_values: BeforeValues) -> Rows:
        with np.errstate(all="ignore"):
            batches = _open_batches(data, columns)
            if batches is not None:
                from plandp.data.streamed_rows import rows_in  # here, since most tables are held in memory

                return rows_in(batches, before_values=before_values, progress=progress, threads=threads)
            table = _open_table(data, columns, before_values)
        return TableRows(table, progress=progress, threads=threads)

    def numbers(label: Label) -> Table | None:
        return open_container(data, [label]) if is_container(data) else None

    return open_numbered(opened, columns, row_index, before_values, numbers)


def _open_batches(data: object, columns: Collection[Label] | None) -> Batches | None:
    """Return what comes in pieces: files, and lists and other iterables of batches; None for all else."""
    if isinstance(data, list | tuple):
        if not data or not all(isinstance(item, str | os.PathLike) for item in data):
            return open_stream(data, columns) if holds_batches(data) else None
    elif not isinstance(data, str | os.PathLike):
        if is_scipy_matrix(data) or is_container(data):
            return None
        refuse_open_file(data, argument="data")
        return open_stream(data, columns)
    from plandp.data.files import open_files  # here, since tables in memory need none of its readers

    return open_files(data, columns)


def _open_table(data: object, columns: Collection[Label] | None, before_values: BeforeValues) -> Table:
    if isinstance(data, list | tuple):
        width = list_width(data)
        refuse_empty(n=len(data), d=width)
        labels = tuple(range(width))
        before_values(select(labels, find_positions(labels, columns)))
        return open_array(list_array(data), columns)
    table = open_container(data, columns)
    if table is None:
        refuse_open_file(data, argument="data")  # Arrow has files of its own
        raise only_once() if isinstance(data, Iterator) else _refusal(data)  # pandas and Arrow have readers of batches
    refuse_empty(n=table.n, d=len(table.labels))
    before_values(table.labels)
    return table


def _refusal(data: object) -> ArgumentError:
    if is_scipy_matrix(data):
        return ArgumentError(
            "data",
            "a sparse matrix holds 0/1 data or counts; pass kind='binary' or kind='nonnegative', or data.toarray()",
        )
    return ArgumentError(
        "data",
        f"{with_article(type(data).__name__)} is not accepted; pass a NumPy array, a list of rows, a pandas or polars "
        "DataFrame or Series (collect a LazyFrame first, or sink it to a file), a pyarrow Table or RecordBatch, the "
        "path of a file, or a function that returns an iterator of such batches, as dataset.to_batches does",
    )
