"""Sparse matrices in .npz files, as scipy.sparse.save_npz writes them; nothing is ever unpickled."""

import os
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from plandp.data.npy_header import read_npy_header
from plandp.errors import ArgumentError

Accept = Callable[[np.dtype[Any], tuple[int, ...]], None]
"""Accepts or refuses a matrix by its type and shape."""

_MEMBERS = {"format", "shape", "data"}  # and the places, called differently by each format


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NpzMatrix:
    """The parts of a SciPy matrix as a file holds them, by SciPy's names; whether they fit together is not known."""

    format: str
    shape: tuple[int, ...]
    data: NDArray[Any]
    indptr: NDArray[Any] | None = None
    indices: NDArray[Any] | None = None
    row: NDArray[Any] | None = None
    col: NDArray[Any] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype


def is_matrix(members: Collection[str]) -> bool:
    """Whether these are the names of the arrays of a sparse matrix."""
    return set(members) >= _MEMBERS


def is_matrix_file(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this names an .npz file with the arrays of a sparse matrix; what cannot be read is none."""
    if not isinstance(data, str | os.PathLike) or not os.path.isfile(data) or Path(data).suffix.lower() != ".npz":
        return False
    try:
        with zipfile.ZipFile(data) as archive:
            return is_matrix([name.removesuffix(".npy") for name in archive.namelist()])
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):  # the table reader then says why
        return False


def read_npz_matrix(accept: Accept, path: Path) -> NpzMatrix:
    """Return the matrix of the file; only its format, types and shapes can raise.

    `accept` is called with type and shape before any entry is read.
    """
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as archive, archive.open("data.npy") as stored:
            dtype = read_npy_header(stored).dtype
        file.seek(0)
        with np.load(file, allow_pickle=False) as parts:
            kind, shape = _format(parts["format"]), _shape(parts["shape"])
            if kind not in ("csr", "csc", "coo"):
                raise ArgumentError(
                    "data", f"the file {str(path)!r} holds a sparse matrix in another format; save it as csr"
                )
            accept(dtype, shape)
            data = parts["data"]
            if kind != "coo":
                return NpzMatrix(format=kind, shape=shape, data=data, indptr=parts["indptr"], indices=parts["indices"])
            row, col = parts["coords"] if "coords" in parts.files else (parts["row"], parts["col"])
            return NpzMatrix(format=kind, shape=shape, data=data, row=row, col=col)


def _format(stored: NDArray[Any]) -> str:
    name = stored.item()
    return name.decode("ascii") if isinstance(name, bytes) else str(name)


def _shape(stored: NDArray[Any]) -> tuple[int, ...]:
    shape = tuple(stored.tolist())
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError
    return shape
