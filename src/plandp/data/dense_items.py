"""The cells of a dense table that count, block by block."""

from collections.abc import Iterator

import numpy as np

from plandp.data.rows import FloatBlock, Rows
from plandp.data.sparse_rows import SparseBlock
from plandp.data.stored_rows import narrowest, presence


def dense_items(rows: Rows, *, binary: bool) -> Iterator[SparseBlock]:
    """Go through the table once: all cells but zeros and NaN, each a one, if binary; else all cells above zero."""
    for block in rows.blocks():
        yield items_of(block, binary=binary)


def items_of(block: FloatBlock, *, binary: bool) -> SparseBlock:
    """Return the cells of a block that count."""
    counts = presence(block) if binary else block > 0.0
    begin = np.zeros(len(block) + 1, np.int64)
    np.cumsum(np.count_nonzero(counts, axis=1), out=begin[1:])
    items = np.nonzero(counts)[1].astype(narrowest(block.shape[1]))
    return SparseBlock(begin=begin, items=items, values=None if binary else block[counts])
