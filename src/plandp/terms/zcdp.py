"""From ρ-zCDP to (ε, δ) and back, always rounded to the safe side.

The conversion is Proposition 12 of Canonne, Kamath and Steinke (2020); docs/proofs/conversion.md has the
derivation and the error analysis behind the margin.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from plandp.errors import ArgumentError

# 32 units of the last place: every term below carries at most a few of them.
_MARGIN = 2.0**-48
# Bisection on a logarithmic scale: 72 halvings exhaust the doubles of any bracket used here.
_HALVINGS = 72
_TINY = 1e-300
_LARGEST_ORDER = 1e140  # its square times any rho is still a double
_LARGEST_EPSILON = 1e9
_LARGEST_RHO = 1e12
_DIGITS = 12


def epsilon_of(rho: Fraction, delta: float) -> float:
    """Return an ε, never below the exact conversion, such that ρ-zCDP implies (ε, δ)-differential privacy."""
    _check_delta(delta)
    if rho == 0:
        return 0.0
    r, log_inverse = _as_float(rho), -math.log(delta)
    # With x = α - 1 the best order solves ρx² + ln(1+x) = ln(1/δ); the left side increases in x.
    x = _crossing(
        lambda x: r * x * x + math.log1p(x) - log_inverse,
        low=2 * log_inverse / (1 + math.sqrt(1 + 4 * r * log_inverse)),
        high=min(math.expm1(min(log_inverse, 300.0)), math.sqrt(log_inverse / r)),
    )
    # Any x > 0 gives a valid ε, so the search needs no error analysis, only this evaluation does.
    divergence, shrink = (1 + x) * r, math.log1p(1 / x)
    tail, order = log_inverse / x, math.log1p(x) / x
    slack = _MARGIN * (divergence + shrink + tail + order)
    return max(0.0, divergence - shrink + (tail - order) + slack)


def delta_of(rho: Fraction, epsilon: float) -> float:
    """Return a δ, never below the exact conversion, such that ρ-zCDP implies (ε, δ)-differential privacy."""
    if not 0 <= epsilon <= _LARGEST_EPSILON:
        raise ArgumentError("epsilon", f"must be at least 0 and at most {_LARGEST_EPSILON:g}")
    if rho == 0:
        return 0.0
    r = _as_float(rho)
    # ln δ is convex in x = α - 1; its slope (1+2x)ρ - ε - ln(1+1/x) changes sign once.
    x = _crossing(
        lambda x: (1 + 2 * x) * r - epsilon - math.log1p(1 / x),
        low=_TINY,
        high=min(epsilon / (2 * r) + 1 / math.sqrt(2 * r), _LARGEST_ORDER),
    )
    divergence, loss = x * (1 + x) * r, x * epsilon
    shrink, order = x * math.log1p(1 / x), math.log1p(x)
    slack = _MARGIN * (divergence + loss + shrink + order)
    exponent = divergence - loss - shrink - order + slack
    return min(1.0, math.nextafter(math.exp(min(0.0, exponent)), 1.0) * (1 + _MARGIN))


def rho_of(epsilon: float, delta: float) -> Fraction:
    """Return the largest ρ of 12 decimal digits with `epsilon_of(ρ, delta) <= epsilon`."""
    if not 0 < epsilon <= _LARGEST_EPSILON:
        raise ArgumentError("epsilon", f"must be above 0 and at most {_LARGEST_EPSILON:g}")
    _check_delta(delta)
    log_inverse = -math.log(delta)
    # The simple bound ε = ρ + 2√(ρ ln 1/δ) is never better, so its ρ is a start from below.
    low = (epsilon / (math.sqrt(log_inverse + epsilon) + math.sqrt(log_inverse))) ** 2 * (1 - 1e-9)
    low = max(low, _TINY)
    high = 2 * low
    while epsilon_of(Fraction(high), delta) <= epsilon:
        low, high = high, 2 * high
    largest = _crossing(lambda r: epsilon_of(Fraction(r), delta) - epsilon, low=low, high=high)
    digit = Fraction(10) ** (math.floor(math.log10(largest)) - _DIGITS + 1)
    rounded = (Fraction(largest) // digit) * digit
    while epsilon_of(rounded, delta) > epsilon:
        rounded -= digit
    while epsilon_of(rounded + digit, delta) <= epsilon:
        rounded += digit
    return rounded


def _crossing(increasing: Callable[[float], float], *, low: float, high: float) -> float:
    """Bisect for the sign change of an increasing function of a positive number."""
    for _ in range(_HALVINGS):
        middle = math.sqrt(low) * math.sqrt(high)
        if not low < middle < high:
            break
        if increasing(middle) <= 0:
            low = middle
        else:
            high = middle
    return low


def _as_float(rho: Fraction) -> float:
    if not 0 <= rho <= _LARGEST_RHO:
        raise ArgumentError("rho", f"must be at least 0 and at most {_LARGEST_RHO:g}")
    # More ρ never means less ε or δ, so raising what would underflow is safe.
    return max(float(rho), _TINY)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ArgumentError("delta", "must lie strictly between 0 and 1; choose it well below 1/n, for example 1e-6")
