"""CSV and TSV files as tables of events: an id is the exact text of its cell, and no cell can raise."""

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plandp.data.csv_file import cell_blocks, decimal_numbers, read_header, read_texts
from plandp.data.event_table import Accept
from plandp.data.id_column import IdColumn, Numbering
from plandp.data.labels import offer
from plandp.terms.columns import Label


@dataclass(frozen=True, eq=False, repr=False)
class CsvEvents:
    """The columns of a file that were asked for, each as ids or as numbers."""

    labels: tuple[object, ...]
    id_columns: dict[Label, IdColumn]
    value_columns: dict[Label, NDArray[np.float64]]

    def offer(self, asked: Collection[Label]) -> str:
        """Names only if one of those asked for is there: else the first line may be an event, which is not shown."""
        if any(label in self.labels for label in asked):
            return offer(self.labels)
        return "name one that it has.  The first line of a CSV or TSV file must name the columns"

    def refuse_ids(self, label: Label, argument: str) -> None:
        """Refuse nothing: every cell is text."""

    def refuse_values(self, label: Label) -> None:
        """Refuse nothing: cells that are not numbers are missing."""

    def ids(self, label: Label) -> IdColumn:
        """Return the cells of a column as ids, empty cells as null."""
        return self.id_columns[label]

    def values(self, label: Label) -> NDArray[np.float64]:
        """Return the cells of a column as float64, NaN where they are not decimal numbers."""
        return self.value_columns[label]


def read_csv_events(
    path: Path, *, ids: Sequence[Label], values: Sequence[Label], accept: Accept, delimiter: bytes, progress: bool
) -> CsvEvents:
    """Return these columns of a file, when `accept` has seen the names of all."""
    with path.open("rb") as file:
        labels = read_header(file, delimiter)
        accept(CsvEvents(labels=labels, id_columns={}, value_columns={}))
        width = len(labels)
        place: dict[object, int] = {label: position for position, label in enumerate(labels)}
        numberings = {label: Numbering() for label in ids}
        numbers = {label: array("q") for label in numberings}
        sums = {label: array("d") for label in values}
        for cells in cell_blocks(read_texts(file, path.stat().st_size, progress), file, width, delimiter):
            for label, numbering in numberings.items():
                numbers[label].extend(map(numbering.__getitem__, cells[place[label] :: width]))
            for label, found in sums.items():
                found.frombytes(decimal_numbers(cells[place[label] :: width]).tobytes())
    return CsvEvents(
        labels=labels,
        id_columns={
            label: numbering.column(np.frombuffer(numbers[label], dtype=np.int64))
            for label, numbering in numberings.items()
        },
        value_columns={label: np.frombuffer(found, dtype=np.float64) for label, found in sums.items()},
    )
