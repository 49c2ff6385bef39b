"""Values of options: bounds, and numbers for all columns, one per column, or by name."""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from plandp.errors import ArgumentError

_T = TypeVar("_T")
Pair = tuple[float, float]
_MOST_DIGITS = 18


def read_bounds(text: str) -> Pair | list[Pair] | dict[str, Pair]:
    """Return what `0:100`, `0:100,0:5` or `age=0:120,income=0:1e6` says."""
    all_or_none = "name every column or none, as in a=0:1,b=0:2; a name that holds a comma fits only into --bounds-file"
    return _one_or_more("bounds", text, lambda part: _pair("bounds", part), all_or_none)


def read_numbers(argument: str, text: str) -> float | list[float] | dict[str, float]:
    """Return what `0`, `0,1` or `age=0,income=1` says."""
    all_or_none = "name every column or none, as in a=1,b=2"
    return _one_or_more(argument, text, lambda part: read_number(argument, part), all_or_none)


def read_number(argument: str, text: str, *, where: str = "") -> float:
    """Return the number that the text is."""
    try:
        return float(text)
    except ValueError:
        pass
    raise ArgumentError(argument, f"{where}{text!r} is not a number; write one such as 0.5 or 1e6")


def read_count(argument: str, text: str) -> int:
    """Return the whole number that the text is, such as 10000 or 1e4."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    # The size is looked at first: 1e999999999 must be refused, not computed.
    if number.is_finite() and number.adjusted() < _MOST_DIGITS and number == int(number):
        return int(number)
    raise ArgumentError(
        argument, f"{text!r} is not a whole number of at most {_MOST_DIGITS} digits; write 10000 or 1e4"
    )


def _one_or_more(
    argument: str, text: str, read: Callable[[str], _T], all_or_none: str
) -> _T | list[_T] | dict[str, _T]:
    parts = [part.rpartition("=") for part in text.split(",")]
    named = [bool(equals) for _, equals, _ in parts]
    if not any(named):
        values = [read(value) for _, _, value in parts]
        return values[0] if len(values) == 1 else values
    if not all(named):
        raise ArgumentError(argument, all_or_none)
    by_name: Mapping[str, _T] = {name.strip(): read(value) for name, _, value in parts}
    if len(by_name) < len(parts):
        raise ArgumentError(argument, "a column occurs more than once; name each column once")
    return dict(by_name)


def _pair(argument: str, text: str) -> Pair:
    low, colon, high = text.partition(":")
    if not colon:
        raise ArgumentError(argument, f"{text!r} is not a pair low:high, such as 0:100")
    return read_number(argument, low), read_number(argument, high)
