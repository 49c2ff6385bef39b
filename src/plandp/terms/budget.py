"""The privacy budget as the caller says it, read as one exact ρ."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from plandp.errors import ArgumentError
from plandp.terms.zcdp import rho_of

Number: TypeAlias = float | str | Fraction | Decimal | np.floating[Any] | np.integer[Any]

SMALLEST_RHO = Decimal("1e-12")
LARGEST_RHO = Decimal("1e6")
_LARGEST_DELTA = Decimal(1 - 2.0**-53)  # the largest float64 below 1


def read_budget(*, rho: Number | None, epsilon: Number | None, delta: Number | None) -> Fraction:
    """Return the one budget that was given, `rho` or `epsilon` with `delta`, as an exact ρ.

    Floats are read by their shortest decimal: 0.1 is 1/10, not the binary fraction behind it. The ρ of an
    (ε, δ) pair is rounded down, so that ρ-zCDP implies at least the (ε, δ) that was asked for.
    """
    if rho is not None:
        if epsilon is not None:
            raise ArgumentError("epsilon", "must not be given together with rho; give rho, or epsilon and delta")
        if delta is not None:
            raise ArgumentError("delta", "belongs to epsilon; with rho leave it out and ask receipt.epsilon(delta)")
        return _read_exactly("rho", rho, SMALLEST_RHO, LARGEST_RHO, "from 1e-12 to 1e6")
    if epsilon is None and delta is None:
        raise ArgumentError("rho", "is missing; give rho, for example rho=0.5, or epsilon and delta")
    if epsilon is None:
        raise ArgumentError("epsilon", "is missing; give epsilon and delta together, or rho alone")
    if delta is None:
        raise ArgumentError("delta", "is missing; give epsilon and delta together, for example delta=1e-6")
    exact_epsilon = _read_exactly("epsilon", epsilon, Decimal("1e-9"), Decimal("1e9"), "from 1e-9 to 1e9")
    exact_delta = _read_exactly(
        "delta", delta, Decimal("1e-300"), _LARGEST_DELTA, "strictly between 0 and 1 (at least 1e-300)"
    )
    found = rho_of(float(exact_epsilon), float(exact_delta))
    if not SMALLEST_RHO <= found <= LARGEST_RHO:
        raise ArgumentError("epsilon", "means with this delta a rho outside 1e-12 to 1e6; choose another epsilon")
    return found


def read_promise(epsilon: Number | None, delta: Number | None) -> tuple[float | None, float | None]:
    """Return (ε, δ) that `read_budget` has accepted as floats, to be shown again; none of both where ρ was given."""
    exact = [None if value is None else _exact_number(value) for value in (epsilon, delta)]
    found = [None if value is None else float(value) for value in exact]
    return found[0], found[1]


def large_delta(delta: Number | None, n: int) -> tuple[str, ...]:
    """Return a warning where `delta` is above 1/n.  Public: known before any row is read."""
    exact = None if delta is None else _exact_number(delta)
    if exact is None or exact * n <= 1:
        return ()
    return (
        f"delta = {float(exact):g} is above 1/n = {1 / n:.3g}: such a promise is weak, since publishing a random row "
        "as it is would keep it too; choose delta far below 1/n",
    )


def _read_exactly(argument: str, value: Number, low: Decimal, high: Decimal, allowed: str) -> Fraction:
    number = _exact_number(value)
    # The limits are compared before anything is expanded: "1e999999999" must be refused, not computed.
    if number is None or not low <= number <= high:
        raise ArgumentError(argument, f'must be a number {allowed}, such as 0.1 or "1/8"')
    return Fraction(number)


def _exact_number(value: object) -> Decimal | Fraction | None:
    """Return what the value says in exact digits, or None if it is not a finite number."""
    if isinstance(value, bool | np.bool_ | np.timedelta64):
        return None
    if isinstance(value, Fraction):
        return Fraction(int(value.numerator), int(value.denominator))  # NumPy's integers could overflow
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, str) and "/" in value:
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            return None
    if isinstance(value, str | float | np.floating | Decimal):
        try:
            decimal = Decimal(str(value))
        except InvalidOperation:
            return None
        return decimal if decimal.is_finite() else None
    return None
