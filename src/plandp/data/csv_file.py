"""CSV and TSV files, read piece by piece: types are never guessed, and no cell can raise, warn or change a shape.

Cells are cut and read by Python alone, whatever is installed: csv.reader refuses long fields and pyarrow whole columns,
by their values and with those values in the message.  It takes about 4 s for 10 million cells (100 MB).
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from plandp.data.batches import Piece
from plandp.data.csv_record import QUOTE, split_record, without_end
from plandp.data.labels import find_positions, read_labels, select
from plandp.data.progress_bar import bar_of_hundredths
from plandp.data.rows import FloatBlock
from plandp.data.table import RowChoice, float_block
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

BYTES_PER_BLOCK = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAN = float("nan")


def open_csv(path: Path, columns: Collection[Label] | None) -> "CsvFile":
    """Return a file of cells between commas."""
    return _open(path, columns, b",")


def open_tsv(path: Path, columns: Collection[Label] | None) -> "CsvFile":
    """Return a file of cells between tabs."""
    return _open(path, columns, b"\t")


def _open(path: Path, columns: Collection[Label] | None, delimiter: bytes) -> "CsvFile":
    with path.open("rb") as file:
        labels = read_labels(read_header(file, delimiter))
        begin = file.tell()
    positions = find_positions(labels, columns)
    return CsvFile(
        path=path,
        delimiter=delimiter,
        begin=begin,
        width=len(labels),
        labels=select(labels, positions),
        positions=tuple(range(len(labels))) if positions is None else positions,
        size=path.stat().st_size,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CsvFile:
    """The records of a file; a cell becomes a number when its row is asked for."""

    path: Path
    delimiter: bytes
    begin: int  # of the first record, in bytes
    width: int
    labels: tuple[Label, ...]
    positions: tuple[int, ...]
    size: int
    n = None  # it takes a pass to count them, but a short one

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through the records, without their cells."""
        with self.path.open("rb") as file:
            for lines, size in self._lines(file):
                yield count_records(lines, file, self.delimiter), size

    def pieces(self) -> Iterator[Piece]:
        """Go through the records."""
        with self.path.open("rb") as file:
            for lines, size in self._lines(file):
                for cells in cell_blocks([lines], file, self.width, self.delimiter):
                    yield CsvRows(cells=cells, width=self.width, positions=self.positions, labels=self.labels), size

    def _lines(self, file: BinaryIO) -> Iterator[tuple[list[bytes], int]]:
        file.seek(self.begin)
        read = 0
        for lines in line_blocks(file):
            end = file.tell()
            yield lines, end - read
            read = end


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CsvRows:
    """The cells of some records, one row after the other."""

    cells: list[bytes]
    width: int
    positions: tuple[int, ...]
    labels: tuple[Label, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.cells) // self.width

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, NaN for cells that are not decimal numbers."""
        columns = [decimal_numbers(self._column(position, rows)) for position in self.positions]
        return float_block(np.array(columns).T)

    def _column(self, position: int, rows: RowChoice) -> list[bytes]:
        if isinstance(rows, slice):
            return self.cells[rows.start * self.width + position : rows.stop * self.width : self.width]
        return [self.cells[row * self.width + position] for row in rows.tolist()]


def read_header(file: BinaryIO, delimiter: bytes) -> tuple[str, ...]:
    """Return the names in the first line; a line that may be somebody's row is refused."""
    cells = split_record(file.readline().removeprefix(_BYTE_ORDER_MARK), file, delimiter)
    # An unclosed quote, or lines that end in \r alone, would put rows into a name, which messages and releases show.
    # First of all, or bytes of a row would decide what is refused.
    if any(b"\n" in cell or b"\r" in cell.strip() for cell in cells):
        raise ArgumentError(
            "data",
            "a name in the first line of the file runs over the end of a line, so that it may hold somebody's row; "
            "close its quotes, write each name on one line, and end lines with \\n or \\r\\n",
        )
    try:
        names = [cell.decode().strip() for cell in cells]
    except UnicodeDecodeError:
        names = []
    if not names:
        raise ArgumentError(
            "data", "the first line of the file, which names the columns, is not UTF-8 text; save it as UTF-8"
        )
    if names == [""]:
        raise ArgumentError("data", "the first line of the file is blank; it must name the columns")
    # Excel's hint at the delimiter, `sep=,` or `sep=;`, stands before the names.
    if not any(names[1:]) and re.fullmatch("sep=.?", names[0], re.IGNORECASE):
        raise ArgumentError(
            "data", "the first line of the file is a hint at the delimiter, sep=, for spreadsheets; remove that line"
        )
    if len(names) == 1 and any(mark in names[0] for mark in ";\t,"):
        raise ArgumentError(
            "data",
            "the first line of the file is not cut by the delimiter: .csv is for commas, .tsv for tabs, and numbers "
            "have decimal points",
        )
    # Without a header the first person's row would be published as labels.
    named = [name for name in names if name]
    if any(_is_number(name) for name in named) and named != [str(place) for place in range(len(named))]:
        raise ArgumentError(
            "data",
            "a name in the first line of the file is a number, so that the line may be somebody's row; put a line "
            "of names first",
        )
    return tuple(names)


def line_blocks(file: BinaryIO) -> Iterator[list[bytes]]:
    """Return the lines of a file, about a mebibyte at a time."""
    return iter(lambda: file.readlines(BYTES_PER_BLOCK), [])


def read_lines(file: BinaryIO, size: int, progress: bool) -> Iterator[list[bytes]]:
    """Return the lines of a file, about a mebibyte at a time, with a bar if asked for."""
    if not progress:
        yield from line_blocks(file)
        return
    with bar_of_hundredths("reading file") as reach:
        for lines in line_blocks(file):
            yield lines
            reach(file.tell(), size)


def count_records(lines: list[bytes], file: BinaryIO, delimiter: bytes) -> int:
    """Return how many records begin in these lines; a quoted cell can take more lines from the file."""
    if QUOTE not in b"".join(lines):
        return len(lines)
    count, waiting = 0, iter(lines)
    for line in waiting:
        split_record(line, chain(waiting, file), delimiter)
        count += 1
    return count


def cell_blocks(blocks: Iterable[list[bytes]], file: BinaryIO, width: int, delimiter: bytes) -> Iterator[list[bytes]]:
    """Return the cells of whole rows, one after the other; a row of another length becomes empty cells."""
    for lines in blocks:
        text = b"".join(lines)
        if QUOTE not in text and all(line.count(delimiter) == width - 1 for line in lines):
            whole = without_end(text).replace(b"\r\n", b"\n")  # each line without its end, as split_record cuts it
            yield whole.replace(b"\n", delimiter).split(delimiter)
            continue
        cells: list[bytes] = []
        waiting = iter(lines)
        for line in waiting:
            row = split_record(line, chain(waiting, file), delimiter)
            cells += row if len(row) == width else [b""] * width
        yield cells


def decimal_numbers(column: list[bytes]) -> NDArray[np.float64]:
    """Return cells as the nearest float64, NaN where they are not decimal numbers."""
    if b"_" not in b"".join(column):
        try:
            return np.fromiter(map(float, column), dtype=np.float64, count=len(column))
        except ValueError:  # some cell is not a number
            pass
    return np.array([_number(cell) for cell in column], dtype=np.float64)


def _number(cell: bytes) -> float:
    """Return the nearest float64 to a decimal number, NaN for any other text; 1_000, which Python reads, is text."""
    try:
        return _NAN if b"_" in cell else float(cell)
    except ValueError:
        return _NAN


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
