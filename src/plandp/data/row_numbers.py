"""Whether public row numbers are 0, 1, …, n-1, each once: told exactly in memory, by sums where rows come in parts."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from plandp.data.row_choice import not_numbered

NumberSums = NDArray[np.uint64]
"""How many are no numbers of rows, then the sums of i, of i² and of BASEⁱ over the others, modulo 2⁶⁴."""

SUMS = 4  # so many

BASE = 0x9E3779B97F4A7C15
"""An odd number whose powers look like chance modulo 2⁶⁴; what they add up to has a closed form, which hashes lack."""

_DIGIT = 16  # bits of an exponent that are looked up at a time


def refuse_misnumbered(columns: Iterable[NDArray[np.float64]], n: int) -> None:
    """Refuse numbers, which come piece by piece, unless each of 0, 1, …, n-1 is there exactly once."""
    seen, count = np.zeros(n, np.bool_), 0
    for values in columns:
        own = _numbers_in(values, n)
        seen[own.astype(np.int64)] = True
        count += len(values)
    if count != n or not seen.all():  # n values that are n numbers are no number twice
        raise not_numbered()


def number_sums(values: NDArray[np.float64], n: int) -> NumberSums:
    """Return the sums by which numbers are checked: they can be added up in any order."""
    own = _numbers_in(values, n)
    wrong = np.uint64(len(values) - len(own))
    return np.array([wrong, own.sum(), (own * own).sum(), _powers(own).sum()], np.uint64)


def are_row_numbers(sums: NumberSums, n: int) -> bool:
    """Whether the sums are those of 0, 1, …, n-1, each once.

    Guarantee: False where anything is missing, fractional or out of range, where one number stands for another and,
    up to n = 2³¹, where two do; of more that are wrong, one way in about 2⁶⁴ is not seen.
    """
    powers = (pow(BASE, n, (BASE - 1) << 64) - 1) // (BASE - 1)
    expected = (0, n * (n - 1) // 2, n * (n - 1) * (2 * n - 1) // 6, powers)
    return [int(found) for found in sums] == [number % 2**64 for number in expected]


def _numbers_in(values: NDArray[np.float64], n: int) -> NDArray[np.uint64]:
    whole = (values >= 0) & (values < n) & (values == np.floor(values))  # NaN is none of it
    own: NDArray[np.uint64] = values[whole].astype(np.uint64)
    return own


def _powers(exponents: NDArray[np.uint64]) -> NDArray[np.uint64]:
    powers: NDArray[np.uint64] = _table(0)[exponents & np.uint64(2**_DIGIT - 1)]
    for place in range(1, 4):
        rest = exponents >> np.uint64(place * _DIGIT)
        if not rest.any():
            break
        powers *= _table(place)[rest & np.uint64(2**_DIGIT - 1)]
    return powers


@cache
def _table(place: int) -> NDArray[np.uint64]:
    """Return BASE to the power of digit · 2^(16 · place), for every digit."""
    factors = np.full(2**_DIGIT, pow(BASE, 2 ** (place * _DIGIT), 2**64), np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)
