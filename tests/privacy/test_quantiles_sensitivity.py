"""What quantile mechanisms ask of neighbouring tables moves by what they state, and not less; planted mistakes show."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from planted import changed, in_numpy, with_loop

from plandp.audit.choices import squared_distance
from plandp.kernels import rank_distances
from plandp.mechanisms import quantiles
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.ranked import HeldKeys
from plandp.noise.watched import WatchedDoor

CELLS = 16
SHARES = (0.0, 0.3, 0.5, 0.9, 1.0)
ROWS = [np.full(3, value) for value in (0.0, 1.0, np.nan, 0.5, 0.53, np.inf, -np.inf)] + [np.array([0.0, 1.0, np.nan])]


def lattice() -> Lattice:
    """Three columns from 0 to 1."""
    return Lattice(low=np.zeros(3), high=np.ones(3), step=np.full(3, 1 / CELLS), cells=np.full(3, float(CELLS)))


def ranked(row: Any, copies: int) -> HeldKeys:
    """The row in question and some others, each of them `copies` times."""
    others = np.random.default_rng(95).uniform(0.0, 1.0, (6, 3))
    return HeldKeys.of_values(np.repeat(np.vstack([row, others]), copies, axis=0), lattice(), copies=copies)


def furthest_count(module: Any = quantiles, *, copies: int = 1) -> Fraction:
    """The largest squared distance of any two neighbours' counts over the stated one, given the same answers."""
    most = Fraction(0)
    for share in SHARES:
        books: list[Any] = []
        for row in ROWS:
            answers = [one.answer for one in books[0]] if books else None
            script = (lambda number, query, noisy, answers=answers: answers[number]) if answers else None
            door = WatchedDoor(reserved=Fraction(2), seed=96, script=script)
            module.BinarySearch()(ranked(row, copies), share, door, rho=Fraction(2), step="quantile")
            assert door.spent == 2
            books.append(door.asked)
        for one, other in combinations(books, 2):
            for a, b in zip(one, other, strict=True):
                squares = sum(int(x - y) ** 2 for x, y in zip(a.query, b.query, strict=True))
                most = max(most, Fraction(squares, a.squared_sensitivity))
    return most


@pytest.mark.parametrize("copies", [1, 3])
def test_counts_of_the_search_move_by_exactly_what_is_stated(copies: int) -> None:
    assert furthest_count(copies=copies) == 1


STATED = "squared_sensitivity = 4 * len(lattice.cells) * ranked.copies**2"


@pytest.mark.parametrize(
    ("replacement", "copies"),
    [
        pytest.param("squared_sensitivity = len(lattice.cells) * ranked.copies**2", 1, id="rank sensitivity ½"),
        pytest.param("squared_sensitivity = 4 * len(lattice.cells) * ranked.copies", 3, id="g instead of g²"),
        pytest.param("squared_sensitivity = 4 * ranked.copies**2", 1, id="d forgotten"),
        pytest.param(f"{STATED} * 95 // 100", 1, id="5% too small"),
    ],
)
def test_a_smaller_sensitivity_of_the_search_is_rejected(replacement: str, copies: int) -> None:
    assert furthest_count(changed(quantiles, (STATED, replacement)), copies=copies) > 1


def test_rounds_that_cost_more_than_they_pay_are_rejected() -> None:
    ranks = ranked(ROWS[0], 1)
    door = WatchedDoor(reserved=Fraction(2), seed=96)
    changed(quantiles, ("rho=rho / rounds", "rho=rho / rounds / 2")).BinarySearch()(
        ranks, 0.5, door, rho=Fraction(2), step="quantile"
    )
    assert door.spent != 2


def furthest_penalty(module: Any = quantiles, *, copies: int = 1) -> Fraction:
    """The same for the penalties of choices: how far any cell's moves between any two neighbours, squared, over D."""
    most = Fraction(0)
    for share in SHARES:
        books: list[Any] = []
        for row in ROWS:
            door = WatchedDoor(reserved=Fraction(2), seed=97)
            module.ExponentialMechanism()(ranked(row, copies), share, door, rho=Fraction(2), step="quantile")
            (asked,), ((choices, rate),) = door.asked, door.chosen
            assert (door.spent, choices) == (2, 3)
            assert rate**2 * asked.squared_sensitivity <= 4
            books.append(asked)
        for one, other in combinations(books, 2):
            most = max(most, Fraction(squared_distance(one, other), one.squared_sensitivity))
    return most


@pytest.mark.parametrize("copies", [1, 3])
def test_penalties_of_the_choice_move_by_exactly_what_is_stated(copies: int) -> None:
    assert furthest_penalty(copies=copies) == 1


@pytest.mark.parametrize(
    ("line", "replacement", "copies"),
    [
        pytest.param("sensitivity=2 * ranked.copies", "sensitivity=ranked.copies", 1, id="rank sensitivity ½"),
        pytest.param("sensitivity=2 * ranked.copies", "sensitivity=2", 3, id="copies forgotten"),
        pytest.param("sensitivity=2 * ranked.copies", "sensitivity=3", 3, id="√3 instead of 3 for 3 copies"),
    ],
)
def test_penalties_that_move_further_are_rejected(line: str, replacement: str, copies: int) -> None:
    assert furthest_penalty(changed(quantiles, (line, replacement)), copies=copies) > 1


def test_the_sum_of_two_distances_is_rejected_in_numpy_and_in_the_loop() -> None:
    line = "np.maximum(np.maximum(below - wanted, wanted - upto), 0)"
    assert furthest_penalty(in_numpy(quantiles, (line, "np.abs(below + upto - 2 * wanted)"))) > 1
    line = "max(2 * i + missing - wanted, wanted - 2 * min(up_to, there) - missing, 0)"
    both = "abs(2 * i + 2 * min(up_to, there) + 2 * missing - 2 * wanted)"
    loop = changed(rank_distances, (line, both)).write_distances
    assert furthest_penalty(with_loop(changed(quantiles), loop)) > 1
    assert furthest_penalty(with_loop(changed(quantiles), rank_distances.write_distances)) == 1
