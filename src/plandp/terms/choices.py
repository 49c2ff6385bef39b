"""Choices that every question about a mean shares: the kind of data, post-processing and the norm of the error."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from plandp.errors import ArgumentError
from plandp.terms.columns import Columns, FloatArray, Label, read_columns
from plandp.terms.text_table import with_article

KINDS = ("real", "binary", "nonnegative")
REFINEMENTS = ("combine", "shrink", "clamp")

HIGHEST = 2.0**240
"""Sparse kinds reckon with squares of values and of their units: they stay within float64 up to this bound."""

MOST_THREADS = 64
"""More would wait for the memory, not for each other."""


def check_kind(kind: object) -> None:
    """Refuse a kind of data that there is not."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ArgumentError("kind", f"must be one of {', '.join(map(repr, KINDS))}")


def read_threads(threads: object) -> int:
    """Return the number of threads; NumPy's integers are as good as Python's."""
    if not isinstance(threads, Integral) or isinstance(threads, bool) or not 1 <= int(threads) <= MOST_THREADS:
        raise ArgumentError("threads", f"must be a whole number from 1 to {MOST_THREADS}")
    return int(threads)


def read_refine(refine: object, kind: str) -> frozenset[str]:
    """Return the post-processing of sparse means that is switched on: all of it when nothing is said."""
    if kind == "real":
        if refine is not None:
            raise ArgumentError("refine", "is for kind='binary' and kind='nonnegative' only; leave it out")
        return frozenset()
    if refine is None:
        return frozenset(REFINEMENTS)
    several = isinstance(refine, Iterable) and getattr(refine, "ndim", 1) > 0
    names = [refine] if isinstance(refine, str) or not several else list(refine)  # type: ignore[call-overload]
    if not all(isinstance(name, str) and name in REFINEMENTS for name in names):
        allowed = ", ".join(map(repr, REFINEMENTS))
        raise ArgumentError("refine", f"must name some of {allowed}, or none of them: refine=()")
    return frozenset(names)


def read_sparse_columns(
    labels: Iterable[Label], *, kind: str, bounds: object, error_scale: object, measure: Label | None = None
) -> Columns:
    """Return the public description of columns of this kind, or of this measure of events."""
    refuse_no_bounds(kind, bounds)
    asked = (0, 1) if kind == "binary" and bounds is None else bounds
    if isinstance(asked, Real | str):
        # said by itself, since most who pass it mean the high end
        pair = "leave bounds out" if kind == "binary" else "pass bounds=(0, 50), say, the least and the most of an item"
        raise ArgumentError("bounds", f"{with_article(type(asked).__name__)} is not accepted; {pair}")
    columns = read_columns(labels=labels, bounds=asked, error_scale=error_scale)
    check_sparse_bounds(columns, kind, measure=measure)
    return columns


def refuse_no_bounds(kind: str, bounds: object) -> None:
    """Ask for the bounds of values that are not just there or not."""
    if kind == "nonnegative" and bounds is None:
        raise ArgumentError(
            "bounds",
            "say how much of an item one person can have at most; more counts as that.  Pass bounds=(0, 50), say.  "
            "Bounds are public knowledge, never read from the data",
        )


def check_sparse_bounds(columns: Columns, kind: str, *, measure: Label | None = None) -> None:
    """Refuse bounds that values of this kind, or of this measure of events, cannot have."""
    asked, other = (
        (f"kind={kind!r}", "kind='nonnegative'") if measure is None else (f"measure={measure!r}", "measure='count'")
    )
    if np.any(columns.low != 0.0):
        raise ArgumentError("bounds", f"{asked} begins at 0: pass (0, high)")
    if np.any((columns.high > HIGHEST) | (columns.high < 1.0 / HIGHEST)):
        raise ArgumentError("bounds", f"{asked} takes bounds from (0, 2**-240) to (0, 2**240); use other units")
    if kind == "binary" and np.any(columns.high != 1.0):
        raise ArgumentError("bounds", f"{asked} lies within (0, 1); leave bounds out, or use {other}")


def refuse_large_items(argument: str, root_mean_square: FloatArray, columns: Columns, kind: str) -> None:
    """Refuse root mean squares that no items within these bounds have."""
    if np.all(root_mean_square <= columns.high):
        return
    if kind == "binary":
        allowed = "at most 1 with kind='binary': an item's root mean square is the square root of its share of the rows"
    else:
        allowed = f"at most the upper bound with kind={kind!r}: it is the root mean square of values up to that"
    raise ArgumentError(argument, f"must be {allowed}")


def read_error_norm(error_norm: Any) -> float:
    """Return p, or say what it may be."""
    no_number = isinstance(error_norm, bool | np.timedelta64)  # though both are Real
    try:
        p = float(error_norm) if isinstance(error_norm, Real) and not no_number else math.nan
    except OverflowError:  # an int or Fraction beyond float64
        p = math.inf
    if not 1.0 <= p < math.inf:
        raise ArgumentError("error_norm", "must be a finite number p ≥ 1, such as 1 or 2")
    return p
