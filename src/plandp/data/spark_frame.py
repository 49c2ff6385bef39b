"""PySpark DataFrames as rows on their executors: numeric columns, or one column of arrays or vectors."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from plandp.data.arrow_rows import DENSE_VECTOR
from plandp.data.engine_rows import EngineRows, undisclosed
from plandp.data.labels import BeforeValues, find_positions, read_labels, select
from plandp.data.row_index import RowIndex, accepted_labels
from plandp.data.spark_parts import (
    NUMBER,
    ROWS,
    FrameShape,
    SparkParts,
    count_rows,
    is_spark_frame,
    quiet,
    spark_column,
)
from plandp.data.table import not_numeric, refuse_empty
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "void")


def open_spark(
    data: object, columns: Collection[Label] | None, row_index: RowIndex, before_values: BeforeValues
) -> EngineRows | None:
    """Return a DataFrame of Spark as rows on its executors, None for other objects of Spark.

    Its rows have no public order: they have numbers only where a column holds them.  If there is one column beside
    that, and it holds arrays or vectors, each of them is a row, and its columns are called 0, 1, 2, …; they must be of
    one length, which is public.  Counting the rows is a pass.
    """
    if not is_spark_frame(data):
        return None
    frame: Any = data
    types = dict(zip(read_labels(field.name for field in frame.schema), frame.schema, strict=True))
    others = [label for label in types if row_index is False or label != row_index]
    if len(others) == 1 and _holds_rows(types[others[0]].dataType):
        return _open_arrays(frame, others[0], columns, row_index, before_values)
    return _open_columns(frame, types, columns, row_index, before_values)


def _open_columns(
    frame: Any,
    types: dict[Label, Any],
    columns: Collection[Label] | None,
    row_index: RowIndex,
    before_values: BeforeValues,
) -> EngineRows:
    from pyspark.sql import functions

    every_label = tuple(types)

    def find(asked: Collection[Label] | None) -> tuple[Label, ...]:
        chosen = select(every_label, find_positions(every_label, asked))
        for label in chosen:
            _refuse_column(label, types)
        return chosen

    labels, index = accepted_labels(find, columns, row_index, before_values)
    shape = undisclosed("Spark", lambda: count_rows(frame))
    refuse_empty(n=shape.rows, d=len(labels))
    row = functions.array(*(spark_column(label).cast("double") for label in labels))
    chosen = _with_number(frame, row, index)
    parts = SparkParts(frame=chosen, labels=labels, width=len(labels), partitions=shape.partitions)
    return EngineRows(parts, n=shape.rows, labels=labels, numbered=index is not None, passes=1)


def _open_arrays(
    frame: Any, cells: Label, columns: Collection[Label] | None, row_index: RowIndex, before_values: BeforeValues
) -> EngineRows:
    index = None if row_index is None or row_index is False else row_index
    if index is not None:
        _refuse_column(index, {field.name: field for field in frame.schema})
    whole = open_cells(frame, cells, columns, before_values)
    parts = SparkParts(
        frame=_with_number(frame, whole.column, index),
        labels=whole.labels,
        width=whole.shape.longest,
        positions=whole.positions,
        partitions=whole.shape.partitions,
    )
    return EngineRows(parts, n=whole.shape.rows, labels=whole.labels, numbered=index is not None, passes=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """A column whose cells are rows, and what is public of them."""

    column: Any
    shape: FrameShape
    labels: tuple[Label, ...]
    positions: tuple[int, ...] | None


def open_cells(frame: Any, cells: Label, columns: Collection[Label] | None, before_values: BeforeValues) -> Cells:
    """Return a column of arrays or vectors, accepted by the lengths of its cells; finding them is a pass."""
    vector = is_vector(frame.schema[str(cells)].dataType)
    shape = undisclosed("Spark", lambda: count_rows(frame, _length(cells, vector=vector)))
    refuse_empty(n=shape.rows, d=shape.longest)
    if shape.shortest != shape.longest:
        raise ArgumentError(
            "data",
            f"the cells of column {cells!r} are not all of one length, so that they are no rows; pad or drop some",
        )
    every_label: tuple[Label, ...] = tuple(range(shape.longest))
    positions = find_positions(every_label, columns)
    labels = select(every_label, positions)
    before_values(labels)
    column = spark_column(cells)
    return Cells(
        column=column if vector else column.cast("array<double>"), shape=shape, labels=labels, positions=positions
    )


def _refuse_column(label: Label, types: dict[Label, Any]) -> None:
    name = types[label].dataType.simpleString()
    if name not in _NUMBERS:
        raise not_numeric(label, name)


def _holds_rows(dtype: Any) -> bool:
    if is_vector(dtype):
        return True
    return type(dtype).__name__ == "ArrayType" and dtype.elementType.simpleString() in _NUMBERS


def is_vector(dtype: Any) -> bool:
    """Whether a column of this type holds the vectors of Spark's machine learning."""
    return type(dtype).__name__ == "VectorUDT"


def _with_number(frame: Any, row: Any, index: Label | None) -> Any:
    with quiet():
        number = [] if index is None else [spark_column(index).cast("double").alias(NUMBER)]
        return frame.select(row.alias(ROWS), *number)


def _length(cells: Label, *, vector: bool) -> Any:
    """How long each cell is, as a column; null for a null."""
    from pyspark.sql import functions

    cell = spark_column(cells)
    if not vector:
        return functions.when(cell.isNotNull(), functions.size(cell))
    stored = functions.unwrap_udt(cell)
    of_dense = functions.when(stored["type"] == DENSE_VECTOR, functions.size(stored["values"]))
    return functions.when(cell.isNotNull(), functions.coalesce(of_dense, stored["size"]))
