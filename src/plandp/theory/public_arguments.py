"""Arguments of the functions for researchers: public numbers, refused by name where they make no sense."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plandp.errors import ArgumentError

FloatArray = NDArray[np.float64]


def positive(argument: str, value: float) -> float:
    """`value` as a float, if it is positive and finite."""
    number = float(value)
    if not 0.0 < number < math.inf:
        raise ArgumentError(argument, "must be a positive, finite number")
    return number


def at_least(argument: str, value: float, least: float) -> float:
    """`value` as a float, if it is finite and not below `least`."""
    number = float(value)
    if not least <= number < math.inf:
        raise ArgumentError(argument, f"must be a finite number of at least {least:g}")
    return number


def probability(argument: str, value: float) -> float:
    """`value` as a float, if it lies strictly between 0 and 1."""
    number = float(value)
    if not 0.0 < number < 1.0:
        raise ArgumentError(argument, "must lie strictly between 0 and 1")
    return number


def vector(argument: str, values: ArrayLike) -> FloatArray:
    """`values` as a copy in one dimension, if they are finite and ≥ 0, and one of them is positive."""
    array = np.array(values, dtype=np.float64, ndmin=1)
    if array.ndim != 1 or not len(array):
        raise ArgumentError(argument, "must be a list of numbers, one per column")
    if not np.isfinite(array).all() or (array < 0.0).any() or not array.any():
        raise ArgumentError(argument, "must hold finite numbers from 0 on, and not only zeros")
    return array
