"""Numbers computed from rows, to be asked for ranks: held where they fit into memory, streamed where they do not."""

import numpy as np

from plandp.data.rows import Rows
from plandp.mechanisms.lattice import Lattice, narrowest_integer, write_block_keys
from plandp.mechanisms.lattice_counts import LatticeKeys
from plandp.mechanisms.rank_histogram import View, viewed_tiles
from plandp.mechanisms.ranked import HeldKeys, Ranked, StreamedKeys

HELD = 2**28
"""So many bytes of keys are held: one pass instead of several."""


def viewed_keys(rows: Rows, lattice: Lattice, *, view: View) -> Ranked:
    """One number per row in every column, as the view shows it: which way is chosen by public sizes alone."""
    kind = narrowest_integer(lattice)
    columns = len(lattice.cells)
    if not rows.near or rows.n * columns * np.dtype(kind).itemsize > HELD:
        return StreamedKeys(rows, lattice, view=view)
    keys, missing, seen = np.empty((rows.n, columns), kind), np.zeros(columns, np.int64), 0
    for block in rows.blocks():
        for values in viewed_tiles(block, view, columns):
            write_block_keys(values, lattice, None, keys[seen : seen + len(values)], missing)
            seen += len(values)
    return HeldKeys(lattice=lattice, held=LatticeKeys(keys=keys, missing=missing))
