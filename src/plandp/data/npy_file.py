"""Arrays in .npy and .npz files as tables; nothing is ever unpickled."""

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np

from plandp.data.array import ArrayTable, open_array, refuse_array
from plandp.data.labels import BeforeValues, find_positions, select
from plandp.data.npy_header import read_npy_header
from plandp.data.npz_matrix import is_matrix
from plandp.data.table import refuse_empty
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

_ARCHIVE = b"PK"


def read_npy(path: Path, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool) -> ArrayTable:
    """Return the one array of the file; an array of objects, which would need pickle, is not read."""
    with path.open("rb") as file:
        start = file.read(len(_ARCHIVE))
        file.seek(0)
        if start != _ARCHIVE:
            _accept(file, columns, before_values)
            file.seek(0)
            return open_array(np.load(file, allow_pickle=False), columns)
        with zipfile.ZipFile(file) as archive:
            member = _only_member(path, archive.namelist())
            with archive.open(member) as array:
                _accept(array, columns, before_values)
        file.seek(0)
        with np.load(file, allow_pickle=False) as loaded:
            return open_array(loaded[member], columns)


def _accept(array: IO[bytes], columns: Collection[Label] | None, before_values: BeforeValues) -> None:
    """Accept or refuse an array by its header alone."""
    shape, dtype = read_npy_header(array)
    refuse_array(dtype, shape)
    d = shape[1] if len(shape) == 2 else 1
    refuse_empty(n=shape[0], d=d)
    labels = tuple(range(d))
    before_values(select(labels, find_positions(labels, columns)))


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
