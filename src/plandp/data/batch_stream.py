"""Iterables of batches that can be gone through again and again: arrays, frames, Arrow tables or record batches."""

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial

import numpy as np

from plandp.data.batches import Piece
from plandp.data.containers import open_container
from plandp.data.rows import FloatBlock
from plandp.data.table import ReadThrough, Table, float_block
from plandp.errors import ArgumentError
from plandp.terms.columns import Label
from plandp.terms.text_table import with_article

_NO_BATCHES = (str, bytes, bytearray, memoryview, Mapping, Set, type)


def holds_batches(data: object) -> bool:
    """Whether a list or tuple holds batches, and not rows."""
    return isinstance(data, list | tuple) and len(data) > 0 and all(_is_batch(item) for item in data)


def open_stream(data: object, columns: Collection[Label] | None) -> "BatchStream | None":
    """Return an iterable, or a function that returns one, as a source; None for what is neither.

    It is begun anew for every pass.  The first batch is taken once to see its labels and types, and no value is looked
    at.  What can be gone through only once is refused before a batch is taken from it.
    """
    if isinstance(data, _NO_BATCHES) or any(base.__module__.startswith("scipy.") for base in type(data).__mro__):
        return None
    begin: Callable[[], object]
    if isinstance(data, Iterable):
        begin, called = data.__iter__, False
    elif inspect.isroutine(data) or isinstance(data, partial):
        _refuse_arguments(data)
        begin, called = data, True
    else:
        return None
    first, again = _iterator(begin()), _iterator(begin())
    if first is again or first is data:
        raise only_once()
    del again
    batch = next(first, None)
    if batch is None:
        raise ArgumentError("data", "there is no batch; pass at least one")
    if not _is_batch(batch) and not called:
        return None
    return BatchStream(begin=begin, columns=columns, labels=_opened(batch, columns).labels)


def only_once() -> ArgumentError:
    """Return what to say of what can be gone through only once."""
    return ArgumentError(
        "data",
        "can be gone through only once, and rows are read more than once; pass a function that begins anew, such "
        "as lambda: read_batches(), or an object whose iter() does; paths of files go into a list",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BatchStream:
    """Batches with the same columns; their number and their rows are public."""

    begin: Callable[[], object]
    columns: Collection[Label] | None
    labels: tuple[Label, ...]
    n = None  # it takes a pass to count them
    size = 0  # not known

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through the batches, of which nothing is read but their lengths."""
        for table in self._tables():
            yield table.n, table.n

    def pieces(self) -> Iterator[Piece]:
        """Go through the batches."""
        for table in self._tables():
            yield ReadThrough(table=table, reader=_copied, watches=False), table.n

    def _tables(self) -> Iterator[Table]:
        for batch in _iterator(self.begin()):
            table = _opened(batch, None if self.columns is None else self.labels)
            if table.labels != self.labels:
                raise ArgumentError("data", "a batch has other columns than the first; all must have the same")
            del batch
            yield table
            del table


def _copied(read: Callable[[], FloatBlock]) -> FloatBlock:
    """Read rows into memory of their own: the owner of a batch may fill its memory with the next one."""
    return float_block(read().copy())


def _refuse_arguments(function: Callable[..., object]) -> None:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):  # it needs arguments, or does not say which
        fits = False
    else:
        fits = True
    if not fits:
        raise ArgumentError("data", "a function must be one without arguments that returns an iterator of batches")


def _iterator(begun: object) -> Iterator[object]:
    if not isinstance(begun, Iterable) or isinstance(begun, _NO_BATCHES):
        found = with_article(type(begun).__name__)
        raise ArgumentError("data", f"the function must return an iterator of batches, not {found}")
    return iter(begun)


def _is_batch(item: object) -> bool:
    if isinstance(item, np.ndarray):
        return item.ndim == 2  # vectors could be rows or parts of a column
    return any(
        base.__module__.split(".")[0] in ("pandas", "polars", "pyarrow")
        and base.__name__ in ("DataFrame", "RecordBatch", "Table")
        for base in type(item).__mro__
    )


def _opened(batch: object, columns: Collection[Label] | None) -> Table:
    table = open_container(batch, columns) if _is_batch(batch) else None
    if table is None:
        array = isinstance(batch, np.ndarray)
        what = "an array that is not two-dimensional" if array else with_article(type(batch).__name__)
        raise ArgumentError(
            "data",
            f"{what} is no batch; pass arrays of rows × columns, pandas or polars DataFrames, or pyarrow "
            "RecordBatches or Tables",
        )
    return table
