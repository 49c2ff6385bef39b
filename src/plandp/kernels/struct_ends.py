"""Where structs of Thrift's compact protocol end, in which Parquet has its footers: the loop of `parquet_footer.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CUT_OFF = 0
UNKNOWN = -1

STRUCT = 12
DEEPEST = 32
"""Structs and lists within each other, at most."""

_BOOLS = 1, 2
_BYTE = 3
_INTEGERS = 4, 5, 6
_DOUBLE = 7
_BYTES = 8
_LISTS = 9, 10
_IN_STRUCT = -1


def read_varint(text: NDArray[np.uint8] | memoryview, at: Any) -> Any:
    """A number of seven bits a byte, and the place behind it; -1 if it is too long."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(text):
            return value, at
        value |= (text[at] & 127) << min(shift, 56)
        at += 1
        if text[at - 1] < 128:
            return value, at
    return -1, at


def find_ends(
    text: NDArray[np.uint8] | memoryview, ends: NDArray[np.int64], within: NDArray[np.int64] | list[int]
) -> None:
    """Write where each of some structs ends that lie one after the other.

    From the first on that the text does not hold whole, `CUT_OFF`; from the first on that is not understood, `UNKNOWN`.
    `within` is room for `DEEPEST` numbers: _IN_STRUCT, or of a list 16·(values to come) + their kind.  Python itself is
    four times as fast with bytes and a list as with arrays.
    """
    at = 0
    for number in range(len(ends)):
        depth = 0
        within[0] = _IN_STRUCT
        while depth >= 0:
            if at >= len(text):
                ends[number:] = CUT_OFF
                return
            kind: Any = STRUCT
            if within[depth] == _IN_STRUCT:
                header = text[at]
                at += 1
                if header == 0:
                    depth -= 1
                    continue
                kind = header & 15
                if header < 16:  # the field's number follows
                    _, at = read_varint(text, at)
                if kind in _BOOLS:
                    continue
            elif within[depth] < 16:
                depth -= 1
                continue
            else:
                within[depth] -= 16
                kind = within[depth] & 15
            if kind in _BOOLS or kind == _BYTE:
                at += 1
            elif kind in _INTEGERS:
                _, at = read_varint(text, at)
            elif kind == _DOUBLE:
                at += 8
            elif kind == _BYTES:
                length, at = read_varint(text, at)
                if length < 0:
                    ends[number:] = UNKNOWN
                    return
                at += length if length < len(text) else len(text)
            elif kind == STRUCT and depth + 1 < len(within):
                depth += 1
                within[depth] = _IN_STRUCT
            elif kind in _LISTS and depth + 1 < len(within) and at < len(text):
                header = text[at]
                at += 1
                count = header >> 4
                if count == 15:
                    count, at = read_varint(text, at)
                if count < 0 or count >= 1 << 32:
                    ends[number:] = UNKNOWN
                    return
                depth += 1
                within[depth] = 16 * count + (header & 15)
            elif kind in _LISTS and at >= len(text):
                ends[number:] = CUT_OFF
                return
            else:
                ends[number:] = UNKNOWN
                return
        ends[number] = at
