"""Rows with public noise on every value, by row number."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.data.blocks import merge
from plandp.data.rows import BlockFunction, FloatBlock, Rows, Sums
from plandp.terms.columns import Columns, Label

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NoisedRows:
    """Each value brought within its bounds, plus the public noise of its row number and column.

    Guarantee: that of `Rows`.  What a row becomes is a function of that row, its public number and public coins.
    """

    rows: Rows
    noise: FloatArray  # (n, d), public
    columns: Columns

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self.rows.n

    @property
    def d(self) -> int:
        """The public number of columns."""
        return self.rows.d

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self.rows.labels

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self.rows.passes

    @property
    def numbered(self) -> bool:
        """Rows have public numbers, by which their noise goes."""
        return True

    @property
    def ordered(self) -> bool:
        """Rows come in the order of their numbers."""
        return True

    near = ordered

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        total: Sums | None = None
        for block in self.blocks():
            with np.errstate(all="ignore"):
                part = function(block)
                total = tuple(sums.copy() for sums in part) if total is None else merge(total, part)
        assert total is not None  # there is no table without rows
        return total

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows in their order, block by block."""
        seen = 0
        for block in self.rows.blocks():
            with np.errstate(all="ignore"):
                noised = np.clip(block, self.columns.low, self.columns.high)
                if self.columns.missing is not None:
                    noised = np.where(np.isnan(noised), self.columns.missing, noised)
                noised += self.noise[seen : seen + len(block)]
            seen += len(block)
            yield noised

    def sample(self, indices: NDArray[np.int64], /) -> "NoisedRows":
        """Return the rows at these strictly increasing public indices."""
        return NoisedRows(rows=self.rows.sample(indices), noise=self.noise[indices], columns=self.columns)
