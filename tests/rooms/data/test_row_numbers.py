"""Sums of row numbers: those of 0, 1, …, n-1 in closed form, whatever the order and the parts, and of nothing else."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from plandp.data import row_numbers
from plandp.data.row_numbers import BASE, are_row_numbers, number_sums


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


def test_powers_of_long_numbers_are_what_python_says() -> None:
    exponents = np.array([0, 1, 2**16, 2**33 + 5, 2**48 - 1, 2**53 - 1], np.uint64)
    assert row_numbers._powers(exponents).tolist() == [pow(BASE, int(each), 2**64) for each in exponents]


@pytest.mark.parametrize("extra", [np.nan, 1.5, -1.0, 3.0])
def test_what_is_no_number_of_a_row_is_not_passed_over(extra: float) -> None:
    assert are_row_numbers(number_sums(np.array([2.0, 0.0, 1.0]), 3), 3)
    assert not are_row_numbers(number_sums(np.array([2.0, 0.0, extra, 1.0]), 3), 3)
