"""Choices of the exponential mechanism on neighbouring tables: how far penalties move, and what that tells."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from plandp.noise.exponential_choice import Candidates
from plandp.noise.watched import Asked

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDED = Fraction(1, 1 << 60)
"""By what share the square of a rate may be below what is paid for: it is rounded down to 64 bits."""


def content(asked: Asked) -> object:
    """All that a query asks: what is equal need not be compared twice."""
    if asked.candidates:
        return tuple((each.penalties.tobytes(), each.widths.tobytes()) for each in asked.candidates)
    return tuple(map(int, asked.query.ravel().tolist()))


def comparable(one: Asked, other: Asked) -> bool:
    """Whether two queries are of one shape, or choices of the same grids; if not, that alone is a finding."""
    if len(one.candidates) != len(other.candidates) or one.query.size != other.query.size:
        return False
    return not one.candidates or bool(np.all(one.query == other.query))


def squared_distance(one: Asked, other: Asked) -> int:
    """How far two neighbours' queries are apart: squared ℓ2, or of choices the sum of squares of what penalties move.

    None of a choice's penalties may move by more than Δ, and D = choices · Δ², so both are compared with D.
    """
    if one.candidates:
        moved = (side_by_side(*pair)[:2] for pair in zip(one.candidates, other.candidates, strict=True))
        return sum(int(np.abs(first - second).max()) ** 2 for first, second in moved)
    values = zip(one.query.ravel().tolist(), other.query.ravel().tolist(), strict=True)
    return sum((int(a) - int(b)) ** 2 for a, b in values)


def side_by_side(one: Candidates, other: Candidates) -> tuple[IntArray, IntArray, IntArray]:
    """Both tables' penalties on the pieces on which neither changes, and the widths of the pieces."""
    ends = [np.cumsum(each.widths) for each in (one, other)]
    pieces = np.union1d(*ends)
    pieces = pieces[pieces > 0]
    # the first interval that ends there or later is the one that the piece lies in; empty ones end with it
    penalties = [each.penalties[np.searchsorted(end, pieces)] for each, end in zip((one, other), ends, strict=True)]
    return penalties[0], penalties[1], np.diff(pieces, prepend=0)


def rate_problem(rate: Fraction, *, squared_sensitivity: int, rho: Fraction) -> str:
    """What is wrong with the rate of choices that were paid for: "" if nothing is."""
    share = rate**2 * squared_sensitivity / (2 * rho)
    return "" if 1 - ROUNDED <= share <= 1 else f"chose at {float(share) ** 0.5:.4f} times the rate that is due"


def choice_divergence(one: Sequence[Candidates], other: Sequence[Candidates], rate: Fraction, alpha: float) -> float:
    """D_α between the points that are chosen on two tables, all choices together."""
    total = 0.0
    for first, second in zip(one, other, strict=True):
        *penalties, widths = side_by_side(first, second)
        log_width = np.log(widths.astype(np.float64))
        p, q = (_log_law(each, log_width, rate) for each in penalties)
        total += float(logsumexp(log_width + alpha * p + (1.0 - alpha) * q)) / (alpha - 1.0)
    return total


def _log_law(penalties: IntArray, log_width: FloatArray, rate: Fraction) -> FloatArray:
    """The logarithm of the probability of one grid point of every piece."""
    weights = -float(rate) * (penalties - penalties.min()).astype(np.float64)
    return np.asarray(weights - logsumexp(weights + log_width))
