"""Batches of an Arrow IPC file that are not held whole: rows of some columns, piece by piece from the first on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plandp.data.arrow_messages import StoredBatch
from plandp.data.arrow_numbers import refuse_damaged
from plandp.data.buffer_bytes import BufferBytes
from plandp.data.list_columns import fixed_width, is_list

TOGETHER = 8
"""The bits of so many rows, which say whether they are missing, share a byte: pieces begin at multiples."""


@dataclass(frozen=True, kw_only=True)
class ColumnPlace:
    """A column, and which of the nodes and buffers of a batch are the first of its own."""

    dtype: Any
    node: int
    buffer: int  # beside those that views before it have further
    views: int  # before it


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnPlaces:
    """Where the columns of a schema are in its batches."""

    columns: Mapping[str, ColumnPlace]
    nodes: int
    buffers: int
    views: int
    dictionaries: bool  # whether there are columns of categories, which are kept in messages of their own

    def fit(self, batch: StoredBatch) -> bool:
        """Whether a batch is laid out as it should be."""
        found = len(batch.nodes), len(batch.buffers), len(batch.further)
        return batch.usual and found == (self.nodes, self.buffers + batch.further.sum(), self.views)


def column_places(schema: Any) -> ColumnPlaces | None:
    """Return where columns are by their public types; None where one has a type whose layout is not known here."""
    columns, before = {}, _Parts()
    for field in schema:
        columns[field.name] = ColumnPlace(
            dtype=field.type, node=before.nodes, buffer=before.buffers, views=before.views
        )
        own = _parts_of(field.type)
        if own is None:
            return None
        before += own
    return ColumnPlaces(
        columns=columns,
        nodes=before.nodes,
        buffers=before.buffers,
        views=before.views,
        dictionaries=before.dictionaries > 0,
    )


def batch_pieces(
    path: Path, batch: StoredBatch, places: ColumnPlaces, step: int, names: Sequence[str]
) -> Iterator[Any]:
    """Return record batches of these columns of about `step` rows, the last one fewer."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    step = TOGETHER * -(-step // TOGETHER)
    with pyarrow.OSFile(str(path)) as file:
        if any(batch.nodes[places.columns[name].node]["length"] != batch.n for name in names):
            raise EOFError("a column has not as many rows as its batch")
        columns = [_column(_Buffers(file, batch), places.columns[name]) for name in names]
        for first in range(0, batch.n, step):
            last = min(first + step, batch.n)
            piece = pyarrow.RecordBatch.from_arrays([column.take(first, last) for column in columns], names=list(names))
            refuse_damaged(piece)
            if last == batch.n:
                for column in columns:
                    column.finish()
            yield piece
            del piece


class _Buffers:
    """The nodes and buffers of one batch, by their number."""

    def __init__(self, file: Any, batch: StoredBatch) -> None:
        self._file, self._batch = file, batch

    def node(self, number: int) -> tuple[int, bool]:
        """Return how long it is, and whether something may be missing."""
        node = self._batch.nodes[number]
        return int(node["length"]), bool(node["nulls"])

    def further(self, views: int) -> int:
        """Return how many more buffers the first columns of views have."""
        return int(self._batch.further[:views].sum())

    def open(self, number: int) -> BufferBytes:
        """Return the bytes of a buffer."""
        offset, length = map(int, self._batch.buffers[number])
        return BufferBytes(self._file, begin=self._batch.body + offset, length=length, codec=self._batch.codec)


class _Numbers:
    """A column of numbers."""

    def __init__(self, buffers: _Buffers, dtype: Any, node: int, buffer: int) -> None:
        from pyarrow import types

        self.length, nulls = buffers.node(node)
        self._dtype = dtype
        stored = not types.is_null(dtype)
        self._valid = buffers.open(buffer) if stored and nulls else None
        self._values = buffers.open(buffer + 1) if stored else None

    def take(self, first: int, last: int) -> Any:
        """Return these rows, which follow the last ones."""
        import pyarrow

        if self._values is None:
            return pyarrow.nulls(last - first, self._dtype)
        begin, width = first - first % TOGETHER, self._dtype.bit_width
        valid = None if self._valid is None else pyarrow.py_buffer(self._valid.take(begin // 8, -(-last // 8)))
        values = pyarrow.py_buffer(self._values.take(begin * width // 8, -(-last * width // 8)))
        return pyarrow.Array.from_buffers(
            self._dtype, last - first, [valid, values], 0 if valid is None else -1, first - begin
        )

    def finish(self) -> None:
        """See to it that the buffers end as they should."""
        for buffer in (self._valid, self._values):
            if buffer is not None:
                buffer.finish()


class _Lists:
    """A column of lists of numbers."""

    def __init__(self, buffers: _Buffers, dtype: Any, node: int, buffer: int) -> None:
        from pyarrow import types

        _, nulls = buffers.node(node)
        self._dtype = dtype
        self._width = fixed_width(dtype)
        self._valid = buffers.open(buffer) if nulls else None
        self._offset = np.dtype(np.int64 if types.is_large_list(dtype) else np.int32)
        self._offsets = buffers.open(buffer + 1) if self._width is None else None
        self._numbers = _Numbers(buffers, dtype.value_type, node + 1, buffer + (1 if self._width is not None else 2))

    def take(self, first: int, last: int) -> Any:
        """Return these rows, which follow the last ones; `first` is a multiple of `TOGETHER`."""
        import pyarrow

        stored = [None if self._valid is None else pyarrow.py_buffer(self._valid.take(first // 8, -(-last // 8)))]
        if self._offsets is None:
            begin, end = first * (self._width or 0), last * (self._width or 0)
        else:
            size = self._offset.itemsize
            offsets = self._offsets.take(first * size, (last + 1) * size).view(self._offset)
            begin, end = int(offsets[0]), int(offsets[-1])
            stored.append(pyarrow.py_buffer(offsets - offsets[0]))
        if not 0 <= begin <= end <= self._numbers.length:
            raise EOFError("lists are longer than what is stored of them")
        numbers = self._numbers.take(begin, end)
        nulls = 0 if self._valid is None else -1
        return pyarrow.Array.from_buffers(self._dtype, last - first, stored, nulls, children=[numbers])

    def finish(self) -> None:
        """See to it that the buffers end as they should."""
        for buffer in (self._valid, self._offsets, self._numbers):
            if buffer is not None:
                buffer.finish()


def _column(buffers: _Buffers, place: ColumnPlace) -> _Numbers | _Lists:
    kind: Callable[..., _Numbers | _Lists] = _Lists if is_list(place.dtype) else _Numbers
    return kind(buffers, place.dtype, place.node, place.buffer + buffers.further(place.views))


@dataclass(frozen=True)
class _Parts:
    """How much of a batch columns are."""

    nodes: int = 0
    buffers: int = 0
    views: int = 0
    dictionaries: int = 0

    def __add__(self, other: "_Parts") -> "_Parts":
        return _Parts(
            self.nodes + other.nodes,
            self.buffers + other.buffers,
            self.views + other.views,
            self.dictionaries + other.dictionaries,
        )


def _parts_of(dtype: Any) -> _Parts | None:
    """Return what a column of this type is made of; None where that is not known here."""
    from pyarrow import BaseExtensionType, types

    if isinstance(dtype, BaseExtensionType):
        return _parts_of(dtype.storage_type)
    if types.is_null(dtype):
        return _Parts(1, 0)
    if types.is_dictionary(dtype):
        return _Parts(1, 2, dictionaries=1)
    if types.is_primitive(dtype) or types.is_decimal(dtype) or types.is_fixed_size_binary(dtype):
        return _Parts(1, 2)
    if types.is_string_view(dtype) or types.is_binary_view(dtype):
        return _Parts(1, 2, views=1)
    if types.is_string(dtype) or types.is_binary(dtype) or types.is_large_string(dtype) or types.is_large_binary(dtype):
        return _Parts(1, 3)
    if is_list(dtype):
        parts, total = [dtype.value_type], _Parts(1, 1 if types.is_fixed_size_list(dtype) else 2)
    elif types.is_struct(dtype):
        parts, total = [field.type for field in dtype], _Parts(1, 1)
    else:
        return None
    for part in parts:
        own = _parts_of(part)
        if own is None:
            return None
        total += own
    return total
