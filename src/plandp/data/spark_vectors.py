"""Vectors of Spark as rows that hold few items; sparse ones are never made dense."""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_rows import stored_vectors
from plandp.data.distinct_items import column_places, distinct_items
from plandp.data.engine_rows import undisclosed
from plandp.data.labels import BeforeValues
from plandp.data.spark_frame import is_vector, named_cells
from plandp.data.spark_items import SparkItems
from plandp.data.spark_parts import ROWS, count_rows, is_spark_frame, quiet, spark_column
from plandp.data.sparse_rows import SparseBlock
from plandp.data.table import refuse_empty
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
    places = named_cells(frame, fields[0].name, columns, before_values)
    shape = undisclosed("Spark", lambda: count_rows(frame))
    refuse_empty(n=shape.rows, d=len(places.labels))
    with quiet():
        chosen = frame.select(spark_column(fields[0].name).alias(ROWS))
    place = column_places(places.width, places.positions)
    return SparkItems(
        chosen,
        partial(_blocks, d=len(places.labels), place=place, binary=binary),
        n=shape.rows,
        labels=places.labels,
        partitions=shape.partitions,
        passes=1,
        held=False,
        filled=shape.rows,
    )


def _blocks(batch: Any, *, d: int, place: NDArray[np.int64] | None, binary: bool) -> Iterator[SparseBlock]:
    stored, _ = stored_vectors(batch.column(ROWS))
    rows = distinct_items(stored, d=d, place=place, binary=binary)
    yield SparseBlock(begin=rows.begin, items=rows.items, values=rows.values)
