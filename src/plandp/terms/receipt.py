"""The receipt of a release: what was paid, to whom it applies, and with which software."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from operator import is_
from typing import Any, TypeVar

from plandp.errors import ArgumentError
from plandp.terms.payment import DISCRETE_GAUSSIAN, EXPONENTIAL, MECHANISMS, Payment
from plandp.terms.text_table import align, show_integer
from plandp.terms.zcdp import epsilon_of

_T = TypeVar("_T", bool, int, str)

SHOWN_DELTA = 1e-6  # where none was asked for
_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)
INSECURE_NOTICE = "INSECURE: testing_seed was used; this release protects nobody"


@dataclass(frozen=True, kw_only=True)
class Step:
    """All payments of one step of the algorithm; `squared_sensitivity` is the largest among its queries."""

    step: str
    rho: Fraction
    squared_sensitivity: int
    queries: int
    values: int


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a release cost: all its numbers together are `rho`-zCDP, the exact sum of the payments.

    `delta` is that of an (ε, δ) by which the budget was asked for, to show ε at; None where ρ was.
    """

    rho: Fraction
    payments: tuple[Payment, ...]
    n: int
    d: int
    bounds: tuple[tuple[float, float], ...]
    method: str
    sampler: str
    insecure: bool
    passes: int
    versions: tuple[tuple[str, str], ...]
    neighbours: str = "replace one row"
    privacy_unit: str = "row"
    delta: float | None = None

    def __post_init__(self) -> None:
        if _added_up(self.payments) != self.rho:
            raise ArgumentError("rho", "must be exactly the sum of the payments")
        if len(self.bounds) != self.d:
            raise ArgumentError("bounds", "must hold one (low, high) pair per column")
        # NumPy scalars would print, compare and travel as JSON differently from the numbers they stand for.
        for name in ("n", "d", "passes"):
            object.__setattr__(self, name, int(getattr(self, name)))
        if self.delta is not None:
            object.__setattr__(self, "delta", float(self.delta))
        shared = all(map(is_, self.bounds[1:], self.bounds))  # as a million columns may
        different = self.bounds[:1] if shared else self.bounds
        if not (type(self.bounds) is tuple and all(map(_is_plain, different))):
            object.__setattr__(self, "bounds", tuple((float(low), float(high)) for low, high in self.bounds))

    def steps(self) -> tuple[Step, ...]:
        """Return the payments added up by step, in the order in which the steps first paid."""
        grouped: dict[str, list[Payment]] = {}
        for payment in self.payments:
            grouped.setdefault(payment.step, []).append(payment)
        return tuple(
            Step(
                step=name,
                rho=_added_up(paid),
                squared_sensitivity=max(payment.squared_sensitivity for payment in paid),
                queries=len(paid),
                values=sum(payment.values for payment in paid),
            )
            for name, paid in grouped.items()
        )

    def share(self, step: Step) -> float:
        """Return the part of the total ρ that went into `step`."""
        return float(step.rho / self.rho) if self.rho else 0.0

    def epsilon(self, delta: float) -> float:
        """Return an ε such that the whole release is (ε, `delta`)-differentially private."""
        return epsilon_of(self.rho, delta)

    def headline(self) -> str:
        """Return the total cost in a line."""
        return budget_line(self.rho, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON-ready values; `from_dict` restores it exactly."""
        written = {
            "rho": write_fraction(self.rho),
            "payments": [_write_payment(payment) for payment in self.payments],
            "n": self.n,
            "d": self.d,
            "bounds": [[low, high] for low, high in self.bounds],
            "method": self.method,
            "sampler": self.sampler,
            "insecure": self.insecure,
            "passes": self.passes,
            "versions": [[name, version] for name, version in self.versions],
            "neighbours": self.neighbours,
            "privacy_unit": self.privacy_unit,
        }
        # Left out where there is none, as in every receipt before it was kept: those stay readable both ways.
        return written if self.delta is None else written | {"delta": self.delta}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Receipt":
        """Return the receipt that `to_dict` wrote."""
        try:
            return cls(
                rho=read_fraction(values["rho"]),
                payments=tuple(_read_payment(payment) for payment in values["payments"]),
                n=_read(values, "n", int),
                d=_read(values, "d", int),
                bounds=tuple((_read_finite(low), _read_finite(high)) for low, high in values["bounds"]),
                method=_read(values, "method", str),
                sampler=_read(values, "sampler", str),
                insecure=_read(values, "insecure", bool),
                passes=_read(values, "passes", int),
                versions=tuple((str(name), str(version)) for name, version in values["versions"]),
                neighbours=_read(values, "neighbours", str),
                privacy_unit=_read(values, "privacy_unit", str),
                delta=read_delta(values.get("delta")),
            )
        except ArgumentError:
            raise
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
            raise ArgumentError("receipt", "is not a receipt; pass what Receipt.to_dict returned") from None

    def facts(self) -> tuple[str, ...]:
        """Return, line by line, whom the receipt protects and how it was computed."""
        chosen = dict.fromkeys(payment.step for payment in self.payments if payment.mechanism == EXPONENTIAL)
        return (
            f"neighbours: {self.neighbours}; privacy unit: {self.privacy_unit}",
            f"n = {self.n} is published exactly; d = {self.d}",
            f"method: {self.method}; sampler: {self.sampler}; times all rows were read: {self.passes}",
            *([f"chosen by the exponential mechanism: {', '.join(chosen)}"] if chosen else []),
            "versions: " + ", ".join(f"{name} {version}" for name, version in self.versions),
        )

    def __repr__(self) -> str:
        head = ("step", "rho", "share", "sensitivity²", "queries")
        rows = [
            (
                step.step,
                f"{float(step.rho):.4g}",
                f"{self.share(step):.1%}",
                show_integer(step.squared_sensitivity),
                str(step.queries),
            )
            for step in self.steps()
        ]
        total = ("total", f"{float(self.rho):.4g}", "100.0%" if rows else "", "", str(len(self.payments)))
        lines = [f"Receipt: {self.headline()}"]
        if self.insecure:
            lines.append(INSECURE_NOTICE)
        return "\n".join([*lines, *align([head, *rows, total]), *self.facts()])


def _added_up(payments: Iterable[Payment]) -> Fraction:
    """Their exact sum; those of one denominator, as most of a search have, are added as whole numbers."""
    numerators: dict[int, int] = {}
    for payment in payments:
        numerators[payment.rho.denominator] = numerators.get(payment.rho.denominator, 0) + payment.rho.numerator
    return sum((Fraction(number, below) for below, number in numerators.items()), Fraction(0))


def budget_line(rho: Fraction, delta: float | None = None) -> str:
    """Return ρ in a line, with ε at the δ that was asked for; ε is rounded up, so the line never promises too much."""
    shown = SHOWN_DELTA if delta is None else delta
    epsilon = _FOUR_DIGITS.create_decimal(epsilon_of(rho, shown))
    return f"rho = {float(rho):.6g} (zCDP), epsilon = {epsilon:g} at delta = {shown}"


def _write_payment(payment: Payment) -> dict[str, Any]:
    written = {
        "step": payment.step,
        "rho": write_fraction(payment.rho),
        "squared_sensitivity": int(payment.squared_sensitivity),
        "values": int(payment.values),
    }
    # Noise is what every receipt had before there were choices: those stay readable both ways.
    return written if payment.mechanism == DISCRETE_GAUSSIAN else written | {"mechanism": payment.mechanism}


def _read_payment(values: Mapping[str, Any]) -> Payment:
    mechanism = values.get("mechanism", DISCRETE_GAUSSIAN)
    if mechanism not in MECHANISMS:
        raise ValueError
    return Payment(
        step=_read(values, "step", str),
        rho=read_fraction(values["rho"]),
        squared_sensitivity=_read(values, "squared_sensitivity", int),
        values=_read(values, "values", int),
        mechanism=mechanism,
    )


def _is_plain(pair: tuple[float, float]) -> bool:
    return type(pair) is tuple and len(pair) == 2 and all(type(end) is float for end in pair)


def _read(values: Mapping[str, Any], name: str, kind: type[_T]) -> _T:
    value = values[name]
    if type(value) is not kind:
        raise TypeError
    return value


def _read_finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def read_delta(value: Any) -> float | None:
    """Return the δ that a budget was asked for by, or None where there was none."""
    if value is None:
        return None
    if type(value) is not float or not 0.0 < value < 1.0:
        raise ValueError
    return value


def write_fraction(value: Fraction) -> str:
    """Return "a/b", which `Fraction` reads back exactly."""
    return f"{value.numerator}/{value.denominator}"


def read_fraction(text: str) -> Fraction:
    """Return the fraction that `write_fraction` wrote; other spellings of numbers are refused."""
    numerator, denominator = text.split("/")
    return Fraction(int(numerator), int(denominator))
