"""SciPy's sparse matrices and arrays, read without a call that could add up, write to or run beyond what they hold."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import KINDS
from plandp.data.cell_objects import Coordinates, from_dictionary, from_lists
from plandp.data.sorted_entries import Entries, IntArray, sort_by_row
from plandp.data.stored_rows import ENTRIES_AT_A_TIME, StoredRows, floats
from plandp.errors import ArgumentError


def refuse_by_type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuse a matrix by its public dtype and number of dimensions."""
    if dtype.kind not in "biuf":
        raise ArgumentError(
            "data",
            f"the matrix holds {KINDS.get(dtype.kind, 'no numbers')}, which is not numeric; "
            "convert it to a float, integer or bool dtype",
        )
    if len(shape) != 2:
        raise ArgumentError("data", f"the sparse array has {len(shape)} dimensions; pass rows × columns")


def refuse_by_parts(matrix: Any) -> None:
    """Refuse a matrix by the types and lengths of its parts, which `stored_rows` would refuse; no entry is read."""
    if matrix.format == "lil" and not all(_plain(part).ndim == 1 for part in (matrix.rows, matrix.data)):
        raise _malformed()
    if matrix.format not in _PLACES:
        return
    for name in _PLACES[matrix.format]:
        _refuse_places(_plain(getattr(matrix, name)))
    values = _values(matrix, dimensions=_DIMENSIONS.get(matrix.format, 1))
    if matrix.format == "dia":
        _refuse_length(matrix.offsets, len(values) - 1)
    elif matrix.format != "coo":
        _refuse_length(matrix.indptr, _row_count(matrix))


def stored_rows(matrix: Any, *, binary: bool) -> StoredRows:
    """Return a matrix as compressed rows; those of a CSR matrix lie where they are."""
    if matrix.format == "csr":
        return _compressed(matrix)
    if matrix.format in _OBJECTS:
        matrix = _OBJECTS[matrix.format](matrix)
    n, d = matrix.shape
    return sort_by_row(partial(_ENTRIES[matrix.format], matrix), n=n, d=d, binary=binary)


def _compressed(matrix: Any) -> StoredRows:
    items, values = _integers(matrix.indices), _values(matrix)
    begin = _ends(matrix.indptr, count=_row_count(matrix), entries=min(len(items), len(values)))
    return StoredRows(begin=begin, items=items, values=values, writable=False)


def _coordinate_entries(matrix: Any) -> Iterator[Entries]:
    rows, columns, values = _integers(matrix.row), _integers(matrix.col), _values(matrix)
    entries = min(len(rows), len(columns), len(values))
    for first in range(0, entries, ENTRIES_AT_A_TIME):
        part = slice(first, min(first + ENTRIES_AT_A_TIME, entries))
        yield rows[part], columns[part], floats(values[part])


def _column_entries(matrix: Any) -> Iterator[Entries]:
    rows, values = _integers(matrix.indices), _values(matrix)
    ends = _ends(matrix.indptr, count=_row_count(matrix), entries=min(len(rows), len(values)))
    for part, columns in _owners(ends, ENTRIES_AT_A_TIME):
        yield rows[part], columns, floats(values[part])


def _block_entries(matrix: Any) -> Iterator[Entries]:
    block_columns, blocks = _integers(matrix.indices), _values(matrix, dimensions=3)
    d, (height, width) = matrix.shape[1], blocks.shape[1:]
    ends = _ends(matrix.indptr, count=_row_count(matrix), entries=min(len(block_columns), len(blocks)))
    for part, block_rows in _owners(ends, max(1, ENTRIES_AT_A_TIME // (height * width))):
        values = floats(blocks[part])
        outside = (block_columns[part] < 0) | (block_columns[part] >= d // width)
        block_column = np.where(outside, np.int64(-1), block_columns[part])  # before a product could overflow
        rows = block_rows[:, None, None] * height + np.arange(height)[None, :, None]
        columns = block_column[:, None, None] * width + np.arange(width)[None, None, :]
        yield (
            np.broadcast_to(rows, values.shape).ravel(),
            np.broadcast_to(columns, values.shape).ravel(),
            values.ravel(),
        )


def _diagonal_entries(matrix: Any) -> Iterator[Entries]:
    # Not by SciPy, which writes beyond its own arrays where a diagonal is far outside.
    offsets, values = _integers(matrix.offsets), _values(matrix, dimensions=2)
    n, d = matrix.shape
    columns = np.arange(min(d, values.shape[1]))
    for offset, diagonal in zip(offsets.tolist(), values, strict=False):
        if -n < offset < d:
            yield columns - offset, columns, floats(diagonal[: len(columns)])


_ENTRIES: dict[str, Callable[[Any], Iterator[Entries]]] = {
    "coo": _coordinate_entries,
    "csc": _column_entries,
    "bsr": _block_entries,
    "dia": _diagonal_entries,
}

_PLACES = {
    "csr": ("indptr", "indices"),
    "csc": ("indptr", "indices"),
    "bsr": ("indptr", "indices"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}

_DIMENSIONS = {"bsr": 3, "dia": 2}
"""How many dimensions the values have, if not one."""

_OBJECTS: dict[str, Callable[[Any], Coordinates]] = {"lil": from_lists, "dok": from_dictionary}


def _owners(ends: NDArray[Any], step: int) -> Iterator[tuple[slice, IntArray]]:
    """Cut the entries into stretches, each with the number of the row or column that every entry belongs to."""
    for first in range(int(ends[0]), int(ends[-1]), step):
        last = min(first + step, int(ends[-1]))
        lowest, highest = np.searchsorted(ends, [first, last - 1], side="right")
        inside = np.clip(ends[lowest - 1 : highest + 1], first, last)
        yield slice(first, last), np.repeat(np.arange(lowest - 1, highest), np.diff(inside))


def _ends(indptr: NDArray[Any], *, count: int, entries: int) -> NDArray[Any]:
    """Return where each row begins and the last one ends, within the entries and never going back."""
    ends = _integers(indptr)
    _refuse_length(ends, count)
    if ends[0] >= 0 and ends[-1] <= entries and np.all(ends[1:] >= ends[:-1]):
        return ends
    return np.maximum.accumulate(np.clip(ends.astype(np.int64), 0, entries))


def _integers(array: NDArray[Any]) -> NDArray[Any]:
    """Return indices as int32 or int64 in machine order, copied only where they must be; what wraps is outside."""
    plain = _plain(array)
    _refuse_places(plain)
    return np.require(plain, np.int32 if plain.dtype == np.int32 else np.int64, ["C", "A"])


def _refuse_places(plain: NDArray[Any]) -> None:
    if plain.dtype.kind not in "iu" or plain.ndim != 1:
        raise _malformed()


def _refuse_length(ends: NDArray[Any], count: int) -> None:
    if len(ends) != count + 1:
        raise _malformed()


def _row_count(matrix: Any) -> int:
    """How many rows, columns or rows of blocks begin somewhere."""
    n, d = matrix.shape
    if matrix.format == "bsr":
        return int(n // matrix.data.shape[1])
    return int(d if matrix.format == "csc" else n)


def _values(matrix: Any, dimensions: int = 1) -> NDArray[Any]:
    values = _plain(matrix.data)
    if values.ndim != dimensions:
        raise _malformed()
    return values


def _plain(part: Any) -> NDArray[Any]:
    """Return a part of a matrix as no subclass of arrays; masks, which loops cannot read, are refused by type."""
    if not isinstance(part, np.ndarray) or isinstance(part, np.ma.MaskedArray):
        raise _malformed()
    return np.asarray(part)


def _malformed() -> ArgumentError:
    return ArgumentError("data", "the parts of the sparse matrix do not fit together; build it anew from its entries")
