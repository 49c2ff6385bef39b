"""Choices that every question about a mean shares: the kind of data and the norm of the error."""

from numbers import Real
from typing import Any

from plandp.errors import ArgumentError

KINDS = ("real",)


def check_kind(kind: object) -> None:
    """Refuse a kind of data that there is not."""
    if kind not in KINDS:
        raise ArgumentError("kind", f"must be one of {', '.join(map(repr, KINDS))}")


def read_error_norm(error_norm: Any) -> float:
    """Return p, or say what it may be."""
    allowed = isinstance(error_norm, Real) and not isinstance(error_norm, bool)
    if not allowed or not 1.0 <= float(error_norm) < float("inf"):
        raise ArgumentError("error_norm", "must be a finite number p ≥ 1, such as 1 or 2")
    return float(error_norm)
