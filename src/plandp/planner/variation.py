"""Public numbers varied one at a time: the smallest that would work, and those around the ones asked about."""

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Context
from fractions import Fraction

from plandp.terms.budget import LARGEST_RHO, SMALLEST_RHO

MOST_ROWS = 10**15
PER_DECADE, DECADES = 6, 2  # of the curves, on either side
_THREE_DIGITS = Context(prec=3, rounding=ROUND_CEILING)


def smallest_rows(feasible: Callable[[int], bool]) -> int | None:
    """The smallest n that is feasible: more rows never find less."""
    low, high = 0, 1
    while not feasible(high):
        low, high = high, 2 * high
        if high > MOST_ROWS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return high


def smallest_rho(feasible: Callable[[Fraction], bool]) -> float | None:
    """The smallest ρ that is feasible, rounded up to three digits: more ρ never finds less."""
    low, high = math.log(SMALLEST_RHO), math.log(LARGEST_RHO)
    if feasible(Fraction(SMALLEST_RHO)):
        return float(SMALLEST_RHO)
    if not feasible(Fraction(LARGEST_RHO)):
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (low, middle) if feasible(Fraction(math.exp(middle))) else (middle, high)
    return float(_THREE_DIGITS.create_decimal(math.exp(high)))


def rho_around(rho: Fraction) -> Iterator[Fraction]:
    """Budgets up to two decades below and above."""
    for step in range(-DECADES * PER_DECADE, DECADES * PER_DECADE + 1):
        other = rho * Fraction(10.0 ** (step / PER_DECADE))
        if Fraction(SMALLEST_RHO) <= other <= Fraction(LARGEST_RHO):
            yield other


def rows_around(n: int) -> list[int]:
    """Numbers of rows up to two decades below and above."""
    steps = range(-DECADES * PER_DECADE, DECADES * PER_DECADE + 1)
    return sorted({min(max(1, round(n * 10.0 ** (step / PER_DECADE))), MOST_ROWS) for step in steps})
