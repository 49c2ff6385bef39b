"""Containers in memory, whose values are read where they lie, row by row, when rows are folded."""

from collections.abc import Callable, Collection

import numpy as np

from plandp.data.array import open_array
from plandp.data.arrow_table import open_arrow
from plandp.data.pandas_frame import open_pandas
from plandp.data.polars_frame import open_polars
from plandp.data.table import Table
from plandp.terms.columns import Label

_OPENERS: dict[str, Callable[[object, Collection[Label] | None], Table | None]] = {
    "pandas": open_pandas,
    "polars": open_polars,
    "pyarrow": open_arrow,
}


def is_container(data: object) -> bool:
    """Whether this is an array, or comes from a package whose frames and tables are known."""
    return isinstance(data, np.ndarray) or bool(_packages(data))


def open_container(data: object, columns: Collection[Label] | None) -> Table | None:
    """Return an array, frame, series, Arrow table or record batch as a table, None for anything else."""
    if isinstance(data, np.ndarray):
        return open_array(data, columns)
    for package in _packages(data):
        table = _OPENERS[package](data, columns)
        if table is not None:
            return table
    return None


def _packages(data: object) -> list[str]:
    # Subclasses count too, and no package is imported that the data did not come from.
    modules = {base.__module__.split(".")[0] for base in type(data).__mro__}
    return [package for package in _OPENERS if package in modules]
