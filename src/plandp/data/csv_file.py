"""CSV and TSV files as tables: types are never guessed, and no cell can raise, warn or change a shape.

Cells are cut and read by Python alone, whatever is installed: csv.reader refuses long fields and pyarrow whole columns,
by their values and with those values in the message.  It takes about 4 s for 10 million cells (100 MB).
"""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.csv_record import QUOTE, split_record, without_end
from plandp.data.labels import BeforeValues, find_positions, read_labels, select
from plandp.data.progress_bar import bar_of_hundredths
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

BYTES_PER_BLOCK = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAN = float("nan")


def read_csv(path: Path, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool) -> ArrayTable:
    """Return a file of cells between commas."""
    return _read(path, columns, before_values, progress, b",")


def read_tsv(path: Path, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool) -> ArrayTable:
    """Return a file of cells between tabs."""
    return _read(path, columns, before_values, progress, b"\t")


def _read(
    path: Path, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool, delimiter: bytes
) -> ArrayTable:
    with path.open("rb") as file:
        labels = read_labels(read_header(file, delimiter))
        positions = find_positions(labels, columns)
        before_values(select(labels, positions))
        chosen = range(len(labels)) if positions is None else positions
        numbers = bytearray()
        for cells in cell_blocks(read_lines(file, path.stat().st_size, progress), file, len(labels), delimiter):
            numbers += np.array([decimal_numbers(cells[position :: len(labels)]) for position in chosen]).T.tobytes()
    array = np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(chosen))
    return ArrayTable(array=array, labels=select(labels, positions))


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


def read_lines(file: BinaryIO, size: int, progress: bool) -> Iterator[list[bytes]]:
    """Return the lines of a file, about a mebibyte at a time."""
    if not progress:
        yield from iter(lambda: file.readlines(BYTES_PER_BLOCK), [])
        return
    with bar_of_hundredths("reading file") as reach:
        for lines in iter(lambda: file.readlines(BYTES_PER_BLOCK), []):
            yield lines
            reach(file.tell(), size)


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
