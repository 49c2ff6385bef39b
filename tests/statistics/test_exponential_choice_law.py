"""Choices drawn from real bits have the law of the exponential mechanism: false alarm of each assertion 1e-6.

The exact law, and mistakes in it, are in tests/privacy/test_exponential_choice.py; here it is that bits are used right.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from plandp.noise import exponential_choice
from plandp.noise.exponential_choice import Candidates
from plandp.noise.meter import open_door

UNLIKELY = 1e-6


def drawn(penalties: list[int], widths: list[int], rho: Fraction, count: int) -> np.ndarray:
    candidates = Candidates(penalties=np.array(penalties, np.int64), widths=np.array(widths, np.int64))
    door = open_door(reserved=rho, testing_seed=111)
    return np.array(door.choose([candidates] * count, sensitivity=2, rho=rho, step="choice"))


@pytest.mark.parametrize("way", ["filter", "verdict"])
def test_every_grid_point_has_its_probability(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: a rate 3% too large moves the mean penalty by 4% of its standard deviation: 4 standard errors more."""
    count = 10_000 if way == "filter" else 3_000
    if way == "verdict":
        monkeypatch.setattr(exponential_choice, "estimated_interval", lambda *arguments: None)
    penalties, widths = [8, 4, 1, 0, 2, 6, 30], [1, 5, 2, 3, 0, 7, 1]
    points = drawn(penalties, widths, Fraction(2 * count, 10), count)  # c = √(.4)/2
    weights = np.exp(-np.sqrt(0.4) / 2 * np.repeat(penalties, widths))
    seen = np.bincount(points, minlength=len(weights))
    assert chisquare(seen, weights / weights.sum() * count).pvalue > UNLIKELY


def test_offsets_in_a_wide_interval_are_uniform() -> None:
    """Power: a remainder instead of rejection would make the first third of 3·2^60 points twice as likely."""
    points = drawn([0, 5], [3 << 60, 1], Fraction(1000), 4_000)
    assert chisquare(np.bincount((points // (1 << 60)).astype(np.int64), minlength=3)).pvalue > UNLIKELY
    assert chisquare(np.bincount((points % 16).astype(np.int64), minlength=16)).pvalue > UNLIKELY


def test_choices_of_one_round_are_independent() -> None:
    points = drawn([0, 0], [1, 1], Fraction(1), 8_000)
    pairs = np.bincount(2 * points[0::2] + points[1::2], minlength=4)
    assert chisquare(pairs).pvalue > UNLIKELY
