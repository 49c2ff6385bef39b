"""Memory that parts of a file are read to, one after the other."""

import weakref

import numpy as np
from numpy.typing import NDArray

LINE = 64
"""Bytes of a line of the cache."""

Bytes = NDArray[np.uint8]


class ReadRoom:
    """Lends the same memory again and again, as soon as nobody holds what was lent last.

    New memory comes from the system page by page, which takes as long as to read what goes there.
    """

    def __init__(self) -> None:
        self._room: Bytes = np.empty(0, np.uint8)
        self._lent: weakref.ref[Bytes] | None = None

    def lend(self, size: int) -> Bytes:
        """Return so many bytes, which begin with a line of the cache; a view of them must have them as its owner."""
        held = self._lent is not None and self._lent() is not None
        if held or len(self._room) < size + LINE:
            self._room = np.empty(size + LINE, np.uint8)
        begin = -self._room.ctypes.data % LINE
        part = self._room[begin : begin + size]
        self._lent = weakref.ref(part)
        return part
