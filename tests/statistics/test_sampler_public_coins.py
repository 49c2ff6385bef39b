"""Public coins are exactly uniform. False alarm of each assertion: 1e-6 over seeds; seeds are fixed."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from plandp.noise.meter import open_door

UNLIKELY = 1e-6


@pytest.mark.parametrize("below", [2, 3, 100, 255, 257, 1000])
def test_every_integer_is_as_likely(below: int) -> None:
    # Power: a remainder instead of rejection would make some integers twice as likely as others.
    integers = open_door(reserved=Fraction(1), testing_seed=71).public_integers(below=below, count=200_000)
    assert chisquare(np.bincount(integers, minlength=below)).pvalue > UNLIKELY


@pytest.mark.parametrize("below", [3 << 40, 3 << 61])
def test_every_third_of_a_wide_range_is_as_likely(below: int) -> None:
    integers = open_door(reserved=Fraction(1), testing_seed=72).public_integers(below=below, count=200_000)
    assert chisquare(np.bincount(integers // (below // 3), minlength=3)).pvalue > UNLIKELY
    assert chisquare(np.bincount(integers % 16, minlength=16)).pvalue > UNLIKELY


def test_every_order_is_as_likely() -> None:
    # Power: swapping each place with any other, the usual mistake, makes some orders of 4 half as likely again.
    door = open_door(reserved=Fraction(1), testing_seed=73)
    orders = [door.public_permutation(4) for _ in range(6_000)]
    numbers = np.array(orders) @ np.array([64, 16, 4, 1])
    kinds, seen = np.unique(numbers, return_counts=True)
    assert len(kinds) == 24
    assert chisquare(seen).pvalue > UNLIKELY
    assert sorted(door.public_permutation(1000).tolist()) == list(range(1000))


def test_signs_are_fair_and_normals_are_normal() -> None:
    # Power: a normal of standard deviation 1.02 would give p = 1e-7 or less.
    door = open_door(reserved=Fraction(1), testing_seed=74)
    signs = door.public_signs(200_000)
    assert signs.dtype == np.int8
    assert chisquare([np.count_nonzero(signs == -1), np.count_nonzero(signs == 1)]).pvalue > UNLIKELY
    normals = door.public_normals(200_001)
    assert kstest(normals, "norm").pvalue > UNLIKELY
    assert abs(np.corrcoef(normals[:100_000], normals[100_001:])[0, 1]) < 4.9 / np.sqrt(100_000)
    # of the mean square, whose standard deviation is √(2/n)
    assert abs(np.mean(normals**2) - 1) < 4.9 * np.sqrt(2 / 200_001)


def test_public_coins_cost_nothing_and_follow_the_seed() -> None:
    doors = [open_door(reserved=Fraction(1), testing_seed=seed) for seed in (75, 75, 76)]
    coins = [(*door.public_permutation(9), *door.public_signs(9), *door.public_normals(9)) for door in doors]
    assert coins[0] == coins[1] != coins[2]
    assert all(door.spent == 0 for door in doors)
    door = doors[0]
    assert door.public_permutation(0).size == door.public_signs(0).size == door.public_normals(0).size == 0
