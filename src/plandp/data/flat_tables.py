"""FlatBuffers, in which Arrow writes its headers: tables, numbers and vectors of structs, found by their slots.

Guarantee: what a damaged header points to is looked for within the header, and a place outside of it raises.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, repr=False)
class FlatTable:
    """One table of a buffer."""

    content: bytes
    begin: int

    @classmethod
    def root(cls, content: bytes) -> "FlatTable":
        """Return the table that a buffer begins with."""
        return cls(content=content, begin=_number(content, "I", 0))

    def number(self, slot: int, kind: str) -> int:
        """Return a whole number of a kind of `struct`; 0, Arrow's default, where it was left out."""
        place = self._place(slot)
        return 0 if place is None else _number(self.content, kind, place)

    def table(self, slot: int) -> "FlatTable | None":
        """Return another table, None where it was left out."""
        place = self._place(slot)
        if place is None:
            return None
        return FlatTable(content=self.content, begin=place + _number(self.content, "I", place))

    def vector(self, slot: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return a vector of numbers or structs; an empty one where it was left out."""
        place = self._place(slot)
        if place is None:
            return np.empty(0, dtype)
        place += _number(self.content, "I", place)
        count = _number(self.content, "I", place)
        return np.frombuffer(self.content, dtype, count, place + 4) if count else np.empty(0, dtype)

    def has(self, slot: int) -> bool:
        """Whether something was written there."""
        return self._place(slot) is not None

    def _place(self, slot: int) -> int | None:
        slots = self.begin - _number(self.content, "i", self.begin)
        entry = 4 + 2 * slot
        if entry >= _number(self.content, "H", slots):
            return None
        offset = _number(self.content, "H", slots + entry)
        return self.begin + offset if offset else None


def _number(content: bytes, kind: str, place: int) -> int:
    if place < 0:  # struct would count from the end
        raise ValueError("a header points to a place before its beginning")
    (value,) = struct.unpack_from("<" + kind, content, place)
    return int(value)
