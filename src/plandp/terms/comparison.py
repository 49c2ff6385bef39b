"""Estimators side by side: what to expect of each, what was measured on public data, and which to take."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from plandp.errors import ArgumentError
from plandp.terms.columns import FloatArray
from plandp.terms.receipt import budget_line, read_delta, read_fraction, write_fraction
from plandp.terms.text_table import align

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SCHEMA = "plandp/comparison/1"
OWN_BUDGET = "rho-zCDP"
_NOT_A_COMPARISON = "is not a comparison written by Comparison.to_json; pass that text unchanged"


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One estimator: its predicted error, whether it finds what it needs, and its errors on public data, run by run.

    `premise` is what it takes for true without being told; `smallest_n` the rows from which on nothing is in doubt.
    `predicted_error` is None for what comes from other libraries; `measured_errors` is empty where nothing was run.
    `budget` says how the privacy of a run is the ρ that was asked for.
    """

    method: str
    predicted_error: float | None
    feasible: bool
    problems: tuple[str, ...] = ()
    premise: str | None = None
    smallest_n: int | None = None
    measured_errors: tuple[float, ...] = ()
    budget: str = OWN_BUDGET

    @property
    def measured_error(self) -> float | None:
        """The median of the measured errors."""
        return float(median(self.measured_errors)) if self.measured_errors else None

    @property
    def error(self) -> float:
        """What counts in the comparison: the measured error where there is one, else the predicted one."""
        error = self.predicted_error if self.measured_error is None else self.measured_error
        assert error is not None  # or there would be nothing to compare
        return error


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Estimators by their errors, the one to take first; errors are medians, in units of error_scale.

    An error is the distance to the mean of the rows: noise and clipping, not the sampling of the rows, which alone
    makes `sampling_error`.  `oracle_error` is that of an estimator that is told the centre, the spreads and the
    clipping radius and spends all of ρ on noise; it is not private, and for scale only: another radius can be better.
    """

    recommended: str
    reason: str
    contenders: tuple[Contender, ...]
    oracle_error: float
    sampling_error: float
    n: int
    d: int
    rho: Fraction
    error_norm: float
    spread: FloatArray
    assumed: str
    runs: int = 0
    skipped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kind: str = "real"
    delta: float | None = None

    def __post_init__(self) -> None:
        values = np.array(self.spread, dtype=np.float64)
        if values.shape != (self.d,):
            raise ArgumentError("spread", "must hold one number per column")
        values.flags.writeable = False
        object.__setattr__(self, "spread", values)

    def __getitem__(self, method: str) -> Contender:
        for contender in self.contenders:
            if contender.method == method:
                return contender
        raise KeyError(method)

    def to_pandas(self) -> "DataFrame":
        """Return one row per estimator, as a pandas DataFrame (extra: pandas)."""
        from plandp.report.comparison_table import comparison_to_pandas

        return comparison_to_pandas(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a picture of the errors as bars; with a path (.svg, .png, .pdf) also kept there (extra: plot)."""
        from plandp.report.comparison_picture import draw_comparison
        from plandp.report.saved import saved

        return saved(draw_comparison(self), path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; ρ is exact, as "a/b"."""
        return {
            "schema": SCHEMA,
            "recommended": self.recommended,
            "reason": self.reason,
            "contenders": [
                {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(contender).items()}
                for contender in self.contenders
            ],
            "oracle_error": self.oracle_error,
            "sampling_error": self.sampling_error,
            "n": self.n,
            "d": self.d,
            "rho": write_fraction(self.rho),
            "error_norm": self.error_norm,
            "spread": self.spread.tolist(),
            "assumed": self.assumed,
            "runs": self.runs,
            "skipped": list(self.skipped),
            "warnings": list(self.warnings),
            "kind": self.kind,
            "delta": self.delta,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; `from_json` restores every bit of it."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Comparison":
        """Return the comparison that `to_json` wrote, equal to the last bit."""
        try:
            values = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise ArgumentError("text", _NOT_A_COMPARISON) from None
        if not isinstance(values, dict):
            raise ArgumentError("text", _NOT_A_COMPARISON)
        if values.get("schema") != SCHEMA:
            raise ArgumentError(
                "text", f"must have schema {SCHEMA!r}; read it with the version of plandp that wrote it"
            )
        try:
            return cls(
                recommended=_text(values["recommended"]),
                reason=_text(values["reason"]),
                contenders=tuple(_read_contender(contender) for contender in values["contenders"]),
                oracle_error=float(values["oracle_error"]),
                sampling_error=float(values["sampling_error"]),
                n=_count(values["n"]),
                d=_count(values["d"]),
                rho=read_fraction(values["rho"]),
                error_norm=float(values["error_norm"]),
                spread=np.array([float(value) for value in values["spread"]]),
                assumed=_text(values["assumed"]),
                runs=_count(values["runs"]),
                skipped=tuple(map(_text, values["skipped"])),
                warnings=tuple(map(_text, values["warnings"])),
                kind=_text(values.get("kind", "real")),  # what version 0.1.0 wrote first had none
                delta=read_delta(values.get("delta")),  # nor this
            )
        except ArgumentError:
            raise
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
            raise ArgumentError("text", _NOT_A_COMPARISON) from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        rows = "1 row" if self.n == 1 else f"{self.n:,} rows"
        columns = "1 column" if self.d == 1 else f"{self.d:,} columns"
        kind = "" if self.kind == "real" else f", kind {self.kind}"
        rows_are = "rows that are about Gaussian" if self.kind == "real" else "items that come independently"
        return "\n".join(
            [
                f"Comparison: {self.reason}",
                f"n = {rows}, d = {columns}{kind}",
                budget_line(self.rho, self.delta),
                *(f"Warning: {text}" for text in self.warnings),
                f"assumed for predictions: {rows_are},",
                f"  {self.assumed}",
                *self._table(),
                *self._notes(),
            ]
        )

    def _table(self) -> list[str]:
        norm = f"l{self.error_norm:g} error"
        best = self[self.recommended].error
        head = ["method", f"predicted {norm}", *(["measured", "worst run"] if self.runs else []), "to recommended", ""]
        rows = [tuple(head)]
        for contender in self.contenders:
            measured = contender.measured_error
            worst = f"{max(contender.measured_errors):.3g}" if contender.measured_errors else ""
            rows.append(
                (
                    contender.method,
                    _error(contender.predicted_error),
                    *((_error(measured), worst) if self.runs else ()),
                    _times(contender.error / best),
                    "" if contender.feasible else "in doubt",
                )
            )
        empty = ("", "") if self.runs else ()
        rows.append(("(oracle)", _error(self.oracle_error), *empty, _times(self.oracle_error / best), ""))
        rows.append(("(sampling)", _error(self.sampling_error), *empty, _times(self.sampling_error / best), ""))
        return align(rows)

    def _notes(self) -> list[str]:
        told = "centre, spreads" if self.kind == "real" else "the popularity of items"
        lines = []
        for contender in self.contenders:
            lines += [f"{contender.method}: {problem}" for problem in contender.problems]
            if contender.premise is not None:
                lines.append(f"{contender.method}: {contender.premise}")
            if contender.budget != OWN_BUDGET:
                lines.append(f"{contender.method}: {contender.budget}")
        lines += [
            f"(oracle): told {told} and radius, all of rho for noise; not private",
            f"(sampling): how far the mean of {self.n:,} rows is from that of everybody, without any noise",
            *(f"left out: {text}" for text in self.skipped),
        ]
        if self.runs:
            lines.append(
                f"measured: medians of {self.runs} runs on data that was declared public; NOT PRIVATE for any other"
            )
        return lines


def _read_contender(values: Mapping[str, Any]) -> Contender:
    predicted, premise, smallest = values["predicted_error"], values["premise"], values["smallest_n"]
    if type(values["feasible"]) is not bool:
        raise TypeError
    return Contender(
        method=_text(values["method"]),
        predicted_error=None if predicted is None else float(predicted),
        feasible=values["feasible"],
        problems=tuple(map(_text, values["problems"])),
        premise=None if premise is None else _text(premise),
        smallest_n=None if smallest is None else _count(smallest),
        measured_errors=tuple(float(error) for error in values["measured_errors"]),
        budget=_text(values["budget"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: object) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _error(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _times(ratio: float) -> str:
    if not math.isfinite(ratio):
        return ""
    return f"{ratio:.2f} x" if ratio < 100 else f"{ratio:,.0f} x" if ratio < 1e9 else f"{ratio:.3g} x"
