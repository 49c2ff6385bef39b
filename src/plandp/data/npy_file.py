"""Arrays in .npy and .npz files, read piece by piece; nothing is ever unpickled."""

import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from plandp.data import batches
from plandp.data.array import ArrayTable, refuse_array, two_dimensional
from plandp.data.batches import Batches, Piece
from plandp.data.labels import find_positions, select
from plandp.data.npy_header import NpyHeader, read_npy_header
from plandp.data.npz_matrix import is_matrix
from plandp.data.row_choice import runs_in
from plandp.data.rows import FloatBlock
from plandp.data.side_by_side import is_machine_type
from plandp.data.table import RowChoice, float_block
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

_ARCHIVE = b"PK"

SKIPPED = 2**16
"""So many bytes or more between rows that are picked, on average, are passed over instead of read."""


def open_npy(path: Path, columns: Collection[Label] | None) -> Batches:
    """Return the one array of the file, accepted by its header; one of objects, which would need pickle, is not."""
    with path.open("rb") as file:
        start = file.read(len(_ARCHIVE))
        file.seek(0)
        if start != _ARCHIVE:
            header = _accepted(file)
            _refuse_cut_off(header, path.stat().st_size - file.tell())
            labels, positions = _chosen(header, columns)
            return NpyFile(path=path, header=header, begin=file.tell(), labels=labels, positions=positions)
        with zipfile.ZipFile(file) as archive:
            member = _only_member(path, archive.namelist())
            with archive.open(member) as array:
                header = _accepted(array)
                _refuse_cut_off(header, archive.getinfo(member).file_size - array.tell())
    labels, positions = _chosen(header, columns)
    return NpzFile(path=path, header=header, member=member, labels=labels, positions=positions)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NpyFile:
    """The array of an .npy file, of which only the asked rows are read; the file is never mapped into memory."""

    path: Path
    header: NpyHeader
    begin: int  # of the values, in bytes
    labels: tuple[Label, ...]
    positions: tuple[int, ...] | None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.header.shape[0]

    @property
    def size(self) -> int:
        """The bytes of the values."""
        return self.n * self.width * self.header.dtype.itemsize

    @property
    def width(self) -> int:
        """The number of columns of the file."""
        return _width(self.header)

    @property
    def in_order(self) -> bool:
        """Whether rows lie in the file in order, as numbers of a machine type, without columns that nobody asks for."""
        return not self.header.by_column and self.positions is None and is_machine_type(self.header.dtype)

    def counts(self) -> Iterator[tuple[int, int]]:
        """Return the number of rows, which the header tells."""
        yield self.n, self.size

    def pieces(self) -> Iterator[Piece]:
        """Go through the file; what is not asked for is not read."""
        step = max(1, batches.VALUES_AT_A_TIME // self.width)
        with self.path.open("rb") as file:
            for first in range(0, self.n, step):
                rows = min(step, self.n - first)
                yield NpyRows(file=file, whole=self, first=first, n=rows), self.size * rows // self.n


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NpyRows:
    """Some consecutive rows of an .npy file that is open."""

    file: BufferedReader
    whole: NpyFile
    first: int
    n: int

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.whole.labels

    def read(self, rows: RowChoice) -> FloatBlock:
        """Return these rows as float64."""
        if isinstance(rows, slice):
            return self._asked(self._stretch(rows.start, rows.stop))
        row_bytes = self.whole.width * self.whole.header.dtype.itemsize
        first, last, runs = int(rows[0]), int(rows[-1]) + 1, runs_in(rows)
        if not self.whole.header.by_column and row_bytes * (last - first - len(rows)) > SKIPPED * len(runs):
            return self._asked(self._picked(rows, runs))
        return self._asked(self._stretch(first, last)[rows - first])

    def stored(self, rows: slice) -> NDArray[Any]:
        """Return these rows as they are stored, which must be `in_order`."""
        return self._stretch(rows.start, rows.stop)

    def _asked(self, values: NDArray[Any]) -> FloatBlock:
        positions = self.whole.positions
        return float_block(values if positions is None else values[:, list(positions)])

    def _picked(self, rows: NDArray[np.int64], runs: Sequence[slice]) -> NDArray[Any]:
        values = np.empty((len(rows), self.whole.width), self.whole.header.dtype)
        for run in runs:
            self._fill(values[run], (self.first + int(rows[run.start])) * self.whole.width)
        return values

    def _stretch(self, first: int, last: int) -> NDArray[Any]:
        """Read consecutive rows, all columns of them."""
        header, width, start = self.whole.header, self.whole.width, self.first + first
        if not header.by_column:
            values = np.empty((last - first, width), header.dtype)
            self._fill(values, start * width)
            return values
        turned = np.empty((width, last - first), header.dtype)
        for column, values in enumerate(turned):
            self._fill(values, column * self.whole.n + start)
        return turned.T

    def _fill(self, values: NDArray[Any], start: int) -> None:
        self.file.seek(self.whole.begin + start * values.itemsize)
        if self.file.readinto(values.view(np.uint8).reshape(-1).data) != values.nbytes:
            raise EOFError  # the file is shorter than its header says


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NpzFile:
    """The array of an .npz file, which is unpacked as a whole."""

    path: Path
    header: NpyHeader
    member: str
    labels: tuple[Label, ...]
    positions: tuple[int, ...] | None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.header.shape[0]

    @property
    def size(self) -> int:
        """The bytes of the values."""
        return self.n * _width(self.header) * self.header.dtype.itemsize

    def counts(self) -> Iterator[tuple[int, int]]:
        """Return the number of rows, which the header tells."""
        yield self.n, self.size

    def pieces(self) -> Iterator[Piece]:
        """Return the one piece."""
        with self.path.open("rb") as file, np.load(file, allow_pickle=False) as loaded:
            array = two_dimensional(loaded[self.member])
        yield ArrayTable(array=array, labels=self.labels, positions=self.positions), self.size


def _accepted(array: IO[bytes]) -> NpyHeader:
    """Accept or refuse an array by its header alone."""
    header = read_npy_header(array)
    refuse_array(header.dtype, header.shape)
    return header


def _refuse_cut_off(header: NpyHeader, size: int) -> None:
    """Refuse a file that is shorter than its header says, before anybody plans for so many rows."""
    if min(header.shape) < 0 or prod(header.shape) * header.dtype.itemsize > size:
        raise EOFError


def _width(header: NpyHeader) -> int:
    return header.shape[1] if len(header.shape) == 2 else 1


def _chosen(header: NpyHeader, columns: Collection[Label] | None) -> tuple[tuple[Label, ...], tuple[int, ...] | None]:
    labels = tuple(range(_width(header)))
    positions = find_positions(labels, columns)
    return select(labels, positions), positions


def _only_member(path: Path, members: list[str]) -> str:
    if is_matrix([name.removesuffix(".npy") for name in members]):
        raise ArgumentError(
            "data",
            f"the file {str(path)!r} holds a sparse matrix, which is 0/1 data or counts; "
            "pass kind='binary' or kind='nonnegative'",
        )
    if len(members) != 1:
        raise ArgumentError("data", f"the file {str(path)!r} holds {len(members)} arrays; save the table on its own")
    return members[0]
