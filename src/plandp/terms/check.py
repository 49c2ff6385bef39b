"""What can be said about a release before any row is read: all of it public, none of it costs anything."""

import json
import math
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from plandp.errors import ArgumentError
from plandp.terms.columns import FloatArray, Label
from plandp.terms.design import Split
from plandp.terms.receipt import budget_line, write_fraction
from plandp.terms.sparse_design import SparseSplit
from plandp.terms.text_table import align, show_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "plandp/check/1"
_SHOWN_COLUMNS = 10


@dataclass(frozen=True, kw_only=True)
class Point:
    """The prediction at another n or ρ, everything else the same."""

    n: int
    rho: float
    error: float
    gaussian_error: float
    feasible: bool


@dataclass(frozen=True, kw_only=True)
class WiderBounds:
    """The prediction for bounds `times` as wide around the same middle, spreads and smallest_spread the same."""

    times: float
    error: float
    center_share: float
    feasible: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Check:
    """What `plandp.mean` would do with these public numbers; errors are medians, in units of error_scale.

    The error is the distance to the mean of the rows, if they are about Gaussian with `spread`.  It covers noise and
    clipping, not the sampling of the rows, which alone makes `sampling_error`.
    """

    feasible: bool
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    n: int
    d: int
    labels: tuple[Label, ...]
    rho: Fraction
    method: str
    error_norm: float
    centers: str
    spreads: str
    radius: str
    split: Split | SparseSplit
    spread: FloatArray
    spread_assumed: bool
    error: float
    error_in_spreads: float
    noise_std: FloatArray
    sampling_error: float
    gaussian_error: float
    smallest_n: int | None
    smallest_rho: float | None
    wider_bounds: tuple[WiderBounds, ...]
    by_rho: tuple[Point, ...]
    by_n: tuple[Point, ...]
    kind: str = "real"
    delta: float | None = None

    def __post_init__(self) -> None:
        for name in ("spread", "noise_std"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (self.d,):
                raise ArgumentError(name, "must hold one number per column")
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    def steps(self) -> tuple[tuple[str, Fraction], ...]:
        """Return the steps that will be paid for and what each costs, as the receipt will list them."""
        return tuple((step, rho) for step, rho in self.split.steps() if rho)

    def share(self, rho: Fraction) -> float:
        """Return the part of the whole budget that `rho` is."""
        return float(rho / self.rho)

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a picture of the predicted error against ρ and n; with a path (.svg, .png, .pdf) also kept there."""
        from plandp.report.check_picture import draw_check
        from plandp.report.saved import saved

        return saved(draw_check(self), path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; ρ and its shares are exact, as "a/b"."""
        return {
            "schema": SCHEMA,
            "feasible": self.feasible,
            "reasons": list(self.reasons),
            "warnings": list(self.warnings),
            "n": self.n,
            "d": self.d,
            "labels": list(self.labels),
            "rho": write_fraction(self.rho),
            "delta": self.delta,
            "method": self.method,
            "kind": self.kind,
            "error_norm": self.error_norm,
            "centers": self.centers,
            "spreads": self.spreads,
            "radius": self.radius,
            "split": {step: write_fraction(rho) for step, rho in self.steps()},
            "spread": self.spread.tolist(),
            "spread_assumed": self.spread_assumed,
            "error": self.error,
            "error_in_spreads": self.error_in_spreads,
            "noise_std": self.noise_std.tolist(),
            "sampling_error": self.sampling_error,
            "gaussian_error": self.gaussian_error,
            "smallest_n": self.smallest_n,
            "smallest_rho": self.smallest_rho,
            "wider_bounds": [vars(wider) for wider in self.wider_bounds],
            "by_rho": [vars(point) for point in self.by_rho],
            "by_n": [vars(point) for point in self.by_n],
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def __repr__(self) -> str:
        kind = "" if self.kind == "real" else f", kind {self.kind}"
        return "\n".join(
            [
                f"Check: {'feasible' if self.feasible else 'NOT FEASIBLE'}, method {self.method}{kind}",
                f"n = {_count(self.n, 'row')}, d = {_count(self.d, 'column')}",
                budget_line(self.rho, self.delta),
                *(f"Warning: {text}" for text in self.warnings),
                *(f"  {reason}" for reason in self.reasons),
                *self._errors(),
                "how the budget will be split",
                *align([(step, f"{float(rho):.4g}", f"{self.share(rho):.1%}") for step, rho in self.steps()]),
                *self._smallest(),
                *self._wider(),
            ]
        )

    def _errors(self) -> list[str]:
        norm = f"l{self.error_norm:g}"
        spreads = "the spread" if self.d == 1 else f"the {norm} norm of the spreads"
        if self.kind != "real":
            spreads = f"the {norm} norm of the means, the error of publishing zeros"
        lines = [
            f"predicted {norm} error {self.error:.3g}, which is {self.error_in_spreads:.2g} times {spreads}",
            *self._meaning(),
        ]
        lines += self._noise()
        if self.method != "gaussian":
            times = f"{self.gaussian_error / self.error:.2g} times as large"
            lines.append(f"  for comparison, the Gaussian mechanism: {self.gaussian_error:.3g}, {times}")
        lines.append(f"  for comparison, the sampling of {_count(self.n, 'row')}: {self.sampling_error:.3g}")
        return lines

    def _noise(self) -> list[str]:
        least, most = float(self.noise_std.min()), float(self.noise_std.max())
        if math.isclose(least, most):
            return [f"  standard deviation of the noise of a column: {least:.3g}"]
        if self.kind != "real" or self.d > _SHOWN_COLUMNS:
            return [f"  standard deviation of the noise of a column, in its own unit: {least:.3g} to {most:.3g}"]
        rows = [
            (f"  {show_label(label)}", f"{noise:.3g}", f"{noise / spread:.2g} of the spread")
            for label, noise, spread in zip(self.labels, self.noise_std.tolist(), self.spread.tolist(), strict=True)
        ]
        return ["  standard deviation of the noise, each column in its own unit:", *align(rows)]

    def _meaning(self) -> list[str]:
        if self.method == "gaussian":
            return ["  half of all releases are nearer to the mean of the rows"]
        if self.kind != "real":
            assumed = ["  assumed, as no spread is given: the i-th most popular item is in 1 of 2i rows"]
            if self.kind == "nonnegative":
                assumed += [
                    "  AND VALUES OF A TENTH OF THEIR BOUND: where bounds are far wider than values, this error is far",
                    "  too large; if it is known, give spread (--spread): each item's root mean square over all rows",
                ]
            return [
                "  half of all releases are nearer to the mean of the rows, if items come independently of each other;",
                "  rows of very unequal length cost more",
                *(assumed if self.spread_assumed else ["  for the root mean squares that are given as spread"]),
            ]
        if self.centers == "not found":
            return ["  of the noise, at most; beside it the estimate leans towards the middle of the bounds"]
        lost = ", unless a centre is lost" if self.centers == "doubtful" else ""
        assumed = [
            "  assumed, as no spread is given: spreads of a tenth of the width of the bounds;",
            "  if all of them are half as large, so is the error",
        ]
        return [
            f"  half of all releases are nearer to the mean of the rows{lost}",
            "  assumed: rows that are about Gaussian",
            *(assumed if self.spread_assumed else ["  for the spreads that are given"]),
        ]

    def _smallest(self) -> list[str]:
        if self.centers == "not needed" and self.kind == "real":
            return ["any n and any rho would work: nothing has to be found"]
        rows = "no n would work at this rho" if self.smallest_n is None else f"n = {self.smallest_n:,} at this rho"
        rho = "no rho would work at this n" if self.smallest_rho is None else f"rho = {self.smallest_rho:g} at this n"
        return [f"smallest that would work: {rows}; {rho}"]

    def _wider(self) -> list[str]:
        if not self.wider_bounds:
            return ["wider bounds would cost nothing"]
        rows = [("bounds", "error", "centres, of rho", "")]
        for wider in self.wider_bounds:
            times = wider.error / self.error
            rows.append(
                (
                    f"{wider.times:,.0f} times as wide",
                    f"{times:,.2f} x" if times < 1000 else f"{times:,.0f} x" if times < 1e9 else f"{times:.3g} x",
                    f"{wider.center_share:.1%}",
                    "" if wider.feasible else "not feasible",
                )
            )
        return ["what wider bounds would cost", *align(rows)]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
