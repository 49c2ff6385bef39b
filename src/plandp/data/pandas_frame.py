"""pandas frames and series as tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.arrow_numbers import arrow_floats, is_arrow_number
from plandp.data.labels import find_positions, read_labels, select
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import ColumnsInMemory, columns_in_memory, side_by_side, worth_a_loop
from plandp.data.table import RowChoice, Table, float_block, not_numeric
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

if TYPE_CHECKING:
    import pandas

_NULLABLE = frozenset(
    {"boolean", "Float32", "Float64"} | {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PandasTable:
    """Some columns of a pandas frame, all of NumPy dtypes."""

    frame: "pandas.DataFrame"
    labels: tuple[Label, ...]
    positions: tuple[int, ...] | None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.frame)

    @cached_property
    def columns(self) -> ColumnsInMemory | None:
        """The columns, where all are float64: they lie in more than one array."""
        chosen = range(self.frame.shape[1]) if self.positions is None else self.positions
        dtypes = list(self.frame.dtypes)
        if not worth_a_loop(self.n * len(chosen)) or any(dtypes[position] != np.float64 for position in chosen):
            return None
        return columns_in_memory(self._stored)

    converts = True

    @cached_property
    def _stored(self) -> list[NDArray[Any]]:
        if self.positions is None:  # all of them are had in half the time
            return [column.to_numpy() for _, column in self.frame.items()]
        return [self.frame.iloc[:, position].to_numpy() for position in self.positions]

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column as float64."""
        for column, own in zip(self._stored, floats, strict=True):
            own[:] = column[rows]

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64."""
        if self.columns is not None:
            return float_block(self.columns.rows(rows))
        return float_block(side_by_side([column[rows] for column in self._stored]))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PandasColumns:
    """Some columns of a pandas frame, of NumPy, nullable or Arrow dtypes, converted column by column."""

    columns: tuple[Any, ...]
    labels: tuple[Label, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    converts = True

    def write_columns(self, rows: slice, floats: NDArray[np.float64]) -> None:
        """Write these rows of every column as float64, NA and null as NaN."""
        for column, own in zip(self.columns, floats, strict=True):
            own[:] = pandas_floats(column[rows])

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, NA and null as NaN."""
        return float_block(np.array([pandas_floats(column[rows]) for column in self.columns]).T)


def open_pandas(data: object, columns: Iterable[Label] | None) -> Table | None:
    """Return a frame or series as a table, None for other pandas objects; non-numeric columns are refused."""
    import pandas

    frame = data.to_frame() if isinstance(data, pandas.Series) else data
    if not isinstance(frame, pandas.DataFrame):
        return None
    every_label = read_labels(frame.columns)
    positions = find_positions(every_label, columns)
    labels = select(every_label, positions)
    every_dtype = list(frame.dtypes)
    chosen = range(len(every_label)) if positions is None else positions
    for position in chosen:
        if not is_pandas_number(every_dtype[position]):
            raise _refusal(every_label[position], every_dtype[position])
    if all(isinstance(every_dtype[position], np.dtype) for position in chosen):
        if _lies_in_one_array(frame):
            return ArrayTable(array=frame.to_numpy(), labels=labels, positions=positions)
        return PandasTable(frame=frame, labels=labels, positions=positions)
    return PandasColumns(columns=tuple(frame.iloc[:, position].array for position in chosen), labels=labels)


def _lies_in_one_array(frame: "pandas.DataFrame") -> bool:
    """Whether all values of the frame are those of one array in memory, which can be read without pandas."""
    first = frame.iloc[:1]
    alike = len(set(frame.dtypes)) == 1 and frame.dtypes.iloc[0].kind in "biuf"
    return alike and np.shares_memory(first.to_numpy(), first.iloc[:, 0].to_numpy())


def is_pandas_number(dtype: object) -> bool:
    """Whether columns of this dtype are read: bool, integers and floats, of NumPy, nullable or Arrow types."""
    import pandas

    if isinstance(dtype, np.dtype):
        return dtype.kind in "biuf"
    if isinstance(dtype, pandas.ArrowDtype):
        return is_arrow_number(dtype.pyarrow_dtype)
    return str(dtype) in _NULLABLE


def _refusal(label: Label, dtype: object) -> ArgumentError:
    import pandas

    if isinstance(dtype, pandas.SparseDtype) and is_pandas_number(dtype.subtype):
        return ArgumentError(
            "data",
            f"column {label!r} has dtype {dtype}, which is for 0/1 data or counts; pass kind='binary' or "
            "kind='nonnegative', or convert it with .sparse.to_dense()",
        )
    return not_numeric(label, dtype)


def pandas_floats(column: Any) -> NDArray[np.float64]:
    """Return a numeric pandas array as float64, NA and null as NaN."""
    import pandas

    if isinstance(column.dtype, pandas.ArrowDtype):
        return arrow_floats(column.__arrow_array__())
    floats: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return floats
