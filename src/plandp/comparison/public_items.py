"""Items of people that were declared public or synthetic, whole in memory.  Nothing here is private."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plandp.comparison.public_table import told_as_public
from plandp.data.open_sparse import open_sparse_rows
from plandp.terms.columns import FloatArray, Label, named_in_bounds

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicItems:
    """People × items, ones where an item is there, and the labels of the items."""

    rows: "csr_array"
    labels: tuple[Label, ...]

    @property
    def mean(self) -> FloatArray:
        """Return the share of people who have each item."""
        return np.asarray(self.rows.sum(axis=0), np.float64).ravel() / self.rows.shape[0]


def read_public_items(data: object, *, bounds: object, progress: bool) -> PublicItems:
    """Read all rows of the items that the bounds name, or of all."""
    from scipy.sparse import csr_array, vstack

    with told_as_public():
        rows = open_sparse_rows(data, binary=True, columns=named_in_bounds(bounds), progress=progress)
    blocks = [
        csr_array((np.ones(len(block.items)), block.items, block.begin), shape=(len(block.begin) - 1, rows.d))
        for block in rows.blocks()
    ]
    return PublicItems(rows=csr_array(vstack(blocks)), labels=rows.labels)
