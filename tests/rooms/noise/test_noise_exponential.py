from fractions import Fraction

import pytest

from plandp.noise.bits import SeededBits, uniform_integer
from plandp.noise.exponential import _enclosure, exp_bounds


def exponential(power: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose exp(-power) in rationals: partial sums of exp(power) from below and above, inverted."""
    total = term = Fraction(1)
    n = 0
    # From n >= 2 · power on, the terms at least halve, so what is left is below the last term.
    while n < 2 * power or term > Fraction(1, 1 << 300):
        n += 1
        term = term * power / n
        total += term
    return 1 / (total + term), 1 / total


def rationals(how_many: int) -> list[tuple[int, int]]:
    bits = SeededBits(11)
    pairs = []
    for i in range(how_many):
        b = 1 + uniform_integer(bits, 1 + i % 20)
        pairs.append((uniform_integer(bits, 2 + i % 24) % (45 * b), b))
    return pairs


@pytest.mark.parametrize("precision", [1, 20, 64, 128])
def test_bounds_enclose_the_exponential_closely(precision: int) -> None:
    for a, b in rationals(150):
        lower, upper = exp_bounds(a, b, precision)
        below, above = exponential(Fraction(a, b))
        # The enclosure is narrower than 2^-250, so comparing with its far side is a proof.
        assert Fraction(lower, 1 << precision) <= above
        assert Fraction(upper, 1 << precision) >= below
        assert 0 <= lower <= upper <= lower + 2


@pytest.mark.parametrize("working", [12, 40])
def test_enclosure_holds_to_its_last_bit_without_guard_bits(working: int) -> None:
    # Guard bits would hide a wrong rounding inside; here every step has to round outward by itself.
    for a, b in rationals(400):
        if a == 0:
            continue
        for halvings in ((a // b).bit_length() + 4, (a // b).bit_length() + 8):
            lower, upper = _enclosure(a, b, halvings=halvings, working=working)
            below, above = exponential(Fraction(a, b))
            assert Fraction(lower, 1 << working) <= above
            assert Fraction(upper, 1 << working) >= below


def test_bounds_do_not_round_inward() -> None:
    # With 300 bits on the other side, a bound rounded to the wrong side shows up in about half of the cases.
    for a, b in rationals(150):
        if a == 0:
            continue
        lower, upper = exp_bounds(a, b, 10)
        finer_lower, finer_upper = exp_bounds(a, b, 300)
        assert lower << 290 <= finer_lower
        assert upper << 290 >= finer_upper


def test_zero_is_exact_and_far_away_is_nearly_nothing() -> None:
    assert exp_bounds(0, 5, 64) == (1 << 64, 1 << 64)
    assert exp_bounds(10**30, 1, 64) == (0, 1)
    assert exp_bounds(65, 1, 64) == (0, 1)


def test_huge_and_tiny_ratios() -> None:
    lower, upper = exp_bounds(1, 1 << 500, 64)
    assert (1 << 64) - 2 <= lower <= upper <= (1 << 64) + 1
    lower, upper = exp_bounds((1 << 500) + 1, 1 << 500, 64)
    assert lower / 2**64 == pytest.approx(0.36787944117144233, rel=1e-15)
    assert upper - lower <= 2
