"""The bytes of one buffer of an Arrow batch from the first on, unpacked as far as they are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 256
"""So many bytes of what was read last can be read again: eight of the widest numbers, decimals of 32 bytes, whose bits
share a byte of another buffer."""

SKIPPED = 2**20
"""So many bytes that nobody asked for are unpacked at a time."""

Bytes = NDArray[np.uint8]


class BufferBytes:
    """A stretch of a file, stored as it is or compressed; it can be read from its beginning to its end once."""

    def __init__(self, file: Any, *, begin: int, length: int, codec: str | None) -> None:
        import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

        self._unpacked: int | None = None
        if codec is not None and length:
            if length < 8:
                raise EOFError("a buffer is too short for its length")
            unpacked = int.from_bytes(file.read_at(8, begin), "little", signed=True)
            begin, length = begin + 8, length - 8
            self._unpacked = None if unpacked == -1 else unpacked  # what does not get smaller is stored as it is
        stream = file.get_stream(begin, length)
        self._stream = stream if self._unpacked is None else pyarrow.CompressedInputStream(stream, codec)
        self._place = 0
        self._kept: Bytes = np.empty(0, np.uint8)

    def take(self, begin: int, end: int) -> Bytes:
        """Return the bytes from `begin`, which is at most `KEPT` before where the last ones ended, to `end`."""
        self._skip_to(begin)
        again = self._kept[len(self._kept) - (self._place - begin) :] if begin < self._place else self._kept[:0]
        if begin + len(again) != self._place:
            raise ValueError("bytes of a buffer are read in their order")
        if end <= self._place:
            return again[: end - begin]
        content = np.empty(end - begin, np.uint8)
        content[: len(again)] = again
        if self._stream.readinto(content[len(again) :]) != end - self._place:
            raise EOFError("a buffer is shorter than its column")
        self._place, self._kept = end, content[-KEPT:].copy()
        return content

    def finish(self) -> None:
        """Read what is left of a compressed buffer: where it is not as long as it says, it is damaged."""
        if self._unpacked is None:
            return
        self._skip_to(self._unpacked)
        if self._place > self._unpacked or self._stream.read(1):
            raise EOFError("a buffer has not the length that it says")

    def _skip_to(self, place: int) -> None:
        while self._place < place:
            read = len(self._stream.read(min(place - self._place, SKIPPED)))
            if not read:
                raise EOFError("a buffer is shorter than its column")
            self._place, self._kept = self._place + read, self._kept[:0]
