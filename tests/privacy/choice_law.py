"""The exact law of `choose`, found by trying the bits it takes, and the law it claims, in decimal arithmetic."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from silent_sampler import SilentSampler

from plandp.noise import meter
from plandp.noise.exponential_choice import Candidates


class ScriptedBits:
    """First a 64-bit number, then nothing but zeros."""

    def __init__(self, first: int) -> None:
        self._first: int | None = first

    def take(self, nbytes: int) -> bytes:
        first, self._first = self._first, None
        return bytes(nbytes) if first is None else first.to_bytes(nbytes, "little")


class First:
    """The first of so many choices; the others would not change it."""

    def __init__(self, candidates: Candidates, choices: int) -> None:
        self._candidates, self._choices = candidates, choices

    def __len__(self) -> int:
        return self._choices

    def __iter__(self) -> Iterator[Candidates]:
        yield self._candidates


def candidates_of(penalties: Sequence[int], widths: Sequence[int] | None = None) -> Candidates:
    """These penalties, of one grid point each or of so many."""
    many = np.ones(len(penalties), np.int64) if widths is None else np.array(widths, np.int64)
    return Candidates(penalties=np.array(penalties, np.int64), widths=many)


def law_of_door(
    candidates: Candidates, *, rho: Fraction, sensitivity: int, choices: int = 1, module: Any = meter
) -> list[Fraction]:
    """The probability of every interval in the first of so many choices, to 2^-63: by bisection over what is drawn."""
    ends = list(accumulate(candidates.widths.tolist()))

    def interval(first: int) -> int:
        door = module.MeteredNoise(reserved=rho, sampler=SilentSampler(), coins=ScriptedBits(first))
        point, *_ = door.choose(First(candidates, choices), sensitivity=sensitivity, rho=rho, step="choice")
        return bisect_right(ends, point)

    begins = [0]
    for place in range(1, len(ends)):
        low, high = begins[-1], 1 << 64  # the first number that leads to this interval or a later one
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if interval(middle) >= place else (middle + 1, high)
        begins.append(low)
    return [Fraction(b - a, 1 << 64) for a, b in zip(begins, [*begins[1:], 1 << 64], strict=True)]


def claimed_law(candidates: Candidates, *, rho: Fraction, sensitivity: int, choices: int = 1) -> list[Fraction]:
    """What it should be: width · exp(-c · penalty), c = √(2ρ/choices)/sensitivity, to 60 digits by another library."""
    with localcontext() as context:
        context.prec = 80
        square = 2 * rho / choices
        rate = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt() / sensitivity
        weights = [
            width * (-rate * penalty).exp()
            for penalty, width in zip(candidates.penalties.tolist(), candidates.widths.tolist(), strict=True)
        ]
        return [Fraction(weight / sum(weights)) for weight in weights]
