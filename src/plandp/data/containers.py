"""Containers in memory, whose values are read where they lie, row by row, when rows are folded."""

from collections.abc import Callable, Collection

import numpy as np

from plandp.data.array import open_array
from plandp.data.table import Table
from plandp.terms.columns import Label

_PACKAGES = ("pandas", "polars", "pyarrow")


def is_container(data: object) -> bool:
    """Whether this is an array, or comes from a package whose frames and tables are known."""
    return isinstance(data, np.ndarray) or bool(_packages(data))


def open_container(data: object, columns: Collection[Label] | None) -> Table | None:
    """Return an array, frame, series, Arrow table or record batch as a table, None for anything else."""
    if isinstance(data, np.ndarray):
        return open_array(data, columns)
    for package in _packages(data):
        table = _opener(package)(data, columns)
        if table is not None:
            return table
    return None


def is_scipy_matrix(data: object) -> bool:
    """Whether this is a sparse matrix or array of SciPy, not an operator; nothing is imported to find out."""
    of_scipy = any(base.__module__.startswith("scipy.sparse") for base in type(data).__mro__)
    return of_scipy and hasattr(data, "format") and hasattr(data, "dtype")  # of parts that are no arrays it has none


def _opener(package: str) -> Callable[[object, Collection[Label] | None], Table | None]:
    # Each is imported here, since a table is of one package, and arrays are of none.
    if package == "pandas":
        from plandp.data.pandas_frame import open_pandas

        return open_pandas
    if package == "polars":
        from plandp.data.polars_frame import open_polars

        return open_polars
    from plandp.data.arrow_table import open_arrow

    return open_arrow


def _packages(data: object) -> list[str]:
    # Subclasses count too, and no package is imported that the data did not come from.
    modules = {base.__module__.split(".")[0] for base in type(data).__mro__}
    return [package for package in _PACKAGES if package in modules]
