"""The way in for tables of an engine, whose rows stay with its workers."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from plandp.data.labels import BeforeValues
from plandp.data.row_index import RowIndex
from plandp.data.sparse_rows import SparseRows
from plandp.errors import ArgumentError
from plandp.terms.columns import Label
from plandp.terms.text_table import with_article

if TYPE_CHECKING:
    from plandp.data.engine_rows import EngineRows

Opener = Callable[[object, Collection[Label] | None, RowIndex, BeforeValues], "EngineRows | None"]

_ENGINES = {
    "dask": ("Dask", "an array, dataframe or series"),
    "pyspark": ("Spark", "a pyspark.sql.DataFrame"),
}


def open_engine(
    data: object,
    *,
    columns: Collection[Label] | None,
    row_index: RowIndex,
    in_order: bool,
    before_values: BeforeValues,
) -> "EngineRows | None":
    """Return the table of an engine as rows, None for what is of no engine.

    Nothing is read for those who need the order of the rows.
    """
    packages = _packages(data)
    for package, (engine, tables) in _ENGINES.items():
        if package in packages:
            if in_order:
                raise ArgumentError(
                    "method", f"goes by the order of the rows, which {engine} does not keep; use method='plan'"
                )
            rows = _opener(package)(data, columns, row_index, before_values)
            if rows is None:
                raise ArgumentError(
                    "data", f"{with_article(type(data).__name__)} of {engine} is not accepted; pass {tables}"
                )
            return rows
    return None


def open_engine_items(
    data: object, *, binary: bool, columns: Collection[Label] | None, in_order: bool, before_values: BeforeValues
) -> SparseRows | None:
    """Return sparse vectors of an engine as rows that hold few items, None for other objects."""
    if in_order or "pyspark" not in _packages(data):
        return None
    from plandp.data.spark_vectors import open_spark_vectors  # here, since most vectors are not of Spark

    return open_spark_vectors(data, binary=binary, columns=columns, before_values=before_values)


def _opener(package: str) -> Opener:
    # Each is imported here, since most tables are of no engine.
    if package == "dask":
        from plandp.data.dask_collections import open_dask

        return open_dask
    from plandp.data.spark_frame import open_spark

    return open_spark


def _packages(data: object) -> set[str]:
    # Subclasses count too, and no package is imported that the data did not come from.
    return {base.__module__.split(".")[0] for base in type(data).__mro__}
