"""Spreads that are assumed for a prediction: by a word, or number by number.  No estimator is told them."""

import math
from collections.abc import Iterable

import numpy as np

from plandp.errors import ArgumentError
from plandp.outlook import ASSUMED_SPREAD
from plandp.terms.choices import refuse_large_items
from plandp.terms.columns import FINEST_SPREAD_SHARE, Columns, FloatArray, Label, read_columns

SMALL_ONES = 0.01  # of one-large: the other spreads, times the large one
STEEPEST = 10.0
MOST_POPULAR = 0.5  # share of the rows with the first item, as `plandp.check` assumes
_ALLOWED = (
    "must be 'equal', 'one-large', 'zipf:ALPHA' with ALPHA from 0 to 10, such as 'zipf:1', or the spreads themselves: "
    "one number, one per column, or a mapping by label"
)


def read_spread_shape(
    shape: object, columns: Columns, *, bounds: object, labels: Iterable[Label]
) -> tuple[FloatArray, str]:
    """Return the assumed spreads in the units of the columns, and in words what was assumed.

    Of words the largest spread is a tenth of the width of the bounds; "zipf:ALPHA" makes the variance of column i fall
    as i^-ALPHA, as in the paper's Gaussian B and C, "one-large" makes all but the first a hundredth of it.
    """
    if not isinstance(shape, str):
        return _spreads_given(shape, bounds=bounds, labels=labels), "the spreads of spread_shape"
    tenth = "a tenth of the width of the bounds"
    factors, words = _factors(
        shape,
        columns.d,
        equal=f"spreads of {tenth}",
        one_large=f"one spread of {tenth}, the others a hundredth of that",
        zipf=f"spreads from {tenth} down, the variance of column i falling as i^-",
    )
    return np.maximum(ASSUMED_SPREAD * factors, FINEST_SPREAD_SHARE) * columns.width, words


def read_item_shape(shape: object, columns: Columns) -> tuple[FloatArray, str]:
    """Return the square roots of the assumed shares of rows with each item, and in words what was assumed.

    By the same words the most popular item is in half of the rows; numbers are the square roots themselves.
    """
    if not isinstance(shape, str):
        bounds = np.stack([columns.low, columns.high], axis=1)
        given = _spreads_given(shape, bounds=bounds, labels=columns.labels)
        refuse_large_items("spread_shape", given, columns, "binary")
        return given, "the root mean squares of spread_shape"
    factors, words = _factors(
        shape,
        columns.d,
        equal="every item in half of the rows",
        one_large=f"one item in half of the rows, the others in 1 of {2.0 / SMALL_ONES**2:,.0f}",
        zipf="the first item in half of the rows, the share of item i falling as i^-",
    )
    return math.sqrt(MOST_POPULAR) * factors, words


def _factors(shape: str, d: int, *, equal: str, one_large: str, zipf: str) -> tuple[FloatArray, str]:
    """Return the spreads over the largest, and what this shape is in words."""
    if shape == "equal":
        return np.ones(d), equal
    if shape == "one-large":
        factors = np.full(d, SMALL_ONES)
        factors[0] = 1.0
        return factors, one_large
    name, colon, number = shape.partition(":")
    if name == "zipf" and colon:
        alpha = _alpha(number)
        return np.arange(1, d + 1, dtype=np.float64) ** (-alpha / 2.0), f"{zipf}{alpha:g}"
    raise ArgumentError("spread_shape", _ALLOWED)


def _alpha(text: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        alpha = math.nan
    if not 0.0 <= alpha <= STEEPEST:
        raise ArgumentError("spread_shape", _ALLOWED)
    return alpha


def _spreads_given(shape: object, *, bounds: object, labels: Iterable[Label]) -> FloatArray:
    try:
        known = read_columns(labels=labels, bounds=bounds, spread=shape).spread
    except ArgumentError as error:
        problem = error.problem
    else:
        assert known is not None  # it was given
        return known
    raise ArgumentError("spread_shape", problem)
