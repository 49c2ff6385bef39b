"""The way in for tables of an engine, whose rows stay with its workers."""

from collections.abc import Callable, Collection

from plandp.data.dask_collections import open_dask
from plandp.data.engine_rows import EngineRows
from plandp.data.labels import BeforeValues
from plandp.data.row_index import RowIndex
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

Opener = Callable[[object, Collection[Label] | None, RowIndex, BeforeValues], EngineRows | None]

_OPENERS: dict[str, tuple[str, Opener]] = {"dask": ("Dask", open_dask)}


def open_engine(
    data: object,
    *,
    columns: Collection[Label] | None,
    row_index: RowIndex,
    in_order: bool,
    before_values: BeforeValues,
) -> EngineRows | None:
    """Return the table of an engine as rows, None for other objects; nothing is read for those who need its order."""
    # Subclasses count too, and no package is imported that the data did not come from.
    packages = {base.__module__.split(".")[0] for base in type(data).__mro__}
    for package, (engine, opener) in _OPENERS.items():
        if package in packages:
            if in_order:
                raise ArgumentError(
                    "method", f"goes by the order of the rows, and those of {engine} have none; use method='plan'"
                )
            return opener(data, columns, row_index, before_values)
    return None
