"""Sums of row numbers: those of 0, 1, …, n-1 in closed form, whatever the order and the parts, and of nothing else."""

from collections import Counter
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plandp.data import row_numbers
from plandp.data.row_numbers import SUMS, are_row_numbers, number_sums

FIRST_WEIGHTS = [3320312594057136947, 1112166080620429377, 6187178578569587254, 3622072322505657298]


@pytest.mark.parametrize("n", [1, 2, 3, 1_000, 2**16, 2**16 + 1, 200_000])
def test_row_numbers_are_known_in_any_order_and_in_parts(n: int) -> None:
    numbers = np.random.default_rng(n).permutation(n).astype(np.float64)
    parts = [number_sums(part, n) for part in np.array_split(numbers, 3)]
    assert are_row_numbers(parts[2] + parts[0] + parts[1], n)
    for wrong in (numbers + 1, numbers[1:], np.append(numbers, 0.0), numbers * 0 + np.nan):
        assert not are_row_numbers(number_sums(wrong, n), n)


def test_of_all_ways_to_number_seven_rows_one_is_right() -> None:
    """Among them are those of which the sums of numbers and squares are right: 0, 4, 5 for 1, 2, 6."""
    right = [
        numbers
        for numbers in combinations_with_replacement(range(7), 7)
        if are_row_numbers(number_sums(np.array(numbers, np.float64), 7), 7)
    ]
    assert right == [tuple(range(7))]


def test_one_or_two_that_stand_for_others_are_always_seen() -> None:
    n, rng = 5_000_000, np.random.default_rng(2)
    whole = number_sums(np.arange(n, dtype=np.float64), n)
    for _ in range(2_000):
        gone, there = rng.choice(n, 2, replace=False), rng.choice(n, 2)
        for count in (1, 2):
            out, put = (number_sums(each[:count].astype(np.float64), n) for each in (gone, there))
            assert are_row_numbers(whole - out + put, n) == (sorted(gone[:count]) == sorted(there[:count]))


def weight(number: int, n: int) -> int:
    """The product of the weights of the digits, in Python."""
    weights = [int(row_numbers._table(place)[number >> 16 * place & 0xFFFF]) for place in range(row_numbers._places(n))]
    return prod(weights)


@pytest.mark.parametrize("n", [9, 2**16 + 5, 2**33 + 6, 2**53])
def test_sums_are_what_python_says(n: int) -> None:
    numbers = [number for number in (0, 1, 7, 2**16, 2**16 + 4, 2**33 + 5, 2**48 - 1, 2**53 - 1) if number < n]
    found = number_sums(np.array([*numbers, n, 0.5], np.float64), n)
    expected = (2, sum(numbers), sum(i * i for i in numbers), sum(weight(i, n) for i in numbers))
    assert found.tolist() == [number % 2**64 for number in expected]


@pytest.mark.parametrize("n", [1, 7, 2**16 - 1, 2**16, 2**16 + 1, 200_000])
def test_every_sum_counts(n: int) -> None:
    sums = number_sums(np.arange(n, dtype=np.float64), n)
    assert are_row_numbers(sums, n)
    for place in range(SUMS):
        for more in (1, 2**63):
            beside = np.zeros(SUMS, np.uint64)
            beside[place] = more
            assert not are_row_numbers(sums + beside, n)


def test_what_is_expected_of_very_many_numbers_is_what_those_of_each_digit_add_up_to() -> None:
    """Below (a, b, c) in digits are numbers that begin with less than a, or with a and less than b, or with a and b."""
    low, middle, high = (row_numbers._table(place).astype(object) for place in range(3))
    a, b, c = 3, 41_000, 17
    begun = high[:a].sum() * middle.sum() * low.sum() + high[a] * middle[:b].sum() * low.sum()
    expected = begun + high[a] * middle[b] * low[:c].sum()
    assert row_numbers._weight_below(a * 2**32 + b * 2**16 + c) % 2**64 == expected % 2**64


def test_weights_are_the_same_everywhere_and_all_different() -> None:
    tables = [row_numbers._table(place) for place in range(4)]
    assert [int(table[0]) for table in tables] == FIRST_WEIGHTS
    assert len(np.unique(np.concatenate(tables))) == 4 * 2**16


@pytest.mark.parametrize("levels", range(3, 13))
def test_numbers_of_even_parity_twice_are_no_row_numbers(levels: int) -> None:
    """Thue and Morse: they have the right sums of numbers, squares and further powers, and of xⁱ if x is odd."""
    n = 2**levels
    even = np.array([i for i in range(n) if i.bit_count() % 2 == 0], np.float64)
    assert not are_row_numbers(number_sums(np.concatenate([even, even]), n), n)


@pytest.mark.parametrize("size", [*(2**power for power in range(19)), 1_000, 4_096 * 3, 100_000])
def test_blocks_in_place_of_blocks_are_no_row_numbers(size: int) -> None:
    """Blocks 1, 2, 4, 7 lost and 0, 3, 5, 6 read twice: again the right sums of numbers and squares."""
    n = 8 * size
    blocks = [np.arange(size * block, size * (block + 1), dtype=np.float64) for block in (0, 3, 5, 6)]
    once = sum((number_sums(block, n) for block in blocks), np.zeros(SUMS, np.uint64))
    assert not are_row_numbers(once + once, n)
    assert (once + once)[:3].tolist() == number_sums(np.arange(n, dtype=np.float64), n)[:3].tolist()


@settings(max_examples=200, deadline=None)
@given(
    shifts=st.lists(st.one_of(st.integers(1, 2**20), st.integers(0, 20).map(lambda k: 2**k)), min_size=3, max_size=5)
)
def test_no_pattern_of_shifts_is_missed(shifts: list[int]) -> None:
    """Any number of them makes a mistake that sums of squares, or of further powers, do not see."""
    counts = Counter({0: 1})
    for shift in shifts:
        moved = Counter({number + shift: -count for number, count in counts.items()})
        counts = Counter({number: counts[number] + moved[number] for number in counts.keys() | moved.keys()})
    n = 1 + sum(shifts)
    sums = np.zeros(SUMS, np.uint64)
    for number, count in counts.items():
        sums += number_sums(np.array([number], np.float64), n) * np.uint64(count % 2**64)
    assert not sums[:3].any()
    assert sums[3]


@pytest.mark.parametrize("extra", [np.nan, 1.5, -1.0, 3.0])
def test_what_is_no_number_of_a_row_is_not_passed_over(extra: float) -> None:
    assert are_row_numbers(number_sums(np.array([2.0, 0.0, 1.0]), 3), 3)
    assert not are_row_numbers(number_sums(np.array([2.0, 0.0, extra, 1.0]), 3), 3)
