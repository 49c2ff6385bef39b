"""Which columns of a CSV file are read."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Label


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CsvColumns:
    """The columns of a file that are asked for, in the order asked for."""

    labels: tuple[Label, ...]
    positions: tuple[int, ...]
    width: int  # columns that the file has

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """For every column of the file its place among those that are read, or -1."""
        places = np.full(self.width, -1, np.int64)
        places[list(self.positions)] = np.arange(len(self.positions))
        return places
