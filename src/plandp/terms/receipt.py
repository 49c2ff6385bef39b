"""The receipt of a release: what was paid, to whom it applies, and with which software."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

from plandp.errors import ArgumentError
from plandp.terms.payment import Payment
from plandp.terms.zcdp import epsilon_of

SHOWN_DELTA = 1e-6
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
    """What a release cost: all its numbers together are `rho`-zCDP, the exact sum of the payments."""

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

    def __post_init__(self) -> None:
        if sum((payment.rho for payment in self.payments), Fraction(0)) != self.rho:
            raise ArgumentError("rho", "must be exactly the sum of the payments")
        if len(self.bounds) != self.d:
            raise ArgumentError("bounds", "must hold one (low, high) pair per column")

    def steps(self) -> tuple[Step, ...]:
        """Return the payments added up by step, in the order in which the steps first paid."""
        grouped: dict[str, list[Payment]] = {}
        for payment in self.payments:
            grouped.setdefault(payment.step, []).append(payment)
        return tuple(
            Step(
                step=name,
                rho=sum((payment.rho for payment in paid), Fraction(0)),
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
        """Return the total cost in a line; ε is rounded up, so the line never promises too much."""
        epsilon = _FOUR_DIGITS.create_decimal(self.epsilon(SHOWN_DELTA))
        return f"rho = {float(self.rho):.6g} (zCDP), epsilon = {epsilon:g} at delta = {SHOWN_DELTA:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON-ready values; `from_dict` restores it exactly."""
        return {
            "rho": write_fraction(self.rho),
            "payments": [
                {
                    "step": payment.step,
                    "rho": write_fraction(payment.rho),
                    "squared_sensitivity": payment.squared_sensitivity,
                    "values": payment.values,
                }
                for payment in self.payments
            ],
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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Receipt":
        """Return the receipt that `to_dict` wrote."""
        try:
            return cls(
                rho=Fraction(values["rho"]),
                payments=tuple(
                    Payment(
                        step=payment["step"],
                        rho=Fraction(payment["rho"]),
                        squared_sensitivity=payment["squared_sensitivity"],
                        values=payment["values"],
                    )
                    for payment in values["payments"]
                ),
                n=values["n"],
                d=values["d"],
                bounds=tuple((float(low), float(high)) for low, high in values["bounds"]),
                method=values["method"],
                sampler=values["sampler"],
                insecure=values["insecure"],
                passes=values["passes"],
                versions=tuple((name, version) for name, version in values["versions"]),
                neighbours=values["neighbours"],
                privacy_unit=values["privacy_unit"],
            )
        except ArgumentError:
            raise
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise ArgumentError("receipt", "is not a receipt; pass what Receipt.to_dict returned") from None

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
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
        lines += align([head, *rows, total], left=1)
        lines += [
            f"neighbours: {self.neighbours}; privacy unit: {self.privacy_unit}",
            f"n = {self.n} is published exactly; d = {self.d}",
            f"method: {self.method}; sampler: {self.sampler}; passes over all rows: {self.passes}",
            "versions: " + ", ".join(f"{name} {version}" for name, version in self.versions),
        ]
        return lines


def show_integer(value: int) -> str:
    """Return small integers in full and large ones, such as lattice sensitivities, with four digits."""
    return str(value) if value < 10**7 else f"{value:.4g}"


def write_fraction(value: Fraction) -> str:
    """Return "a/b", which `Fraction` reads back exactly."""
    return f"{value.numerator}/{value.denominator}"


def align(rows: Sequence[tuple[str, ...]], *, left: int) -> list[str]:
    """Return the rows as lines of aligned columns: the first `left` to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
