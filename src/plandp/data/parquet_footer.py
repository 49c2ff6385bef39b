"""Long footers of Parquet files, of which only some row groups are unpacked at a time.

pyarrow holds some 1.2 kB for every column of every row group, ten times what the file has of it: gigabytes for a file
of many columns in short row groups.  Here the footer is cut between row groups, whose places are found by a loop, and
pyarrow is handed one stretch of them after the other.  Whatever is not understood is left to pyarrow whole.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.struct_ends import DEEPEST, STRUCT, UNKNOWN, find_ends

MAGIC = b"PAR1"
LONG = 2**22
"""A footer of so many bytes is cut, into parts of about as many: pyarrow makes 40 MB of each."""

LONG_IN_PYTHON = 2**24
"""As long without a compiler: to find row groups takes a seventh of a second for each megabyte then."""

TOGETHER = 2**16
"""So many row groups are looked for at a time."""

SHORTEST = 8
"""Bytes that any row group takes."""

LONGEST_NUMBER = 10
"""Bytes of a number of 64 bits, seven bits a byte."""

_VERSION, _SCHEMA, _ROWS, _GROUPS = 0x15, 0x19, 0x16, 0x19
"""How the first four fields of every footer begin: a number, a list, a number, a list."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LongFooter:
    """Where in a file its footer lies and what in it describes the row groups; nothing of the footer is kept."""

    begin: int
    groups: int  # where their list begins
    ends: NDArray[np.int64]  # where the first of them begins, and where each of them ends
    end: int

    def without_groups(self, path: Path) -> Any:
        """What pyarrow calls the metadata of the file, as if it had no row groups."""
        with path.open("rb") as file:
            return self._metadata(file, 0, 0)

    def parts(self, path: Path) -> Iterator[Any]:
        """The metadata of some row groups after the other, as pyarrow makes it of files that have no others."""
        first = 0
        with path.open("rb") as file:
            while first < len(self.ends) - 1:
                last = max(first + 1, int(np.searchsorted(self.ends, self.ends[first] + LONG, "right")) - 1)
                yield self._metadata(file, first, last)
                first = last

    def _metadata(self, file: BinaryIO, first: int, last: int) -> Any:
        from pyarrow import BufferReader, parquet  # type: ignore[import-untyped]  # pyarrow ships no types

        before, after = _read(file, self.begin, self.groups), _read(file, int(self.ends[-1]), self.end)
        groups = _read(file, int(self.ends[first]), int(self.ends[last]))
        footer = b"".join([before, _list_of_structs(last - first), groups, after])
        return parquet.read_metadata(BufferReader(MAGIC + footer + len(footer).to_bytes(4, "little") + MAGIC))


def long_footer(path: Path) -> LongFooter | None:
    """Return the footer of a Parquet file, None where it is short, or not understood."""
    # Compiled whatever the footer is: its length follows from values, and logs and caches tell what was compiled.
    _write_ends(b"\0", np.zeros(0, np.int64))
    long = LONG_IN_PYTHON if compiled(find_ends) is None else LONG
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END) - len(MAGIC) - 4
        if end < long:
            return None
        file.seek(end)
        length = int.from_bytes(file.read(4), "little")
        if file.read() != MAGIC or not long <= length <= end:
            return None
        try:
            return _cut(file, end - length, end)
        except (IndexError, ValueError):  # damaged, as pyarrow will say
            return None


def _cut(file: BinaryIO, begin: int, end: int) -> LongFooter | None:
    start = _read(file, begin, begin + LONG)
    place = _groups_in(start)
    if place is None:
        return None
    count, first = _list_at(start, place)
    ends = _ends_of_groups(file, begin + first, end, count)
    return None if ends is None else LongFooter(begin=begin, groups=begin + place, ends=ends, end=end)


def _groups_in(start: bytes) -> int | None:
    """Where the list of row groups begins; None for a footer that does not begin as all do."""
    if start[0] != _VERSION:
        return None
    place = _behind_varint(start, 1)
    if start[place] != _SCHEMA:
        return None
    if start[place + 1] & 15 != STRUCT:
        return None
    count, place = _list_at(start, place + 1)
    if not 0 < count <= len(start):  # each takes a byte at least
        return None
    ends = np.zeros(count, np.int64)
    _write_ends(memoryview(start)[place:], ends)
    if ends[-1] <= 0 or place + int(ends[-1]) + 32 > len(start):
        return None
    place += int(ends[-1])
    if start[place] != _ROWS:
        return None
    place = _behind_varint(start, place + 1)
    return place + 1 if start[place] == _GROUPS and start[place + 1] & 15 == STRUCT else None


def _ends_of_groups(file: BinaryIO, begin: int, end: int, count: int) -> NDArray[np.int64] | None:
    """Where the first row group begins, and where each of them ends; a few megabytes are looked at at a time."""
    found, done, window = [begin], begin, LONG
    while len(found) <= count:
        text = _read(file, done, min(done + window, end))
        ends = np.zeros(min(count + 1 - len(found), TOGETHER), np.int64)
        _write_ends(text, ends)
        whole = ends[ends > 0]
        if (ends == UNKNOWN).any() or (len(whole) == 0 and len(text) < window):
            return None
        if len(whole) and whole[-1] < SHORTEST * len(whole):
            return None
        window = LONG if len(whole) else 2 * window
        found += (done + whole).tolist()
        done = found[-1]
    return np.array(found)


def _write_ends(text: bytes | memoryview, ends: NDArray[np.int64]) -> None:
    loop = compiled(find_ends)
    if loop is None:
        find_ends(memoryview(text), ends, [0] * DEEPEST)
    else:
        loop(np.frombuffer(text, np.uint8), ends, np.empty(DEEPEST, np.int64))


def _read(file: BinaryIO, begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


def _list_at(text: bytes, place: int) -> tuple[int, int]:
    """How many values a list has, and where the first one begins."""
    count = text[place] >> 4
    if count < 15:
        return count, place + 1
    behind = _behind_varint(text, place + 1)
    return sum((byte & 127) << (7 * power) for power, byte in enumerate(text[place + 1 : behind])), behind


def _list_of_structs(count: int) -> bytes:
    if count < 15:
        return bytes([count << 4 | STRUCT])
    digits = []
    while count:
        digits.append(count & 127 | (128 if count > 127 else 0))
        count >>= 7
    return bytes([15 << 4 | STRUCT, *digits])


def _behind_varint(text: bytes, place: int) -> int:
    for behind in range(place + 1, place + 1 + LONGEST_NUMBER):
        if text[behind - 1] < 128:
            return behind
    raise ValueError("a number is longer than numbers are")
