"""Where the batches of an Arrow IPC file or stream lie, as their headers say: no value is read.

pyarrow reads a batch or none of it. With the places of its buffers, which are part of the published format, a large one
is read piece by piece.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plandp.data.flat_tables import FlatTable

MAGIC = b"ARROW1"
"""The first and last bytes of the file format; the streaming format starts with a message."""

_SCHEMA, _BATCH = 1, 3  # of Message.header_type
_V4, _V5 = 3, 4
_CODECS = {0: "lz4", 1: "zstd"}
_CONTINUED = b"\xff\xff\xff\xff"  # before the length of a header, since version 0.15

_NODE = np.dtype([("length", "<i8"), ("nulls", "<i8")])
_BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
_COUNT = np.dtype("<i8")
_BLOCK = np.dtype([("offset", "<i8"), ("header", "<i4"), ("", "<i4"), ("body", "<i8")])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoredBatch:
    """A batch in a file: how many rows, and where its buffers are."""

    n: int
    nodes: NDArray[np.void]  # length and nulls of each column, and of what it is made of
    buffers: NDArray[np.void]  # offset and length, from `body` on
    further: NDArray[np.int64]  # how many more buffers each column of views has
    codec: str | None  # None for buffers that are stored as they are
    usual: bool  # whether all in the header is known here
    begin: int
    body: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes it takes in the file."""
        return self.end - self.begin


def is_file(path: Path) -> bool:
    """Whether this is the file format, not the streaming format."""
    with path.open("rb") as start:
        return start.read(len(MAGIC)) == MAGIC


def stored_batches(path: Path) -> Iterator[StoredBatch]:
    """Return the batches in their order; a file that is cut off raises."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        yield from (_in_file if is_file(path) else _in_stream)(file, size)


def _in_stream(file: FileIO, size: int) -> Iterator[StoredBatch]:
    place, native = 0, False
    while place < size:
        message, body = _message(file, place, size)
        if message is None:
            return
        header, end = _header(message), body + message.number(3, "q")
        if not body <= end <= size:
            raise EOFError("a stream is cut off")
        kind = message.number(1, "B")
        if kind == _SCHEMA:
            native = _is_native(header)
        elif kind == _BATCH:
            yield _batch(message, native=native, begin=place, body=body, end=end)
        place = end


def _in_file(file: FileIO, size: int) -> Iterator[StoredBatch]:
    last = _read(file, max(0, size - 10), 10)
    length = int.from_bytes(last[:4], "little", signed=True)
    if last[4:] != MAGIC or not 0 < length <= size - 10:
        raise EOFError("a file is cut off")
    footer = FlatTable.root(_read(file, size - 10 - length, length))
    schema = footer.table(1)
    native = schema is not None and _is_native(schema)
    for block in footer.vector(3, _BLOCK):
        begin, body = int(block["offset"]), int(block["offset"]) + int(block["header"])
        end = body + int(block["body"])
        if not 0 <= begin <= body <= end <= size:
            raise EOFError("a file has no such batch")
        message, _ = _message(file, begin, body)
        if message is None or message.number(1, "B") != _BATCH:
            raise ValueError("a file has something else in the place of a batch")
        yield _batch(message, native=native, begin=begin, body=body, end=end)


def _message(file: FileIO, begin: int, limit: int) -> tuple[FlatTable | None, int]:
    """Return a message's header, None for the end of a stream, and where its body begins."""
    prefix, place = _read(file, begin, 4), begin + 4
    if prefix == _CONTINUED:
        prefix, place = _read(file, place, 4), place + 4
    length = int.from_bytes(prefix, "little", signed=True)
    if not 0 <= length <= limit - place:
        raise EOFError("a message is cut off")
    return (FlatTable.root(_read(file, place, length)) if length else None), place + length


def _batch(message: FlatTable, *, native: bool, begin: int, body: int, end: int) -> StoredBatch:
    header = _header(message)
    packing = header.table(3)
    codec = None if packing is None else _CODECS.get(packing.number(0, "b"))
    known = packing is None or (codec is not None and packing.number(1, "b") == 0)
    # Words of the writer's own beside a header told of compression once.
    usual = native and known and message.number(0, "h") in (_V4, _V5) and not message.has(4)
    n, buffers = header.number(0, "q"), header.vector(2, _BUFFER)
    nodes, further = header.vector(1, _NODE), header.vector(4, _COUNT)
    if n < 0 or (further < 0).any() or (buffers["offset"] < 0).any() or (buffers["length"] < 0).any():
        raise ValueError("a header has a number below 0")
    if (buffers["offset"] > end - body - buffers["length"]).any():
        raise EOFError("a buffer reaches beyond its batch")
    return StoredBatch(
        n=n, nodes=nodes, buffers=buffers, further=further, codec=codec, usual=usual, begin=begin, body=body, end=end
    )


def _header(message: FlatTable) -> FlatTable:
    header = message.table(2)
    if header is None:
        raise ValueError("a message has no header")
    return header


def _is_native(schema: FlatTable) -> bool:
    """Whether numbers are stored as this machine has them in memory."""
    return schema.number(0, "h") == (sys.byteorder == "big")


def _read(file: FileIO, begin: int, size: int) -> bytes:
    file.seek(begin)
    content = file.read(size)
    if content is None or len(content) != size:
        raise EOFError("a file is cut off")
    return content
