"""Some rows of a table, read when they are needed instead of held twice."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import FloatBlock
from plandp.data.table import RowChoice, Table
from plandp.terms.columns import Label


# No repr of the fields, as for all tables: it would carry values into logs and tracebacks.
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChosenRows:
    """The rows of another table at strictly increasing public indices."""

    table: Table
    indices: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.indices)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.table.labels

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these of the chosen rows as float64."""
        return self.table.read(self.indices[rows])
