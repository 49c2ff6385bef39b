"""Reads of a file that copy nothing: what was read is a map of the file, and what nobody looks at is never fetched."""

import mmap
import os
from io import FileIO

LARGE = 2**16
"""Shorter reads are copied, which is faster."""


class MappedReads:
    """A file for pyarrow, which keeps what it reads; each map lives as long as the values that were read from it.

    Who reads values must have seen that the file is as it was: where it was cut off since, the system ends the process.
    """

    mode = "rb"

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._last: mmap.mmap | None = None

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    def close(self) -> None:
        """Close the file; maps stay."""
        self._file.close()

    def tell(self) -> int:
        """Return where the next read begins."""
        return self._file.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go elsewhere."""
        return self._file.seek(offset, whence)

    def read(self, size: int) -> bytes | memoryview:
        """Return the next `size` bytes, or as many as there are."""
        start = self.tell()
        end = min(start + size, os.fstat(self._file.fileno()).st_size)
        if end - start < LARGE:
            return self._file.read(size)
        begin = start - start % mmap.ALLOCATIONGRANULARITY
        mapped = mmap.mmap(self._file.fileno(), end - begin, offset=begin, access=mmap.ACCESS_READ)
        self._last = mapped
        self.seek(end)
        return memoryview(mapped)[start - begin :]

    def give_back(self) -> None:
        """Let the system have the pages of the last map that were looked at; who looks again fetches them again."""
        if self._last is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._last.madvise(mmap.MADV_DONTNEED)
