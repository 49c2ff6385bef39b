"""CSV and TSV files, read piece by piece: types are never guessed, and no cell can raise, warn or change a shape.

Cells are cut and read by Python, or by a loop of our own where there is a compiler, to the same bits: csv.reader
refuses long fields and pyarrow whole columns, by their values and with those values in the message.
"""

import io
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from plandp.data.batches import Piece
from plandp.data.csv_columns import CsvColumns
from plandp.data.csv_record import QUOTE, has_plain_quotes, split_record, without_end
from plandp.data.csv_text import CsvText
from plandp.data.labels import find_positions, read_labels, select
from plandp.data.progress_bar import bar_of_hundredths
from plandp.data.rows import FloatBlock
from plandp.data.table import RowChoice, float_block
from plandp.errors import ArgumentError
from plandp.kernels.compiler import Loop, compiled
from plandp.kernels.decimal_cells import read_cells
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
    chosen = CsvColumns(
        labels=select(labels, positions),
        positions=tuple(range(len(labels))) if positions is None else positions,
        width=len(labels),
    )
    return CsvFile(path=path, delimiter=delimiter, begin=begin, columns=chosen, size=path.stat().st_size)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CsvFile:
    """The records of a file; a cell becomes a number when its row is asked for."""

    path: Path
    delimiter: bytes
    begin: int  # of the first record, in bytes
    columns: CsvColumns
    size: int
    n = None  # it takes a pass to count them, but a short one

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.columns.labels

    def counts(self) -> Iterator[tuple[int, int]]:
        """Go through the records, without their cells."""
        with self.path.open("rb") as file:
            for text, size in self._texts(file):
                yield count_records(text, file, self.delimiter), size

    def pieces(self) -> Iterator[Piece]:
        """Go through the records."""
        loop = compiled(read_cells)
        if loop is not None:
            # Compiled before a cell is seen, or whether there is one to compile for would show in logs and in caches.
            self._lines(b"\n", loop).read(slice(0, 0))
        with self.path.open("rb") as file:
            for text, size in self._texts(file):
                if loop is not None and has_plain_quotes(text, self.delimiter):
                    yield self._lines(text, loop), size
                    continue
                for cells in cell_blocks([text], file, self.columns.width, self.delimiter):
                    yield CsvRows(cells=cells, columns=self.columns), size

    def _lines(self, text: bytes, loop: Loop) -> CsvText:
        return CsvText(text=text, delimiter=self.delimiter, columns=self.columns, loop=loop, number=_number)

    def _texts(self, file: BinaryIO) -> Iterator[tuple[bytes, int]]:
        file.seek(self.begin)
        read = 0
        for text in text_blocks(file):
            end = file.tell()
            yield text, end - read
            read = end


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CsvRows:
    """The cells of some records, one row after the other."""

    cells: list[bytes]
    columns: CsvColumns

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read."""
        return self.columns.labels

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.cells) // self.columns.width

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64, NaN for cells that are not decimal numbers."""
        columns = [decimal_numbers(self._column(position, rows)) for position in self.columns.positions]
        return float_block(np.array(columns).T)

    def _column(self, position: int, rows: RowChoice) -> list[bytes]:
        width = self.columns.width
        if isinstance(rows, slice):
            return self.cells[rows.start * width + position : rows.stop * width : width]
        return [self.cells[row * width + position] for row in rows.tolist()]


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
    if len(names) == 1 and any(mark in names[0] for mark in ";\t,|"):
        raise ArgumentError(
            "data",
            "the first line of the file seems not to be cut by the delimiter: .csv is for commas, .tsv for tabs, and "
            "numbers have decimal points; save it so, or read it with pandas.read_csv(sep=..., decimal=...) and pass "
            "the frame; if it is the name of a single column, take the mark out of it",
        )
    if names[0].startswith("#"):
        raise ArgumentError(
            "data",
            "the first line of the file begins with #, as comments do, and it must name the columns; remove lines of "
            "comments, or the # from a name",
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


def text_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Return the lines of a file, about a mebibyte at a time."""
    while text := file.read(BYTES_PER_BLOCK):
        yield text if text.endswith(b"\n") else text + file.readline()


def read_texts(file: BinaryIO, size: int, progress: bool) -> Iterator[bytes]:
    """Return the lines of a file, about a mebibyte at a time, with a bar if asked for."""
    if not progress:
        yield from text_blocks(file)
        return
    with bar_of_hundredths("reading file") as reach:
        for text in text_blocks(file):
            yield text
            reach(file.tell(), size)


def count_records(text: bytes, file: BinaryIO, delimiter: bytes) -> int:
    """Return how many records begin in these lines; a quoted cell can take more lines from the file."""
    if has_plain_quotes(text, delimiter):
        return text.count(b"\n") + (not text.endswith(b"\n"))
    count, waiting = 0, io.BytesIO(text)
    for line in waiting:
        split_record(line, chain(waiting, file), delimiter)
        count += 1
    return count


def cell_blocks(texts: Iterable[bytes], file: BinaryIO, width: int, delimiter: bytes) -> Iterator[list[bytes]]:
    """Return the cells of whole rows, one after the other; a row of another length becomes empty cells."""
    for text in texts:
        if QUOTE not in text and all(line.count(delimiter) == width - 1 for line in io.BytesIO(text)):
            whole = without_end(text).replace(b"\r\n", b"\n")  # each line without its end, as split_record cuts it
            yield whole.replace(b"\n", delimiter).split(delimiter)
            continue
        cells: list[bytes] = []
        waiting = io.BytesIO(text)
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
