"""Lines of a CSV file that are records: a compiled loop reads cells where they lie, to the same bits as Python."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from plandp.data.csv_columns import CsvColumns
from plandp.data.rows import FloatBlock
from plandp.data.table import RowChoice, float_block
from plandp.kernels.compiler import Loop
from plandp.kernels.decimal_cells import END, LARGEST_EXPONENT
from plandp.terms.columns import Label

SCALES = 512
"""Powers of two up to this are all that such numbers are made of."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CsvText:
    """Whole lines, each of them a row; their quotes are plain."""

    text: bytes
    delimiter: bytes
    columns: CsvColumns
    loop: Loop  # `read_cells`, compiled
    number: Callable[[bytes], float]  # what any cell is

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read."""
        return self.columns.labels

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self._begins)

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, NaN for cells that are not decimal numbers."""
        begins = self._begins[rows]
        shape = len(begins), len(self.columns.labels)
        numbers, left, spans = np.empty(shape), np.zeros(shape, np.bool_), np.empty((*shape, 2), np.int64)
        self.loop(
            np.frombuffer(self.text, np.uint8),
            begins,
            self.columns.places,
            ord(self.delimiter),
            *powers_of_ten(),
            np.ldexp(1.0, np.arange(-SCALES, SCALES)),
            numbers,
            left,
            spans,
        )
        cells = [self.text[begin:end] for begin, end in spans[left].tolist()]
        known = {cell: self.number(cell) for cell in set(cells)}  # NA stands in many
        numbers[left] = [known[cell] for cell in cells]
        return float_block(numbers)

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        """Where lines begin."""
        after = np.flatnonzero(np.frombuffer(self.text, np.uint8) == END) + 1
        begins = np.concatenate([np.zeros(1, np.int64), after])
        return begins[begins < len(self.text)]


@cache
def powers_of_ten() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """10**q for q from -LARGEST_EXPONENT on: its upper 64 bits, rounded down, and the power of two that they count."""
    tens, twos = [], []
    for q in range(-LARGEST_EXPONENT, LARGEST_EXPONENT + 1):
        above, below = (10**q, 1) if q >= 0 else (1, 10**-q)
        two = above.bit_length() - below.bit_length() - 64
        ten = (above << -two) // below if two < 0 else above // (below << two)
        if ten >= 1 << 64:
            two += 1
            ten = (above << -two) // below if two < 0 else above // (below << two)
        tens.append(ten)
        twos.append(two)
    return np.array(tens, np.uint64), np.array(twos, np.int64)
