"""Whether public row numbers are 0, 1, …, n-1, each once: told exactly in memory, by sums where rows come in parts."""

from collections.abc import Iterable
from functools import cache
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from plandp.data.row_choice import not_numbered

NumberSums = NDArray[np.uint64]
"""How many are no numbers of rows, then the sums of i, of i² and of the public weight of i over the others, mod 2⁶⁴."""

SUMS = 4  # so many

_DIGIT = 16  # bits of a number that are looked up at a time
_WEIGHTS = "plandp row numbers, digit {place}"  # what the weights of digits are the hash of


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
    return np.array([wrong, own.sum(), (own * own).sum(), _weights(own, n).sum()], np.uint64)


def are_row_numbers(sums: NumberSums, n: int) -> bool:
    """Whether the sums of n numbers are those of 0, 1, …, n-1, each once.

    Guarantee: False where anything is missing, fractional or out of range, where one number stands for another and,
    up to n = 2³¹, where two do.  Other wrong numbers, whatever their pattern, pass with a chance below 2⁻⁵⁸ where n is
    below 2³², else 2⁻⁵¹, over the weights as if they were drawn: only who makes numbers to fit them does better.
    """
    # The chance, for k digits: some number is missing and counts -1, which is odd.  Adding up one digit after the other
    # with uniform weights leaves at most as many factors of 2 as a coin shows heads before tails, k times; the last sum
    # vanishes only if they are 64: (1 + 65)/2⁶⁵ for k = 2, less than 2⁻⁵¹ for k = 4.
    expected = (0, n * (n - 1) // 2, n * (n - 1) * (2 * n - 1) // 6, _weight_below(n))
    return [int(found) for found in sums] == [number % 2**64 for number in expected]


def _numbers_in(values: NDArray[np.float64], n: int) -> NDArray[np.uint64]:
    whole = (values >= 0) & (values < n) & (values == np.floor(values))  # NaN is none of it
    own: NDArray[np.uint64] = values[whole].astype(np.uint64)
    return own


def _weights(numbers: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """Return the product of the weights of all digits that numbers below n have, of each number."""
    weights: NDArray[np.uint64] = _table(0)[numbers & np.uint64(2**_DIGIT - 1)]
    for place in range(1, _places(n)):
        weights *= _table(place)[numbers >> np.uint64(place * _DIGIT) & np.uint64(2**_DIGIT - 1)]
    return weights


def _weight_below(n: int) -> int:
    """Return the sum of the weights of 0, 1, …, n-1: products of sums, since every digit has a weight of its own."""
    total, leading = 0, 1
    for place in reversed(range(_places(n))):
        table, digit = _table(place), n >> place * _DIGIT & 2**_DIGIT - 1
        # of all numbers with smaller leading digits, then of those that begin as n does
        total = total * int(table.sum()) + leading * int(table[:digit].sum())
        leading = leading * int(table[digit])
    return total


def _places(n: int) -> int:
    return -(-n.bit_length() // _DIGIT)  # of n itself, which is no number but the end of them


@cache
def _table(place: int) -> NDArray[np.uint64]:
    """Return the weights of all digits at this place: 64 bits of a public hash each, the same everywhere."""
    stream = shake_256(_WEIGHTS.format(place=place).encode()).digest(8 * 2**_DIGIT)
    return np.frombuffer(stream, "<u8").astype(np.uint64)
