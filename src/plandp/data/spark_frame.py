"""PySpark DataFrames as rows on their executors: numeric columns, or one column of arrays or vectors."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from plandp.data.engine_rows import EngineRows, undisclosed
from plandp.data.labels import BeforeValues, find_positions, offer, read_labels, select
from plandp.data.list_columns import named_places
from plandp.data.row_index import RowIndex, accepted_labels
from plandp.data.spark_parts import (
    NUMBER,
    ROWS,
    SparkParts,
    count_rows,
    is_spark_frame,
    quiet,
    refuse_ambiguous,
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
    that, and it holds arrays or vectors, each of them is a row, and its columns are called 0, 1, 2, …; a longer one
    counts as far as that, a shorter one is missing from there on.  Counting the rows is a pass.
    """
    if not is_spark_frame(data):
        return None
    frame: Any = data
    types = dict(zip(read_labels(field.name for field in frame.schema), frame.schema, strict=True))
    if not (row_index is None or row_index is False or row_index in types):
        raise ArgumentError("row_index", f"the data has no column {row_index!r}; {offer(tuple(types))}")
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
        refuse_ambiguous(frame, chosen)
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
    refuse_ambiguous(frame, [cells] if index is None else [cells, index])
    places = named_cells(frame, cells, columns, before_values)
    shape = undisclosed("Spark", lambda: count_rows(frame))
    refuse_empty(n=shape.rows, d=len(places.labels))
    column = spark_column(cells)
    if not is_vector(frame.schema[str(cells)].dataType):
        column = column.cast("array<double>")
    parts = SparkParts(
        frame=_with_number(frame, column, index),
        labels=places.labels,
        width=places.width,
        positions=places.positions,
        partitions=shape.partitions,
    )
    return EngineRows(parts, n=shape.rows, labels=places.labels, numbered=index is not None, passes=1)


@dataclass(frozen=True, kw_only=True)
class Places:
    """Which places of arrays or vectors are read: all public."""

    labels: tuple[Label, ...]
    width: int
    positions: tuple[int, ...]


def named_cells(frame: Any, cells: Label, columns: Collection[Label] | None, before_values: BeforeValues) -> Places:
    """Return the places that are asked for, by number: how long the cells are is nothing that is public of a frame."""
    asked = list(columns) if isinstance(columns, Iterator) else columns
    width = named_places(asked, str(cells), alone=True)
    if not width:
        name = "vectors" if is_vector(frame.schema[str(cells)].dataType) else "arrays"
        raise ArgumentError(
            "data",
            f"column {cells!r} holds {name} of no fixed length; name the places that are read: columns=range(9), say",
        )
    every_label: tuple[Label, ...] = tuple(range(width))
    positions = find_positions(every_label, asked)
    assert positions is not None  # some are named
    labels = select(every_label, positions)
    before_values(labels)
    return Places(labels=labels, width=width, positions=positions)


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
