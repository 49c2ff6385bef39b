"""The exponential mechanism, drawn exactly: P(interval i, offset o) ∝ exp(-rate · penalty_i) for all o < width_i.

A uniform real U is compared with the shares of the intervals: estimated in float64 with a proved error, and where that
does not decide, in integers, with more bits of U and more digits of exp on demand.  Proof:
docs/proofs/exponential_choice.md.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import isqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.choice_weights import SUMMED_AT_A_TIME, find_interval
from plandp.kernels.compiler import compiled
from plandp.noise.bits import Bits, uniform_integer
from plandp.noise.exponential import exp_bounds

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_RATE_BITS = 64
_HIGHEST_EXPONENT = 96  # beyond it even 2^63 candidates weigh less than 2^-75 of one without a penalty
_EXPONENT_CEILING = _HIGHEST_EXPONENT - 2.0**-20
_STEPS_PER_UNIT = 64
_MOST_TABULATED = 1 << 18
_INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Candidates:
    """What one choice is made from: intervals of `widths` grid points that share a penalty.  Holds data."""

    penalties: IntArray
    widths: IntArray

    def __post_init__(self) -> None:
        for name in ("penalties", "widths"):
            values = getattr(self, name)
            if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.ndim != 1:
                raise TypeError(f"{name} must be one dimension of int64")
        if len(self.penalties) != len(self.widths):
            raise TypeError("penalties and widths must have the same length")
        if self.penalties.min(initial=0) < 0 or self.widths.min(initial=0) < 0 or self.widths.max(initial=0) == 0:
            raise TypeError("penalties and widths must be 0 or more, and one of the widths above 0")


class Choices(Protocol):
    """Candidates of several choices: a list, or what makes them one after the other while they are drawn from."""

    def __len__(self) -> int:
        """How many choices there are: public."""
        ...

    def __iter__(self) -> Iterator[Candidates]:
        """Their candidates, in order."""
        ...


def largest_rate(*, rho: Fraction, sensitivity: int, choices: int) -> Fraction:
    """The rate c, rounded down, with which all choices are together rho-zCDP: choices·(c·sensitivity)² ≤ 2 rho."""
    square = 2 * rho / (choices * sensitivity**2)
    short = _RATE_BITS - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    shift = max(0, short)
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def draw_choice(candidates: Candidates, rate: Fraction, bits: Bits) -> int:
    """Return the number of one grid point, drawn exactly by the exponential mechanism of this rate.

    Not the interval: how many intervals lie below a point is a fact about the data that nobody paid for.
    """
    prefix = uniform_integer(bits, 64)
    interval = estimated_interval(candidates, rate, prefix)
    if interval is None:
        interval = exact_interval(candidates, rate, prefix, bits)
    before = candidates.widths[:interval]
    high, low = int((before >> 32).sum()), int((before & 0xFFFFFFFF).sum())  # each far from int64's end
    return (high << 32) + low + _uniform_below(int(candidates.widths[interval]), bits)


def exact_interval(candidates: Candidates, rate: Fraction, prefix: int, bits: Bits) -> int:
    """The interval in which U falls, U in [prefix, prefix + 1) / 2^64, in integers; the verdict is exact."""
    there = np.flatnonzero(candidates.widths)
    penalties, widths = candidates.penalties[there].tolist(), candidates.widths[there].tolist()
    least = min(penalties)
    prefix_bits, precision = 64, 192
    while True:
        bounds = {
            penalty: exp_bounds(rate.numerator * (penalty - least), rate.denominator, precision)
            for penalty in set(penalties)
        }
        lower, upper = (
            [0, *accumulate(width * bounds[penalty][end] for penalty, width in zip(penalties, widths, strict=True))]
            for end in (0, 1)
        )
        # The last interval that surely begins at or below U is the one, if it surely ends above U.
        place = bisect_right(upper, prefix * lower[-1] >> prefix_bits, hi=len(widths)) - 1
        if place == len(widths) - 1 or (prefix + 1) * upper[-1] <= lower[place + 1] << prefix_bits:
            return int(there[place])
        prefix = prefix << 64 | uniform_integer(bits, 64)
        prefix_bits, precision = prefix_bits + 64, precision + 64


def estimated_interval(candidates: Candidates, rate: Fraction, prefix: int) -> int | None:
    """The interval in which U falls, or None where the error of float64 could hide another."""
    share, margin = (prefix >> 11) * 2.0**-53, error_margin(len(candidates.widths))
    loop, table = compiled(find_interval), weights_by_penalty(rate)
    if loop is None or table is None:
        return _estimated_interval(estimated_weights(candidates, rate), share, margin)
    found = np.array([-1])
    loop(candidates.penalties, candidates.widths, table, share, margin, found)
    return None if found[0] < 0 else int(found[0])


def _estimated_interval(weights: FloatArray, share: float, margin: float) -> int | None:
    """What the compiled loop does, in NumPy."""
    parts = -(-len(weights) // SUMMED_AT_A_TIME)
    padded = np.zeros(parts * SUMMED_AT_A_TIME)
    padded[: len(weights)] = weights
    by_part = np.add.accumulate(padded.reshape(parts, SUMMED_AT_A_TIME), axis=1)  # from the left, as the loop
    up_to_part = np.cumsum(by_part[:, -1])
    total = float(up_to_part[-1])
    target = share * total
    part = int(np.searchsorted(up_to_part, target, side="right"))
    if part == parts:
        return None
    before = float(up_to_part[part - 1]) if part else 0.0
    up_to = np.concatenate([[before], before + by_part[part]])
    place = int(np.searchsorted(up_to, target, side="right")) - 1
    if not 0 <= place < SUMMED_AT_A_TIME or up_to[place + 1] - target <= margin * total:
        return None
    first = part == place == 0  # nothing lies before the first interval
    if not first and target - up_to[place] <= margin * total:
        return None
    return part * SUMMED_AT_A_TIME + place


def error_margin(intervals: int) -> float:
    """More than four times what estimated shares of so many intervals can be off."""
    return 2.0**-40 + (SUMMED_AT_A_TIME + intervals / SUMMED_AT_A_TIME) * 2.0**-49


def estimated_weights(candidates: Candidates, rate: Fraction) -> FloatArray:
    """width · exp(-rate · (penalty - least)) in float64, each off by less than 2^-43 of itself or by less than 2^-75.

    Only + - * and table look-ups, which IEEE 754 defines to the last bit; no function of a maths library.
    """
    penalties, widths = candidates.penalties, candidates.widths
    least = np.where(widths > 0, penalties, _INT64_MAX).min()
    above, table = np.maximum(penalties - least, 0), weights_by_penalty(rate)
    weights = _weights(above, rate) if table is None else table[np.minimum(above, len(table) - 1)]
    return np.asarray(weights * widths)


@lru_cache(maxsize=4)
def weights_by_penalty(rate: Fraction) -> FloatArray | None:
    """Tabulate the weights of a grid point by penalty, those after the last being as that one; None if there are many.

    Choices that are made together share it.
    """
    penalties = -(-_HIGHEST_EXPONENT * rate.denominator // rate.numerator) + 1
    if penalties > _MOST_TABULATED:
        return None
    weights = _weights(np.arange(penalties), rate)
    weights.setflags(write=False)
    return weights


def _weights(penalties: IntArray, rate: Fraction) -> FloatArray:
    exponent = penalties.astype(np.float64)
    exponent *= float(min(rate, Fraction(1 << 64)))
    np.minimum(exponent, _EXPONENT_CEILING, out=exponent)
    step = (exponent * _STEPS_PER_UNIT).astype(np.int32)
    exponent -= step * (1.0 / _STEPS_PER_UNIT)  # exact, and now in [0, 1/64)
    weight = exponent * (-1 / 120)
    for coefficient in (1 / 24, -1 / 6, 0.5, -1.0):
        weight += coefficient
        weight *= exponent
    weight += 1.0
    weight *= exp_table()[step]
    return np.asarray(weight)


@lru_cache(maxsize=1)
def exp_table() -> FloatArray:
    """Tabulate exp(-j/64), rounded from integers with 256 bits behind the point."""
    one = 1 << 256
    factor = exp_bounds(1, _STEPS_PER_UNIT, 256)[0]
    power, table = one, []
    for _ in range(_HIGHEST_EXPONENT * _STEPS_PER_UNIT):
        table.append(power / one)
        power = power * factor >> 256
    tabulated = np.array(table)
    tabulated.setflags(write=False)
    return tabulated


def _uniform_below(below: int, bits: Bits) -> int:
    nbits = (below - 1).bit_length()
    while (drawn := uniform_integer(bits, nbits)) >= below:
        pass
    return drawn
