"""Vectors of Spark as rows that hold few items; sparse ones are never made dense."""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_rows import stored_vectors
from plandp.data.distinct_items import column_places, distinct_items
from plandp.data.labels import BeforeValues
from plandp.data.spark_frame import is_vector, open_cells
from plandp.data.spark_items import SparkItems
from plandp.data.spark_parts import ROWS, is_spark_frame, quiet
from plandp.data.sparse_rows import SparseBlock
from plandp.terms.columns import Label


def open_spark_vectors(
    data: object, *, binary: bool, columns: Collection[Label] | None, before_values: BeforeValues
) -> SparkItems | None:
    """Return a DataFrame of one column of vectors as sparse rows, None for anything else; a null holds no item."""
    if not is_spark_frame(data):
        return None
    frame: Any = data
    fields = list(frame.schema)
    if len(fields) != 1 or not is_vector(fields[0].dataType):
        return None
    whole = open_cells(frame, fields[0].name, columns, before_values)
    width, d = whole.shape.longest, len(whole.labels)
    place = column_places(width, whole.positions)
    with quiet():
        chosen = frame.select(whole.column.alias(ROWS))
    return SparkItems(
        chosen,
        partial(_blocks, width=width, d=d, place=place, binary=binary),
        n=whole.shape.rows,
        labels=whole.labels,
        partitions=whole.shape.partitions,
        passes=1,
        held=False,
        filled=whole.shape.rows,
    )


def _blocks(batch: Any, *, width: int, d: int, place: NDArray[np.int64] | None, binary: bool) -> Iterator[SparseBlock]:
    stored, _ = stored_vectors(batch.column(ROWS), width)
    rows = distinct_items(stored, d=d, place=place, binary=binary)
    yield SparseBlock(begin=rows.begin, items=rows.items, values=rows.values)
