"""Numbers computed from rows, to be asked for ranks: held where they fit into memory, streamed where they do not."""

import numpy as np

from plandp.data.rows import Rows
from plandp.mechanisms.lattice_counts import Lattice, LatticeKeys, narrowest_integer
from plandp.mechanisms.rank_histogram import View
from plandp.mechanisms.ranked import HeldKeys, Ranked, StreamedKeys

HELD = 2**28
"""So many bytes of keys are held: one pass instead of several."""


def viewed_keys(rows: Rows, lattice: Lattice, *, view: View) -> Ranked:
    """One number per row in every column, as the view shows it: which way is chosen by public sizes alone."""
    kind = narrowest_integer(lattice)
    columns = len(lattice.cells)
    if not rows.ordered or rows.n * columns * np.dtype(kind).itemsize > HELD:
        return StreamedKeys(rows, lattice, view=view)
    keys, missing, seen = np.empty((rows.n, columns), kind), np.zeros(columns, np.int64), 0
    for block in rows.blocks():
        with np.errstate(all="ignore"):
            found = lattice.keys(view(block), None)
            lost = np.isnan(found)
            keys[seen : seen + len(block)] = np.where(lost, lattice.cells, found)
        missing += np.count_nonzero(lost, axis=0)
        seen += len(block)
    return HeldKeys(lattice=lattice, held=LatticeKeys(keys=keys, missing=missing))
