"""Files: the suffix says how they are read, and nothing in them but a header or schema can raise."""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import and_, or_
from pathlib import Path
from typing import TypeVar

from plandp.data.arrow_file import open_ipc
from plandp.data.batches import Batches, Piece
from plandp.data.csv_file import open_csv, open_tsv
from plandp.data.file_mark import FileMark
from plandp.data.npy_file import open_npy
from plandp.data.npz_matrix import Accept, NpzMatrix, read_npz_matrix
from plandp.data.parquet_file import open_parquet
from plandp.data.paths import FileNames, as_path, find_files, is_pattern, one_suffix, shown
from plandp.data.table import ReadThrough
from plandp.errors import ArgumentError, PlandpError
from plandp.terms.columns import Label
from plandp.terms.text_table import with_article

T = TypeVar("T")

Opener = Callable[[Path, Collection[Label] | None], Batches]

READERS: dict[str, tuple[str, Opener]] = {
    ".csv": ("CSV", open_csv),
    ".tsv": ("TSV", open_tsv),
    ".parquet": ("Parquet", open_parquet),
    ".pq": ("Parquet", open_parquet),
    ".arrow": ("Arrow IPC", open_ipc),
    ".arrows": ("Arrow IPC", open_ipc),
    ".ipc": ("Arrow IPC", open_ipc),
    ".feather": ("Feather", open_ipc),
    ".npy": ("NumPy", open_npy),
    ".npz": ("NumPy", open_npy),
}

NUMBERED = (".npy", ".npz")
"""Files whose columns are called 0, 1, 2, … and have no names."""

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def open_files(names: FileNames, columns: Collection[Label] | None) -> Batches:
    """Return the rows of all files that a path, pattern, directory or list stands for, one file after the other.

    Headers and schemas are read, and no values.  All files must be of one kind and have the same columns, and none can
    be there twice, since its rows would count twice.
    """
    paths = find_files(names)
    if not isinstance(names, str | os.PathLike):
        _refuse_texts([path for name, path in zip(names, paths, strict=True) if isinstance(name, str)], paths)
    hint = "; a string is taken for the path of a file" if isinstance(names, str) else ""
    for path in paths:
        if not os.path.exists(path):
            raise _no_file(path, hint=hint)
    suffix = one_suffix(paths)
    for path in paths:
        _check_path(path, READERS, hint=hint)
    kind, opener = READERS[suffix]
    if len(paths) == 1:
        return FileSeries(files=(_open(paths[0], kind, opener, columns),))
    first = _named(paths[0], partial(_open, paths[0], kind, opener, columns))
    others = (_named(path, partial(_alike, first, path, opener, columns)) for path in paths[1:])
    files = (first, *others)
    _refuse_repeated(files)
    return FileSeries(files=files)


def columns_are_numbers(names: FileNames) -> bool:
    """Whether the columns of files are called 0, 1, 2, …; no where they cannot be opened, which is said later."""
    try:
        paths = find_files(names)
        if one_suffix(paths) in NUMBERED:
            return True
        # By asking for the first: of lists without a width there are only the places that are named.
        return open_files(paths[:1], [0]).labels == (0,)
    except PlandpError:
        return False


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
    path = as_path(name)
    hint = "; a string is taken for the path of a file" if isinstance(name, str) else ""
    if is_pattern(path):
        raise ArgumentError("data", f"{shown(path)} is a pattern, and {content} are read from one file; name one")
    _check_path(path, readers, hint=hint)
    kind, read = readers[path.suffix.lower()]
    return _guarded(partial(read, path), path, kind, content)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WatchedFile:
    """A file that is refused as soon as it is seen to be damaged or to have changed; see `read_file` for how."""

    path: Path
    kind: str
    mark: FileMark
    content: Batches

    def counts(self) -> Iterator[tuple[int, int]]:
        """Count the rows."""
        return self._watched(self.content.counts)

    def pieces(self) -> Iterator[Piece]:
        """Go through the rows."""
        for table, size in self._watched(self.content.pieces):
            # some of it is read only when asked for
            yield ReadThrough(table=table, reader=self._read, watches=True), size
            del table  # a large one would live on while the next is read

    def watched(self, read: Callable[[], T]) -> T:
        """Return what `read` returns; what it raises becomes a refusal of the file."""
        try:
            return _guarded(read, self.path, self.kind, "numbers")
        except ArgumentError as error:
            refusal = error
        self._refuse_change()  # then that is what is wrong with it
        raise refusal

    def _read(self, read: Callable[[], T]) -> T:
        self._refuse_change()  # the sooner it is seen, the better
        return self.watched(read)

    def _watched(self, begin: Callable[[], Iterator[T]]) -> Iterator[T]:
        self._refuse_change()
        pieces = begin()
        while (piece := self.watched(partial(next, pieces, None))) is not None:
            yield piece
            del piece  # a large one would live on while the next is read
        self._refuse_change()

    def _refuse_change(self) -> None:
        if _guarded(partial(FileMark.of, self.path), self.path, self.kind, "numbers") != self.mark:
            raise ArgumentError(
                "data", f"the file {shown(self.path)} changed while it was read; name one that stays as it is"
            )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FileSeries:
    """Files one after the other, as one source."""

    files: tuple[WatchedFile, ...]

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.files[0].content.labels

    @property
    def n(self) -> int | None:
        """The number of rows, if every file tells its own."""
        found = [file.content.n for file in self.files]
        return None if None in found else sum(count or 0 for count in found)

    @property
    def size(self) -> int:
        """How much there is to read, in bytes."""
        return sum(file.content.size for file in self.files)

    def counts(self) -> Iterator[tuple[int, int]]:
        """Count the rows of all files."""
        for file in self.files:
            yield from file.counts()

    def pieces(self) -> Iterator[Piece]:
        """Go through all files."""
        for file in self.files:
            yield from file.pieces()
        _give_back()


def _give_back() -> None:
    """Have Arrow, where it was used, return what it keeps for later: a sample is held when a pass is over."""
    pool = getattr(sys.modules.get("pyarrow"), "default_memory_pool", None)  # another thread may be importing it
    if pool is not None:
        pool().release_unused()


def _open(path: Path, kind: str, opener: Opener, columns: Collection[Label] | None) -> WatchedFile:
    if not path.is_file():  # what was read of it once would be missing later
        raise ArgumentError(
            "data", f"{shown(path)} is a pipe or device, and files are read more than once; write it to a file first"
        )
    mark = _guarded(partial(FileMark.of, path), path, kind, "numbers")
    content = _guarded(partial(opener, path, columns), path, kind, "numbers")
    return WatchedFile(path=path, kind=kind, mark=mark, content=content)


def _named(path: Path, opened: Callable[[], WatchedFile]) -> WatchedFile:
    """Return one of many files; what is wrong with it is said with its name."""
    try:
        return opened()
    except ArgumentError as error:
        if error.argument != "data" or shown(path) in error.problem:
            raise
        problem = error.problem
    raise ArgumentError("data", f"in the file {shown(path)}, {problem}")


def _alike(first: WatchedFile, path: Path, opener: Opener, columns: Collection[Label] | None) -> WatchedFile:
    """Open one more file, which must have the columns of the first."""
    labels = first.content.labels
    others = f"the file {shown(path)} has other columns than {shown(first.path)}"
    try:
        file = _open(path, first.kind, opener, None if columns is None else labels)
    except ArgumentError as error:
        if error.argument != "columns":
            raise
        lacks, more = next((label for label in labels if _lacks(path, first.kind, opener, label)), None), None
    else:
        if file.content.labels == labels:
            return file
        lacks, more = (
            next((label for label in one if label not in other), None)
            for one, other in ((labels, set(file.content.labels)), (file.content.labels, set(labels)))
        )
        if lacks is None and more is None:
            raise ArgumentError(
                "data",
                f"the file {shown(path)} has the columns of {shown(first.path)} in another order; say which one "
                "counts: columns=[...]",
            )
    # A name that the first file has comes before one that it has not: where names are missing, that is of a row.
    problem = f": it lacks {lacks!r}" if lacks is not None else f": it has {more!r} too" if more is not None else ""
    raise ArgumentError("data", f"{others}{problem}; all must have the same")


def _lacks(path: Path, kind: str, opener: Opener, label: Label) -> bool:
    try:
        _open(path, kind, opener, [label])
    except ArgumentError as error:
        return error.argument == "columns"
    return False


def _refuse_repeated(files: Sequence[WatchedFile]) -> None:
    seen: dict[tuple[int, int], Path] = {}
    for file in files:
        earlier = seen.setdefault((file.mark.device, file.mark.number), file.path)
        if earlier is not file.path:
            raise ArgumentError(
                "data",
                f"the file {shown(file.path)} is {shown(earlier)} again, and its rows would count twice; name it once",
            )


def _guarded(read: Callable[[], T], path: Path, kind: str, content: str) -> T:
    """Return what `read` returns; what it raises becomes a refusal of the file."""
    # The refusal is raised below and not in the handlers: there it would drag the library's error along, whose text
    # can hold cells.
    try:
        return read()
    except PlandpError:
        raise
    except MemoryError:
        problem = "does not fit in memory, or is damaged"
    except OSError as error:  # pyarrow raises it too, for damaged files, without a number
        problem = f"cannot be read: {os.strerror(error.errno)}" if error.errno else _damaged(kind, content)
    except Exception:  # whatever a reader raises for a damaged file, its text could hold cells
        problem = _damaged(kind, content)
    raise ArgumentError("data", f"the file {shown(path)} {problem}")


def _refuse_texts(texts: Sequence[Path], paths: tuple[Path, ...]) -> None:
    """Refuse a list of texts that may be cells, not paths, without repeating any of them or their endings.

    They are paths where one of them is a file that can be read, and every other is there or ends as if it could be.
    What was passed as a path is one.
    """
    if not texts:
        return
    there = [os.path.exists(path) for path in paths]
    read = [path.suffix.lower() in (*READERS, *_COMPRESSED) for path in paths]
    if not any(map(and_, there, read)) or not all(map(or_, there, read)):
        raise ArgumentError(
            "data",
            f"a list of texts is taken for paths of files, which must be there and end in {', '.join(READERS)}; a "
            "pattern is not expanded inside a list, pass it alone",
        )


def _no_file(path: Path, *, hint: str) -> ArgumentError:
    if is_pattern(path):  # one that stands alone was expanded before
        hint = "; a pattern is not expanded inside a list, pass it alone"
    return ArgumentError("data", f"there is no file {shown(path)}{hint}")


def _check_path(path: Path, suffixes: Collection[str], *, hint: str) -> None:
    if not os.path.exists(path):  # never raises, whatever the string is
        raise _no_file(path, hint=hint)
    if path.is_dir():
        raise ArgumentError("data", f"{shown(path)} is a directory; name one file")
    if path.suffix.lower() in _COMPRESSED:
        raise ArgumentError(
            "data", f"the file {shown(path)} is compressed; decompress it first, to one of {', '.join(suffixes)}"
        )
    if path.suffix.lower() not in suffixes:
        raise ArgumentError("data", f"the file {shown(path)} must end in one of {', '.join(suffixes)}")
    if path.is_file() and path.stat().st_size == 0:
        raise ArgumentError("data", f"the file {shown(path)} is empty; name one that holds a table")


def _damaged(kind: str, content: str) -> str:
    return f"is cut off, damaged or not {with_article(kind)} file of {content}; write or copy it again"
