"""All values of some rows, in whatever parts they are read in, where nobody needs a row as a whole."""

from collections.abc import Iterator

from plandp.data.rows import FloatBlock, PartedRows, Rows

Part = tuple[int, int, FloatBlock]
"""A row, a column, and a block of some rows and columns that begins there."""


def parts_of(rows: Rows) -> Iterator[Part]:
    """Go through all values: every one is in exactly one part; counts as a pass."""
    return rows.parts() if isinstance(rows, PartedRows) else _blocks_of(rows)


def _blocks_of(rows: Rows) -> Iterator[Part]:
    begin = 0
    for block in rows.blocks():
        yield begin, 0, block
        begin += len(block)
        del block
