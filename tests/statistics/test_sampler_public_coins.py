"""Public coins are exactly uniform. False alarm of each assertion: 1e-6 over seeds; seeds are fixed."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

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
