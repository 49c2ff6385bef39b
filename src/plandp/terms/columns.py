"""What is public about the columns: bounds, missing values, units and spreads, checked and put in order."""

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError
from plandp.terms.text_table import show_given, with_article

Label = str | int
FloatArray = NDArray[np.float64]

SMALLEST_SPREAD_SHARE = 2.0**-20
"""Unless told otherwise, spreads below this share of a column's width do not matter."""

FINEST_SPREAD_SHARE = 2.0**-45
"""No smaller share may be asked for: a lattice of a quarter of the spread has at most 2**47 cells."""

_WIDEST = 2.0**600
"""Widths from 1/_WIDEST to _WIDEST are taken: noise far above, spreads far below and lattice steps of any row are
still ordinary floats."""

_MOST_UNITS = 2.0**120
"""A column is from 1/_MOST_UNITS to _MOST_UNITS error_scales wide: fourth powers, in which variances of squares are
reckoned, then stay within float64, and so do the squares in a row's norm."""

_BOUNDS_FORMS = (
    "bounds=(0, 100) for all columns, bounds=[(0, 100), (0, 1), ...] with one pair per column, "
    "or bounds={'age': (0, 120), ...} by label"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Everything public about the columns, fixed before any value is read: read-only arrays of shape (d,)."""

    labels: tuple[Label, ...]
    low: FloatArray
    high: FloatArray
    missing: FloatArray | None  # None: missing values are replaced by the released centre
    error_scale: FloatArray
    spread: FloatArray | None
    smallest_spread: FloatArray

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.labels)

    @property
    def spread_in_units(self) -> FloatArray | None:
        """The publicly known spreads in units of error_scale, if they are known; at least what a lattice resolves."""
        if self.spread is None:
            return None
        return _read_only(np.maximum(self.spread, FINEST_SPREAD_SHARE * self.width) / self.error_scale)

    @cached_property
    def width(self) -> FloatArray:
        """The width of each column's bounds."""
        return _read_only(self.high - self.low)


def read_columns(
    *,
    labels: Iterable[Label],
    bounds: object,
    missing: object = None,
    error_scale: object = None,
    spread: object = None,
    smallest_spread: object = None,
) -> Columns:
    """Return the public description of the columns, or say which argument is wrong for which column."""
    names = tuple(labels)
    low, high = _read_bounds(bounds, names)
    width = high - low

    if error_scale is None:
        scale = np.ones(len(names))
    elif isinstance(error_scale, str) and error_scale == "bounds":
        scale = width
    else:
        scale = _read_positive("error_scale", error_scale, names)
    _check_units(scale, width, names)

    if smallest_spread is None:
        smallest = width * SMALLEST_SPREAD_SHARE
    else:
        smallest = _read_positive("smallest_spread", smallest_spread, names)
        _check_smallest_spread(smallest, width, names)

    return Columns(
        labels=names,
        low=_read_only(low),
        high=_read_only(high),
        missing=None if missing is None else _read_only(_read_missing(missing, low, high, names)),
        error_scale=_read_only(scale),
        spread=None if spread is None else _read_only(_read_positive("spread", spread, names)),
        smallest_spread=_read_only(smallest),
    )


def named_in_bounds(bounds: object) -> Set[Label] | None:
    """Return the columns that the bounds name, as they name them; None when they name none."""
    by_label = _as_mapping("bounds", bounds)
    return None if by_label is None else {_read_label(label): None for label in by_label}.keys()


def labels_in_bounds(bounds: object) -> tuple[Label, ...] | None:
    """Return the columns that the bounds name or number; None when one pair stands for any number of columns."""
    named = named_in_bounds(bounds)
    if named is not None:
        return tuple(named)
    items = [] if bounds is None else _as_list("bounds", bounds, allowed=_BOUNDS_FORMS)
    if not items or _is_one_pair(items):
        return None
    return tuple(range(len(items)))


def _read_label(label: object) -> Label:
    if isinstance(label, str):
        return label
    if isinstance(label, int | np.integer) and not isinstance(label, bool | np.timedelta64) and fits_label(int(label)):
        return int(label)
    raise ArgumentError("bounds", "labels must be strings or whole numbers")


def fits_label(number: int) -> bool:
    """Whether a number can name a column: up to 128 bits, which Python and JSON can write."""
    return -(2**127) <= number < 2**128


def _is_one_pair(items: list[object]) -> bool:
    return len(items) == 2 and all(_is_number(item) for item in items)


def _read_bounds(bounds: object, labels: tuple[Label, ...]) -> tuple[FloatArray, FloatArray]:
    if bounds is None:
        raise ArgumentError(
            "bounds",
            "say between which values each column can lie.  Bounds are public knowledge, never read from the "
            "data; be generous, since the error grows only with the logarithm of their width.  "
            f"Pass {_BOUNDS_FORMS}",
        )
    by_label = _as_mapping("bounds", bounds)
    if by_label is not None:
        pairs = _in_order("bounds", by_label, labels)
    else:
        items = _as_list("bounds", bounds, allowed=_BOUNDS_FORMS)
        if _is_one_pair(items) and labels:
            least, most = _read_pair(items, labels[0])
            return np.full(len(labels), least), np.full(len(labels), most)
        pairs = _one_per_column("bounds", items, labels, what="pairs")
    low, high = np.empty(len(labels)), np.empty(len(labels))
    for column, (label, pair) in enumerate(zip(labels, pairs, strict=True)):
        low[column], high[column] = _read_pair(pair, label)
    return low, high


def _read_pair(pair: object, label: Label) -> tuple[float, float]:
    ends = _as_list("bounds", pair, allowed=f"a pair (low, high) for column {label!r}")
    if len(ends) != 2:
        raise ArgumentError("bounds", f"column {label!r} needs a pair (low, high); pass {_BOUNDS_FORMS}")
    low, high = _finite("bounds", ends[0], label), _finite("bounds", ends[1], label)
    _check_pair(low, high, label)
    return low, high


def _check_pair(low: float, high: float, label: Label) -> None:
    width = high - low
    if not low < high:
        problem = f"the low end must be below the high end, not ({low!r}, {high!r})"
    elif width > _WIDEST:
        problem = f"({low!r}, {high!r}) is too wide for float64; use narrower bounds or other units"
    elif width < 1.0 / _WIDEST:
        problem = f"({low!r}, {high!r}) is too narrow for float64; use other units"
    else:
        return
    raise ArgumentError("bounds", f"column {label!r}: {problem}")


def _read_missing(missing: object, low: FloatArray, high: FloatArray, labels: tuple[Label, ...]) -> FloatArray:
    values = _read_numbers("missing", missing, labels)
    for label, value, least, most in zip(labels, values.tolist(), low.tolist(), high.tolist(), strict=True):
        if not least <= value <= most:
            raise ArgumentError(
                "missing",
                f"column {label!r}: {value!r} is outside the bounds ({least!r}, {most!r}) of the column; "
                "pass a value inside",
            )
    return values


def _check_units(scale: FloatArray, width: FloatArray, labels: tuple[Label, ...]) -> None:
    with np.errstate(all="ignore"):
        if np.all((width / _MOST_UNITS <= scale) & (scale <= width * _MOST_UNITS)):
            return  # the usual case at once: there may be a million columns
    for label, unit, full in zip(labels, scale.tolist(), width.tolist(), strict=True):
        if not full / _MOST_UNITS <= unit <= full * _MOST_UNITS:
            raise ArgumentError(
                "error_scale",
                f"column {label!r}: {unit!r} is over 2**120 times as large or as small as the width of the bounds, "
                f"{full!r}; pass error_scale='bounds', or one scale per column nearer to its width",
            )


def _check_smallest_spread(smallest: FloatArray, width: FloatArray, labels: tuple[Label, ...]) -> None:
    for label, value, full in zip(labels, smallest.tolist(), width.tolist(), strict=True):
        if not full * FINEST_SPREAD_SHARE <= value <= full:
            raise ArgumentError(
                "smallest_spread",
                f"column {label!r}: {value!r} must lie between {full * FINEST_SPREAD_SHARE!r} and {full!r}, "
                "which are 2**-45 times the width of its bounds and the width itself",
            )


def _read_positive(argument: str, value: object, labels: tuple[Label, ...]) -> FloatArray:
    values = _read_numbers(argument, value, labels)
    for label, number in zip(labels, values.tolist(), strict=True):
        if not number > 0:
            raise ArgumentError(argument, f"column {label!r}: {number!r} is not above zero; pass a number above zero")
    return values


def _read_numbers(argument: str, value: object, labels: tuple[Label, ...]) -> FloatArray:
    if _is_number(value):
        items: list[object] = [value] * len(labels)
    else:
        by_label = _as_mapping(argument, value)
        if by_label is not None:
            items = _in_order(argument, by_label, labels)
        else:
            allowed = "one number, one number per column, or a mapping from label to number"
            if argument == "error_scale":
                allowed = f"'bounds', {allowed}"
            items = _one_per_column(argument, _as_list(argument, value, allowed=allowed), labels, what="numbers")
    if items and all(item is items[0] for item in items):  # one number for all
        return np.full(len(items), _finite(argument, items[0], labels[0]))
    return np.array([_finite(argument, item, label) for item, label in zip(items, labels, strict=True)])


def _is_number(value: object) -> bool:
    # a span of time is a Real to NumPy, of which float() can raise
    return isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)


def _finite(argument: str, value: object, label: Label) -> float:
    if isinstance(value, Real) and _is_number(value):
        try:
            number = float(value)
        except OverflowError:  # an int or Fraction beyond float64
            number = float("inf")
        if math.isfinite(number):
            return number
    raise ArgumentError(argument, f"column {label!r}: {show_given(value)} is not a finite number; pass one that is")


def _as_mapping(argument: str, value: object) -> Mapping[object, object] | None:
    if isinstance(value, Mapping):
        return value
    # A pandas Series is one-dimensional and has items(); the package itself is not needed here.
    items = getattr(value, "items", None)
    if getattr(value, "ndim", None) != 1 or not callable(items):
        return None
    pairs = list(items())
    by_label = dict(pairs)
    if len(by_label) < len(pairs):
        raise ArgumentError(argument, "a label occurs more than once in its index; name each column once")
    return by_label


def _as_list(argument: str, value: object, *, allowed: str) -> list[object]:
    if isinstance(value, str | bytes | set | frozenset | Mapping) or not isinstance(value, Iterable):
        raise ArgumentError(argument, f"{with_article(type(value).__name__)} is not accepted; pass {allowed}")
    if getattr(value, "ndim", 1) == 0:
        raise ArgumentError(argument, f"an array without dimensions is not accepted; pass {allowed}")
    return list(value)


def _one_per_column(argument: str, items: list[object], labels: tuple[Label, ...], *, what: str) -> list[object]:
    if len(items) != len(labels):
        raise ArgumentError(argument, f"{len(items)} {what} for {len(labels)} columns; pass one per column")
    return items


def _in_order(argument: str, by_label: Mapping[object, object], labels: tuple[Label, ...]) -> list[object]:
    known = set(labels)
    for label in by_label:
        if label not in known:
            raise ArgumentError(
                argument, f"no column {show_given(label)} is released; {_offer(argument, label, labels)}"
            )
    for label in labels:
        if label not in by_label:
            raise ArgumentError(argument, f"column {label!r} is not named; name every column")
    return [by_label[label] for label in labels]


def _offer(argument: str, label: object, labels: tuple[Label, ...]) -> str:
    """Return what to name instead of a label; that of a column of lists stands for its places in `columns` alone."""
    places = [known for known in labels if isinstance(known, str) and known.startswith(f"{label}[")]
    numbered = argument == "bounds" and all(isinstance(known, int) for known in labels)
    if not isinstance(label, str) or not labels or not (places or numbered):
        return "name those that are, and only those"
    one = f"one pair for all columns, columns=[{label!r}], bounds=(0, 100)" if argument == "bounds" else "one number"
    return f"if it holds lists, pass {one}, or name each place, {(places or labels)[0]!r} and so on"


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
