"""The head of a stored NumPy array: its type and shape, before any of its values is read."""

from typing import IO, Any, NamedTuple

import numpy as np

_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpyHeader(NamedTuple):
    """What is public of a stored array."""

    shape: tuple[int, ...]
    by_column: bool  # Fortran order
    dtype: np.dtype[Any]


def read_npy_header(stream: IO[bytes]) -> NpyHeader:
    """Return the head of the array that begins here; ValueError if none does, or one of objects."""
    read = _READERS.get(np.lib.format.read_magic(stream))
    if read is None:  # names of fields beyond Latin-1: records, and no numbers
        raise ValueError
    header = NpyHeader(*read(stream))
    if header.dtype.hasobject:  # would need pickle
        raise ValueError
    return header
