"""The filter never disagrees with the exact verdict, its error is as stated, and the door books and refuses."""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plandp.errors import BudgetExceeded
from plandp.kernels.compiler import compiled
from plandp.noise import exponential_choice
from plandp.noise.bits import SeededBits
from plandp.noise.exponential_choice import (
    Candidates,
    draw_choice,
    error_margin,
    estimated_interval,
    estimated_weights,
    exact_interval,
    largest_rate,
)
from plandp.noise.meter import open_door
from plandp.terms.payment import EXPONENTIAL, Payment

RATES = [Fraction(1, 10**9), Fraction(1, 400), Fraction(1, 7), Fraction(3), Fraction(100), Fraction(1 << 80)]
ONE = Fraction(1)


def random_candidates(rng: np.random.Generator, intervals: int) -> Candidates:
    """Widths to 2^62, many of them 0, and penalties to 2^40."""
    widths = (1 << rng.integers(0, 62, intervals)) * rng.integers(0, 2, intervals)
    widths[rng.integers(intervals)] = 1 << 62
    penalties = rng.integers(0, 1 << int(rng.integers(1, 41)), intervals)
    return Candidates(penalties=penalties, widths=widths)


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_the_filter_agrees_with_the_exact_verdict(rate: Fraction) -> None:
    rng = np.random.default_rng(121)
    undecided = 0
    for intervals in (1, 2, 3, 17, 255, 256, 257, 600):
        for _ in range(6):
            candidates = random_candidates(rng, intervals)
            prefix = int(rng.integers(0, 1 << 63)) << 1
            found = estimated_interval(candidates, rate, prefix)
            undecided += found is None
            assert found is None or found == exact_interval(candidates, rate, prefix, SeededBits(1))
    assert undecided <= 1  # each with probability below 2 · 600 · 2^-39


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_close_to_an_end_the_filter_does_not_answer(rate: Fraction) -> None:
    rng = np.random.default_rng(122)
    for _ in range(10):
        candidates = random_candidates(rng, 20)
        low, high = 0, 1 << 64  # the first number beyond the first interval, by the exact verdict
        first = exact_interval(candidates, rate, 0, SeededBits(1))
        while low < high:
            middle = (low + high) // 2
            inside = exact_interval(candidates, rate, middle, SeededBits(1)) == first
            low, high = (middle + 1, high) if inside else (low, middle)
        for distance in (0, 1, 2**11, int(error_margin(20) * 2**64 * 0.7)):
            for prefix in (low - distance, low + distance):
                if 0 < prefix < 1 << 64 and low < 1 << 64:
                    assert estimated_interval(candidates, rate, prefix) is None


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_estimated_weights_are_as_near_as_the_proof_says(rate: Fraction) -> None:
    rng = np.random.default_rng(123)
    penalties = np.concatenate([rng.integers(0, 1 << 40, 60), np.arange(40), [0]])
    candidates = Candidates(penalties=penalties, widths=rng.integers(1, 1 << 62, len(penalties)))
    with localcontext() as context:
        context.prec = 60
        for penalty, width, weight in zip(
            penalties.tolist(), candidates.widths.tolist(), estimated_weights(candidates, rate).tolist(), strict=True
        ):
            exponent = Decimal(rate.numerator) * penalty / Decimal(rate.denominator)
            true = width * (-exponent).exp() if exponent < 10**6 else Decimal(0)
            assert abs(Decimal(weight) - true) < max(true * Decimal(2) ** -43, Decimal(2) ** -75)


def test_the_rate_is_rounded_down_and_hardly() -> None:
    for rho in (ONE, Fraction(1, 3), Fraction(7, 10**30), Fraction(10**40, 7), Fraction(1, 2)):
        for sensitivity, choices in ((1, 1), (2, 3), (10**6, 32_768)):
            rate = largest_rate(rho=rho, sensitivity=sensitivity, choices=choices)
            wanted = 2 * rho / (choices * sensitivity**2)
            assert rate**2 <= wanted < (rate * (1 + Fraction(1, 2**61))) ** 2


def test_a_point_is_counted_through_all_intervals() -> None:
    wide = Candidates(penalties=np.array([500, 9, 0]), widths=np.array([1 << 62, (1 << 62) + 5, 3]))
    points = {draw_choice(wide, Fraction(100), SeededBits(seed)) for seed in range(60)}
    assert points == {(1 << 63) + 5 + offset for offset in range(3)}


def test_a_choice_is_paid_for_and_says_so() -> None:
    one = Candidates(penalties=np.array([0, 1]), widths=np.array([1, 1]))
    door = open_door(reserved=ONE, testing_seed=3)
    assert set(door.choose([one] * 3, sensitivity=2, rho=Fraction(1, 3), step="median")) <= {0, 1}
    assert door.payments == (
        Payment(step="median", rho=Fraction(1, 3), squared_sensitivity=12, values=3, mechanism=EXPONENTIAL),
    )
    with pytest.raises(BudgetExceeded):
        door.choose([one], sensitivity=1, rho=ONE, step="median")
    assert door.spent == Fraction(1, 3)


def test_the_same_seed_chooses_the_same() -> None:
    rng = np.random.default_rng(124)
    many = [random_candidates(rng, 30) for _ in range(20)]
    chosen = [
        open_door(reserved=ONE, testing_seed=seed).choose(many, sensitivity=1, rho=ONE, step="x") for seed in (4, 4, 5)
    ]
    assert chosen[0] == chosen[1] != chosen[2]
    assert open_door(reserved=ONE).choose(many, sensitivity=1, rho=ONE, step="x")


@pytest.mark.parametrize(
    ("penalties", "widths"),
    [
        ([-1, 0], [1, 1]),
        ([0, 0], [1, -1]),
        ([0, 0], [0, 0]),
        ([], []),
        ([0], [1, 1]),
        ([[0]], [[1]]),
        ([0.5], [1]),
    ],
)
def test_what_are_no_candidates_is_refused(penalties: Any, widths: Any) -> None:
    with pytest.raises(TypeError):
        Candidates(penalties=np.array(penalties), widths=np.array(widths))


@pytest.mark.parametrize(
    "arguments",
    [
        {"sensitivity": 0},
        {"sensitivity": 1.0},
        {"sensitivity": True},
        {"rho": 0.5},
        {"rho": Fraction(0)},
        {"step": 1},
        {"candidates": []},
    ],
)
def test_what_is_no_price_is_refused_before_anything_is_paid(arguments: dict[str, Any]) -> None:
    one = Candidates(penalties=np.array([0, 1]), widths=np.array([1, 1]))
    door = open_door(reserved=ONE, testing_seed=3)
    given = {"candidates": [one], "sensitivity": 1, "rho": ONE, "step": "x"} | arguments
    with pytest.raises(TypeError):
        door.choose(given.pop("candidates"), **given)
    assert door.spent == 0


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 3000), Fraction(1, 7), Fraction(100)])
def test_the_filter_answers_alike_compiled_as_plain_python_and_in_numpy(
    rate: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    rng = np.random.default_rng(11)
    cases = [(random_candidates(rng, intervals), int(rng.integers(1 << 63)) << 1) for intervals in (1, 5, 256, 700)]
    cases += [(candidates, prefix) for candidates, _ in cases for prefix in (0, (1 << 64) - 1)]
    answers = []
    for way in (compiled, lambda loop: loop, lambda loop: None):
        monkeypatch.setattr(exponential_choice, "compiled", way)
        answers.append([estimated_interval(candidates, rate, prefix) for candidates, prefix in cases])
    assert answers[0] == answers[1] == answers[2]
    assert any(found is not None for found in answers[0])


def test_tabulated_weights_are_those_that_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    for rate in (Fraction(1, 2500), Fraction(2, 7), Fraction(97), Fraction(1 << 70)):
        candidates = Candidates(
            penalties=np.concatenate([np.arange(300), rng.integers(0, 1 << 40, 300), [96 * 2500 - 1, 96 * 2500 + 1]]),
            widths=rng.integers(0, 1 << 62, 602),
        )
        exponential_choice.weights_by_penalty.cache_clear()
        tabulated = estimated_weights(candidates, rate)
        assert exponential_choice.weights_by_penalty(rate) is not None
        exponential_choice.weights_by_penalty.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(exponential_choice, "_MOST_TABULATED", 0)
            assert estimated_weights(candidates, rate).tobytes() == tabulated.tobytes()
        exponential_choice.weights_by_penalty.cache_clear()
