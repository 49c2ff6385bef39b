"""`choose` has exactly the law it claims, and that law costs what is paid; planted mistakes show.  No false alarms."""

import math
from fractions import Fraction
from typing import Any

import pytest
from choice_law import candidates_of, claimed_law, law_of_door
from planted import changed

from plandp.noise import exponential_choice, meter

ONE, SMALL = Fraction(1), Fraction(1, 1000)
GRIDS = {
    "by rank": candidates_of([3, 2, 1, 0, 1, 2, 3, 4]),
    "wide": candidates_of([5, 0, 7, 0, 2], [1000, 1, 10**6, 0, 4]),
    "huge": candidates_of([40, 0, 90, 2**40], [2**62, 1, 2**62, 2**62]),
    "one": candidates_of([9], [7]),
    "all alike": candidates_of([12, 12, 12], [1, 2, 3]),
}
SETTINGS = [(ONE, 1, 1), (SMALL, 2, 1), (Fraction(7, 3), 4, 5), (Fraction(1, 10**12), 2, 1024), (Fraction(10**4), 1, 1)]


def furthest(name: str, module: Any = meter, settings: Any = SETTINGS) -> Fraction:
    """How far any probability is from the claim, over all settings."""
    return max(
        abs(found - claimed)
        for rho, sensitivity, choices in settings
        for found, claimed in zip(
            law_of_door(GRIDS[name], rho=rho, sensitivity=sensitivity, choices=choices, module=module),
            claimed_law(GRIDS[name], rho=rho, sensitivity=sensitivity, choices=choices),
            strict=True,
        )
    )


def divergence(p: list[Fraction], q: list[Fraction], alpha: float) -> float:
    """D_alpha(p ‖ q), in floats of more digits than are needed."""
    total = math.fsum(float(a) * (float(a) / float(b)) ** (alpha - 1) for a, b in zip(p, q, strict=True))
    return math.log(total) / (alpha - 1)


WORST = candidates_of([0, 3]), candidates_of([3, 0])  # every penalty moves by 3, one up and one down


def lost(rho: Fraction, module: Any = meter, *, sensitivity: int = 3) -> float:
    """The largest D_alpha/alpha between the two worst neighbours, over what was paid."""
    p, q = (law_of_door(each, rho=rho, sensitivity=sensitivity, module=module) for each in WORST)
    return max(divergence(p, q, alpha) / alpha for alpha in (1.01, 1.5, 2.0, 8.0, 64.0)) / float(rho)


@pytest.mark.parametrize("name", GRIDS)
def test_the_law_is_the_claimed_one_to_the_last_bit_that_can_be_seen(name: str) -> None:
    # Ends of intervals are found to 2^-64; rates are rounded down by a share below 2^-62, of exponents up to 2^6.
    assert furthest(name) < Fraction(1, 2**54)


@pytest.mark.parametrize("rho", [SMALL, Fraction(1, 4), ONE, Fraction(6)])
def test_the_worst_neighbours_cost_at_most_what_was_paid(rho: Fraction) -> None:
    assert lost(rho) <= 1


def test_and_nothing_is_wasted_where_rho_is_small() -> None:
    assert lost(SMALL) > 0.999


def with_choice(*replacements: tuple[str, str]) -> Any:
    """The door with mistakes in the code of the choice."""
    mistaken, door = changed(exponential_choice, *replacements), changed(meter)
    vars(door).update(draw_choice=mistaken.draw_choice, largest_rate=mistaken.largest_rate)
    return door


RATE = "square = 2 * rho / (choices * sensitivity**2)"
MISTAKES = {
    "rate 3% too large": with_choice((RATE, f"{RATE} * Fraction(10609, 10000)")),
    "half of the sensitivity": with_choice((RATE, "square = 8 * rho / (choices * sensitivity**2)")),
    "the median's sensitivity where rows are added": changed(
        meter, ("largest_rate(rho=rho, sensitivity=sensitivity,", "largest_rate(rho=4 * rho, sensitivity=sensitivity,")
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_rate_that_is_too_large_is_rejected(name: str) -> None:
    assert lost(SMALL, MISTAKES[name]) > 1.05
    assert furthest("by rank", MISTAKES[name], [(ONE, 1, 1)]) > Fraction(1, 1000)


IN_NUMPY = ("compiled(find_interval)", "None")


@pytest.mark.parametrize(
    ("replacements", "grid"),
    [
        pytest.param((IN_NUMPY, ("weights * widths", "weights * (widths > 0)")), "wide", id="widths forgotten"),
        pytest.param(
            (("candidates.widths, table", "np.minimum(candidates.widths, 1), table"),), "wide", id="widths kept back"
        ),
        pytest.param((("(choices * sensitivity**2)", "sensitivity**2"),), "by rank", id="number of choices forgotten"),
        pytest.param(
            (IN_NUMPY, ("penalties - least", "least - penalties")), "by rank", id="penalties the wrong way round"
        ),
        pytest.param(
            (("loop(candidates.penalties", "loop(candidates.penalties[::-1].copy()"),),
            "by rank",
            id="penalties of others",
        ),
        pytest.param(
            (("(prefix >> 11) * 2.0**-53", "(prefix >> 12) * 2.0**-52 * 0.999"),), "by rank", id="U below .999"
        ),
    ],
)
def test_another_law_is_rejected(replacements: tuple[tuple[str, str], ...], grid: str) -> None:
    assert furthest(grid, with_choice(*replacements), [(ONE, 4, 5)]) > Fraction(1, 2000)


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("lower[-1] >> prefix_bits", "upper[-1] + 1 >> prefix_bits - 1"),
        ("width * bounds[penalty][end]", "bounds[penalty][end]"),
        ("rate.numerator * (penalty - least)", "rate.numerator * penalty * 103 // 100"),
    ],
)
def test_mistakes_in_the_exact_verdict_are_rejected(line: str, replacement: str) -> None:
    never = ("interval = estimated_interval(candidates, rate, prefix)", "interval = None")
    assert furthest("wide", with_choice(never), [(ONE, 4, 5)]) < Fraction(1, 2**54)
    assert furthest("wide", with_choice(never, (line, replacement)), [(ONE, 4, 5)]) > Fraction(1, 10**5)


def test_more_candidates_than_were_paid_for_are_not_drawn_from() -> None:
    class Understated(list[Any]):
        def __len__(self) -> int:
            return 1

    door = meter.open_door(reserved=ONE, testing_seed=1)
    with pytest.raises(TypeError, match="paid for"):
        door.choose(Understated([GRIDS["one"]] * 2), sensitivity=1, rho=ONE, step="choice")
