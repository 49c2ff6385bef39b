"""The way in for rows that hold few items: from a sparse matrix or any table to sparse rows that can be folded."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.compressed_rows import CompressedRows
from plandp.data.containers import is_scipy_matrix
from plandp.data.dense_items import dense_items
from plandp.data.distinct_items import column_places, distinct_items
from plandp.data.files import open_matrix_file
from plandp.data.folded_items import FoldedItems
from plandp.data.labels import BeforeValues, find_positions, nothing_before, select
from plandp.data.npz_matrix import is_matrix_file
from plandp.data.open import open_rows
from plandp.data.open_engine import open_engine_items
from plandp.data.pandas_sparse import open_sparse_frame
from plandp.data.progress_bar import bar_of_rows
from plandp.data.scipy_matrix import refuse_by_parts, refuse_by_type, stored_rows
from plandp.data.sparse_rows import SparseBlock, SparseRows
from plandp.data.stored_rows import StoredRows, cut_rows, floats
from plandp.data.table import refuse_empty
from plandp.kernels.compiler import compiled
from plandp.kernels.item_sets import count_items
from plandp.terms.columns import Label

ENTRIES_PER_BLOCK = 2**18
"""About how many entries a block has at most; values that are not float64 are converted block by block."""

TIMES_OF_SETS = 16
"""So many times as many where items are there or not and loops are compiled: these take no memory for an entry."""

ROWS_PER_BLOCK = 2**18
"""So many rows at most, or as many as entries by the next rule: of each a few numbers are held at a time."""

ENTRIES_PER_COLUMN = 16
"""With many columns a block is larger: sums by column are merged per block, and that should cost less than reading."""


def open_sparse_rows(
    data: object,
    *,
    binary: bool,
    columns: Collection[Label] | None = None,
    in_order: bool = False,
    before_values: BeforeValues = nothing_before,
    progress: bool = False,
) -> SparseRows:
    """Return a SciPy matrix, a file of one, or any table, of pandas also a sparse one, as rows of the asked columns.

    The public rules, each a function of the one row: values are read as float64; entries outside the columns, zeros
    and NaN are dropped.  If binary, any other entry is a one, however often its cell is stored.  If not, what is stored
    for a cell is added up in float64 in stored order, and sums that are NaN or not above zero are dropped.  Where the
    row starts of a matrix run back or beyond its entries, every entry still belongs to one row at most.

    Only types, shapes and labels decide what is accepted.  `data` is never changed; a CSR matrix that follows the rules
    already is read where it lies, without a copy.  `before_values` is called once, with the labels, when all that is
    public was accepted and before an entry is looked at.
    """
    frame = open_sparse_frame(data, columns)
    if frame is not None:
        refuse_empty(n=frame.n, d=len(frame.labels))
        before_values(frame.labels)
        with np.errstate(all="ignore"):
            return _cleaned(frame.stored_rows(binary=binary), frame.labels, None, binary=binary, progress=progress)
    if is_matrix_file(data):
        data = open_matrix_file(data, partial(_accept, columns, before_values))
    elif is_scipy_matrix(data):
        matrix: Any = data
        refuse_by_type(matrix.dtype, matrix.shape)
        refuse_by_parts(matrix)
        _accept(columns, before_values, matrix.dtype, matrix.shape)
    else:
        elsewhere = open_engine_items(
            data, binary=binary, columns=columns, in_order=in_order, before_values=before_values
        )
        if elsewhere is not None:
            return elsewhere
        rows = open_rows(data, columns=columns, in_order=in_order, before_values=before_values, progress=progress)
        if not rows.ordered:
            return FoldedItems(rows, binary=binary)
        blocks = partial(dense_items, rows, binary=binary)
        return CompressedRows(n=rows.n, labels=rows.labels, blocks=blocks, passes=rows.passes)
    with np.errstate(all="ignore"):
        return _open_matrix(data, binary=binary, columns=columns, progress=progress)


def _accept(
    columns: Collection[Label] | None, before_values: BeforeValues, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    """Accept or refuse a matrix by what is public of it."""
    refuse_by_type(dtype, shape)
    n, d = shape
    refuse_empty(n=n, d=d)
    before_values(_chosen(d, columns)[0])


def _chosen(d: int, columns: Collection[Label] | None) -> tuple[tuple[Label, ...], tuple[int, ...] | None]:
    """Return the labels of the asked columns, and where they stand."""
    every_label = tuple(range(d))
    positions = find_positions(every_label, columns)
    return select(every_label, positions), positions


def _open_matrix(matrix: Any, *, binary: bool, columns: Collection[Label] | None, progress: bool) -> SparseRows:
    d = matrix.shape[1]
    labels, positions = _chosen(d, columns)
    return _cleaned(
        stored_rows(matrix, binary=binary), labels, column_places(d, positions), binary=binary, progress=progress
    )


def _cleaned(
    stored: StoredRows, labels: tuple[Label, ...], place: NDArray[np.int64] | None, *, binary: bool, progress: bool
) -> SparseRows:
    rows = distinct_items(stored, d=len(labels), place=place, binary=binary)
    blocks = partial(_blocks, rows, d=len(labels), progress=progress)
    return CompressedRows(n=len(rows.begin) - 1, labels=labels, blocks=blocks, in_memory=True)


def _blocks(rows: StoredRows, *, d: int, progress: bool) -> Iterator[SparseBlock]:
    entries = ENTRIES_PER_BLOCK * (TIMES_OF_SETS if rows.values is None and compiled(count_items) else 1)
    entries, most_rows = (max(least, ENTRIES_PER_COLUMN * d) for least in (entries, ROWS_PER_BLOCK))
    stretches: Iterable[tuple[int, int]] = cut_rows(rows.begin, entries, rows=most_rows)
    for first, last in _with_bar(stretches, len(rows.begin) - 1) if progress else stretches:
        start, end = rows.begin[first], rows.begin[last]
        yield SparseBlock(
            begin=rows.begin[first : last + 1] - start,
            items=_read_only(rows.items[start:end]),
            values=None if rows.values is None else _read_only(floats(rows.values[start:end])),
        )


def _with_bar(stretches: Iterable[tuple[int, int]], n: int) -> Iterator[tuple[int, int]]:
    with bar_of_rows("reading rows", n) as reach:
        for first, last in stretches:
            yield first, last
            reach(last, n)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
