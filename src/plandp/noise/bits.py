"""Raw random bits: from the operating system, or reproducible ones for tests."""

import os
from hashlib import shake_256
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Bits(Protocol):
    """A stream of independent fair bits."""

    def take(self, nbytes: int) -> bytes:
        """Return `nbytes` fresh bytes, never handed out before."""
        ...


class OsBits:
    """Bits from the operating system; it keeps no state, so forks and threads have nothing to share."""

    def take(self, nbytes: int) -> bytes:
        """Return `nbytes` fresh bytes from the operating system's cryptographic source."""
        return os.urandom(nbytes)


class SeededBits:
    """Reproducible bits for testing only: whoever knows the seed can subtract the noise."""

    def __init__(self, seed: int, *, purpose: str = "") -> None:
        # Python writes no integers of thousands of digits, but their hexadecimal ones
        self._seed = purpose + (str(seed) if seed.bit_length() < 1000 else hex(seed))
        # next() on count() is one step under the interpreter lock: two threads never get the same index.
        self._index = count()

    def take(self, nbytes: int) -> bytes:
        """Return the next `nbytes` bytes: SHAKE-256 of the seed and of how often `take` was called."""
        return shake_256(f"plandp testing bits {self._seed} {next(self._index)}".encode()).digest(nbytes)


def unsigned_words(bits: Bits, *, words: int, nbytes: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return `words` independent uniform unsigned integers of `nbytes` bytes (1, 2, 4 or 8) each."""
    # Little-endian on every machine, so that a seed gives the same noise everywhere.
    return np.frombuffer(bits.take(words * nbytes), dtype=f"<u{nbytes}")


def whole_bytes(nbits: int) -> int:
    """Return the smallest word of 1, 2, 4 or 8 bytes that holds `nbits` bits (at most 64)."""
    return next(nbytes for nbytes in (1, 2, 4, 8) if nbits <= 8 * nbytes)


def uniform_integer(bits: Bits, nbits: int) -> int:
    """Return an exact uniform integer in [0, 2^nbits)."""
    return int.from_bytes(bits.take(-(-nbits // 8)), "little") & ((1 << nbits) - 1)
