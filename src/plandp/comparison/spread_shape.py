"""Spreads that are assumed for a prediction: by a word, or number by number.  No estimator is told them."""

import math
from collections.abc import Iterable

import numpy as np

from plandp.errors import ArgumentError
from plandp.outlook import ASSUMED_SPREAD
from plandp.terms.columns import FINEST_SPREAD_SHARE, Columns, FloatArray, Label, read_columns

SMALL_ONES = 0.01  # of one-large: the other spreads, times the large one
STEEPEST = 10.0
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
    factors, words = _factors(shape, columns.d)
    spread = np.maximum(ASSUMED_SPREAD * factors, FINEST_SPREAD_SHARE) * columns.width
    return spread, words


def _factors(shape: str, d: int) -> tuple[FloatArray, str]:
    tenth = "a tenth of the width of the bounds"
    if shape == "equal":
        return np.ones(d), f"spreads of {tenth}"
    if shape == "one-large":
        factors = np.full(d, SMALL_ONES)
        factors[0] = 1.0
        return factors, f"one spread of {tenth}, the others a hundredth of that"
    name, colon, number = shape.partition(":")
    if name == "zipf" and colon:
        alpha = _alpha(number)
        words = f"spreads from {tenth} down, the variance of column i falling as i^-{alpha:g}"
        return np.arange(1, d + 1, dtype=np.float64) ** (-alpha / 2.0), words
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
