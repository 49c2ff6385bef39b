"""Files as tables: the suffix says how a file is read, and nothing in it but its header or schema can raise."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from plandp.data.arrow_file import read_arrow, read_parquet
from plandp.data.csv_file import read_csv, read_tsv
from plandp.data.labels import BeforeValues
from plandp.data.npy_file import read_npy
from plandp.data.npz_matrix import Accept, NpzMatrix, read_npz_matrix
from plandp.data.table import Table
from plandp.errors import ArgumentError, PlandpError
from plandp.terms.columns import Label

T = TypeVar("T")

Reader = Callable[[Path, Collection[Label] | None, BeforeValues, bool], Table]

READERS: dict[str, tuple[str, Reader]] = {
    ".csv": ("CSV", read_csv),
    ".tsv": ("TSV", read_tsv),
    ".parquet": ("Parquet", read_parquet),
    ".arrow": ("Arrow IPC", read_arrow),
    ".feather": ("Feather", read_arrow),
    ".npy": ("NumPy", read_npy),
    ".npz": ("NumPy", read_npy),
}

NUMBERED = (".npy", ".npz")
"""Files whose columns are called 0, 1, 2, … and have no names."""

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")

_LONGEST_NAME = 1000


def open_file(
    name: str | os.PathLike[str],
    columns: Collection[Label] | None,
    *,
    before_values: BeforeValues,
    progress: bool,
) -> Table:
    """Return the table in a file, read into memory; the columns not asked for are not kept.

    `before_values` is called between the header or schema and the rows.
    """
    readers = {
        suffix: (kind, partial(_read, read, columns, before_values, progress))
        for suffix, (kind, read) in READERS.items()
    }
    return read_file(name, readers, content="numbers")


def open_matrix_file(name: str | os.PathLike[str], accept: Accept) -> NpzMatrix:
    """Return the sparse matrix in an .npz file, read into memory when `accept` has seen its type and shape."""
    return read_file(name, {".npz": ("NumPy", partial(read_npz_matrix, accept))}, content="numbers")


def read_file(
    name: str | os.PathLike[str], readers: Mapping[str, tuple[str, Callable[[Path], T]]], *, content: str
) -> T:
    """Return what the reader for the suffix of a file makes of it.

    Guarantee: what is raised depends on the file as such, its header or its schema, never on a cell, and carries
    no text of a cell, not even in what it is raised from.
    """
    path = Path(name)
    hint = "; a string is taken for the path of a file" if isinstance(name, str) else ""
    _check_path(path, readers, hint=hint)
    kind, read = readers[path.suffix.lower()]
    # The refusal is raised below and not in the handlers: there it would drag the library's error along, whose text
    # can hold cells.
    try:
        return read(path)
    except PlandpError:
        raise
    except MemoryError:
        problem = "does not fit in memory, or is damaged"
    except OSError as error:  # pyarrow raises it too, for damaged files, without a number
        problem = f"cannot be read: {os.strerror(error.errno)}" if error.errno else _damaged(kind, content)
    except Exception:  # whatever a reader raises for a damaged file, its text could hold cells
        problem = _damaged(kind, content)
    raise ArgumentError("data", f"the file {_shown(path)} {problem}")


def _read(
    read: Reader, columns: Collection[Label] | None, before_values: BeforeValues, progress: bool, path: Path
) -> Table:
    return read(path, columns, before_values, progress)


def _check_path(path: Path, suffixes: Collection[str], *, hint: str) -> None:
    if not os.path.exists(path):  # never raises, whatever the string is
        raise ArgumentError("data", f"there is no file {_shown(path)}{hint}")
    if path.is_dir():
        raise ArgumentError("data", f"{_shown(path)} is a directory; name one file")
    if path.suffix.lower() in _COMPRESSED:
        raise ArgumentError(
            "data", f"the file {_shown(path)} is compressed; decompress it first, to one of {', '.join(suffixes)}"
        )
    if path.suffix.lower() not in suffixes:
        raise ArgumentError("data", f"the file {_shown(path)} must end in one of {', '.join(suffixes)}")
    if path.is_file() and path.stat().st_size == 0:
        raise ArgumentError("data", f"the file {_shown(path)} is empty; name one that holds a table")


def _shown(path: Path) -> str:
    # A string that cannot be a name may be the text of a file, passed by mistake.
    text = str(path)
    return repr(text) if text.isprintable() and len(text) <= _LONGEST_NAME else "of that name"


def _damaged(kind: str, content: str) -> str:
    return f"is cut off, damaged or not a {kind} file of {content}; write or copy it again"
