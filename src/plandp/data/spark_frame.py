"""PySpark DataFrames as rows on their executors: numeric columns, or one column of arrays or vectors."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from plandp.data.engine_rows import EngineRows, undisclosed
from plandp.data.labels import BeforeValues, find_positions, offer, read_labels, select
from plandp.data.list_columns import is_alone, named_places, place_label
from plandp.data.row_index import RowIndex, accepted_labels, not_row_numbers
from plandp.data.spark_parts import (
    NUMBER,
    ROWS,
    SparkParts,
    count_rows,
    is_spark_frame,
    is_spark_number,
    quiet,
    refuse_ambiguous,
    spark_column,
)
from plandp.data.spark_workers import refuse_workers
from plandp.data.table import not_numeric, refuse_empty
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


def open_spark(
    data: object, columns: Collection[Label] | None, row_index: RowIndex, before_values: BeforeValues
) -> EngineRows | None:
    """Return a DataFrame of Spark as rows on its executors, None for other objects of Spark.

    Its rows have no public order: they have numbers only where a column holds them.  If there is one column beside
    that, and it holds arrays or vectors, each of them is a row, and its columns are called 0, 1, 2, …; those of one
    among others, and where they are asked for so, are called x[0], x[1], …, as in files.  A longer cell counts as far
    as that, a shorter one is missing from there on.  Counting the rows is a pass.
    """
    if not is_spark_frame(data):
        return None
    frame: Any = data
    types = dict(zip(read_labels(field.name for field in frame.schema), frame.schema, strict=True))
    if not (row_index is None or row_index is False or row_index in types):
        raise ArgumentError("row_index", f"the data has no column {row_index!r}; {offer(tuple(types))}")
    others = [label for label in types if row_index is False or label != row_index]
    asked = list(columns) if isinstance(columns, Iterator) else columns  # it is gone through more than once
    alone = len(others) == 1 and _is_array(types[others[0]].dataType)
    cells = others[0] if alone else _asked_cells(types, asked)
    if cells is None:
        return _open_columns(frame, types, asked, row_index, before_values)
    if not _holds_rows(types[cells].dataType):
        name = types[cells].dataType.simpleString()
        raise ArgumentError("data", f"column {cells!r} has dtype {name}, and arrays must hold numbers; convert them")
    return _open_arrays(frame, cells, asked, row_index, before_values, alone=alone)


def _asked_cells(types: dict[Label, Any], columns: Collection[Label] | None) -> Label | None:
    """Return the column of arrays or vectors of which places are asked for, None for none."""
    listed = isinstance(columns, Iterable) and getattr(columns, "ndim", 1) != 0
    if columns is None or isinstance(columns, str) or not listed:
        return None
    places = [label for label in columns if isinstance(label, str) and label not in types]
    found = [
        cells for cells in types if _is_array(types[cells].dataType) and named_places(places, str(cells), alone=False)
    ]
    if found and (len(found) > 1 or len(places) < len(columns)):
        raise ArgumentError(
            "columns", f"places of column {found[0]!r} are read alone; leave out the other columns, or make one array"
        )
    return found[0] if found else None


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
        refuse_workers(frame)
        return chosen

    labels, index = accepted_labels(find, columns, row_index, before_values)
    shape = undisclosed("Spark", lambda: count_rows(frame))
    refuse_empty(n=shape.rows, d=len(labels))
    row = functions.array(*(spark_column(label).cast("double") for label in labels))
    chosen = _with_number(frame, row, index)
    parts = SparkParts(frame=chosen, labels=labels, width=len(labels), partitions=shape.partitions)
    return EngineRows(parts, n=shape.rows, labels=labels, numbered=index is not None, passes=1)


def _open_arrays(
    frame: Any,
    cells: Label,
    columns: Collection[Label] | None,
    row_index: RowIndex,
    before_values: BeforeValues,
    *,
    alone: bool,
) -> EngineRows:
    index = None if row_index is None or row_index is False else row_index
    if index is not None:
        dtype = frame.schema[str(index)].dataType.simpleString()
        if not is_spark_number(dtype):
            raise not_row_numbers(index, dtype)
    refuse_ambiguous(frame, [cells] if index is None else [cells, index])
    places = named_cells(frame, cells, columns, before_values, alone=alone)
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


def named_cells(
    frame: Any, cells: Label, columns: Collection[Label] | None, before_values: BeforeValues, *, alone: bool = True
) -> Places:
    """Return the places that are asked for, by number: how long the cells are is nothing that is public of a frame."""
    asked = list(columns) if isinstance(columns, Iterator) else columns
    alone = alone and is_alone(asked, str(cells))
    width = named_places(asked, str(cells), alone=alone)
    if not width:
        raise _no_length(cells, frame.schema[str(cells)].dataType, "columns=range(9), say")
    every_label = tuple(place_label(str(cells), place, alone=alone) for place in range(width))
    positions = find_positions(every_label, asked)
    assert positions is not None  # some are named
    labels = select(every_label, positions)
    refuse_workers(frame)
    before_values(labels)
    return Places(labels=labels, width=width, positions=positions)


def _refuse_column(label: Label, types: dict[Label, Any]) -> None:
    name = types[label].dataType.simpleString()
    if _holds_rows(types[label].dataType):
        raise _no_length(label, types[label].dataType, f"columns=['{label}[0]', '{label}[1]', ...]")
    if not is_spark_number(name):
        raise not_numeric(label, name)


def _no_length(label: Label, dtype: Any, example: str) -> ArgumentError:
    name = "vectors" if is_vector(dtype) else "arrays"
    return ArgumentError(
        "data", f"column {label!r} holds {name} of no fixed length; name the places that are read: {example}"
    )


def _is_array(dtype: Any) -> bool:
    return is_vector(dtype) or type(dtype).__name__ == "ArrayType"


def _holds_rows(dtype: Any) -> bool:
    return is_vector(dtype) or (_is_array(dtype) and is_spark_number(dtype.elementType.simpleString()))


def is_vector(dtype: Any) -> bool:
    """Whether a column of this type holds the vectors of Spark's machine learning."""
    return type(dtype).__name__ == "VectorUDT"


def _with_number(frame: Any, row: Any, index: Label | None) -> Any:
    with quiet():
        number = [] if index is None else [spark_column(index).cast("double").alias(NUMBER)]
        return frame.select(row.alias(ROWS), *number)
