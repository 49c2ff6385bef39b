"""Dask arrays and dataframes as rows on their workers."""

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np

from plandp.data.array import open_array, refuse_array
from plandp.data.dask_parts import DaskParts
from plandp.data.dask_workers import refuse_workers
from plandp.data.engine_rows import EngineRows, undisclosed
from plandp.data.labels import BeforeValues
from plandp.data.pandas_frame import open_pandas
from plandp.data.row_choice import not_numbered
from plandp.data.row_index import RowIndex, accepted_labels
from plandp.data.table import Table, refuse_empty
from plandp.data.worker import Part
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


def open_dask(
    data: object, columns: Collection[Label] | None, row_index: RowIndex, before_values: BeforeValues
) -> EngineRows | None:
    """Return an array, frame or series of Dask as rows on its workers, None for other objects of Dask.

    The rows of an array are numbered by position.  Those of a frame have no public order: they have numbers only where
    a column holds them.  Counting rows, where their number is not known, is a pass.
    """
    import dask.array

    if isinstance(data, dask.array.Array):
        return _open_array(_two_dimensional(data), columns, row_index, before_values)
    if not any(base.__module__.startswith("dask.dataframe") for base in type(data).__mro__):
        return None
    from dask.dataframe import DataFrame, Index, Series

    frame = data.to_frame() if isinstance(data, Series) and not isinstance(data, Index) else data
    return _open_frame(frame, columns, row_index, before_values) if isinstance(frame, DataFrame) else None


def _two_dimensional(array: Any) -> Any:
    if not isinstance(array._meta, np.ndarray) or isinstance(array._meta, np.ma.MaskedArray):
        raise ArgumentError(
            "data", "the blocks of the Dask array are not plain NumPy arrays; convert them with map_blocks"
        )
    refuse_array(array.dtype, array.shape)
    whole = array if array.ndim == 2 else array[:, np.newaxis]
    if np.isnan(whole.shape[1]):
        raise ArgumentError("data", "the number of columns of the Dask array is not known; call compute_chunk_sizes()")
    return whole


def _open_array(
    array: Any, columns: Collection[Label] | None, row_index: RowIndex, before_values: BeforeValues
) -> EngineRows:
    refuse_workers()
    shape = np.empty((0, array.shape[1]))
    known = not np.isnan(array.shape[0])

    def find(asked: Collection[Label] | None) -> tuple[Label, ...]:
        found = open_array(shape, asked).labels
        if known:  # then a table without rows costs nothing
            refuse_empty(n=array.shape[0], d=len(found))
        return found

    labels, index = accepted_labels(find, columns, row_index, before_values)
    blocks = array.rechunk({1: -1}).to_delayed().ravel()
    lengths = array.chunks[0] if known else undisclosed("Dask", lambda: _lengths(blocks))
    n = int(sum(lengths))
    refuse_empty(n=n, d=len(labels))
    first = np.append(0, np.cumsum(lengths)[:-1]).tolist()
    numbered = row_index is None
    made = [
        (block, partial(_array_part, columns=labels, index=index, first=number if numbered else None))
        for block, number in zip(blocks, first, strict=True)
    ]
    return EngineRows(
        DaskParts(made=made),
        n=n,
        labels=labels,
        numbered=row_index is not False,
        passes=0 if known else 1,
        misnumbered=_other_lengths if numbered else not_numbered,
    )


def _open_frame(
    frame: Any, columns: Collection[Label] | None, row_index: RowIndex, before_values: BeforeValues
) -> EngineRows:
    refuse_workers()
    labels, index = accepted_labels(lambda asked: _pandas(frame._meta, asked).labels, columns, row_index, before_values)
    n = undisclosed("Dask", lambda: len(frame))
    refuse_empty(n=n, d=len(labels))
    chosen = frame[[*labels] if index is None else [*labels, index]]
    make = partial(_frame_part, columns=labels, index=index)
    made = [(partition, make) for partition in chosen.to_delayed()]
    return EngineRows(DaskParts(made=made), n=n, labels=labels, numbered=index is not None, passes=1)


def _array_part(block: Any, *, columns: tuple[Label, ...], index: Label | None, first: int | None) -> Part:
    column = None if index is None else open_array(block, (index,))
    return Part(table=open_array(block, columns), first=first, column=column)


def _frame_part(frame: Any, *, columns: tuple[Label, ...], index: Label | None) -> Part:
    return Part(table=_pandas(frame, columns), column=None if index is None else _pandas(frame, (index,)))


def _pandas(frame: Any, columns: Collection[Label] | None) -> Table:
    table = open_pandas(frame, columns)
    assert table is not None
    return table


def _other_lengths() -> ArgumentError:
    return ArgumentError(
        "data",
        "the chunks of the Dask array are not as long as it says, so that nothing is released; give map_blocks the "
        "right chunks=, or call compute_chunk_sizes()",
    )


def _lengths(blocks: Any) -> tuple[int, ...]:
    import dask

    length = dask.delayed(len, pure=False)
    lengths: tuple[int, ...] = dask.compute(*(length(block) for block in blocks))
    return lengths
