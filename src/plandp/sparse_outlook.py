"""Before spending, for sparse kinds: what `plandp.mean` and `plandp.mean_of_events` would do with public numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from plandp.planner.item_prospects import ItemFuture, ItemNumbers, ItemProspect
from plandp.planner.prediction import PREDICT_GAUSSIAN
from plandp.planner.split import gaussian_design
from plandp.planner.variation import rho_around, rows_around, smallest_rho, smallest_rows
from plandp.terms.check import Check, Point
from plandp.terms.columns import FINEST_SPREAD_SHARE, Columns, FloatArray
from plandp.theory.forecast import median_error
from plandp.theory.stretch import norm

ASSUMED_VALUE = 0.1  # of the bound, where values are not ones
WORTH_IT = 0.5  # of the error of publishing zeros: a larger one is not called feasible


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseQuestion:
    """The public numbers of one release, to be varied one at a time."""

    n: int
    columns: Columns
    rho: Fraction
    error_norm: float
    binary: bool
    future: ItemFuture

    @cached_property
    def prospect(self) -> ItemProspect:
        """What a release with these numbers would come to; no method is told the spreads."""
        mean, second_moment = self.moments
        return self.future(
            ItemNumbers(
                n=self.n,
                columns=replace(self.columns, spread=None),
                rho=self.rho,
                error_norm=self.error_norm,
                mean=mean,
                second_moment=second_moment,
            )
        )

    @property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and second moments given or assumed."""
        value = self.columns.high * (1.0 if self.binary else ASSUMED_VALUE)
        if self.columns.spread is None:
            popularity = 0.5 / np.arange(1.0, self.columns.d + 1.0)
            return popularity * value, popularity * value**2
        high = self.columns.high
        second = np.clip(self.columns.spread, FINEST_SPREAD_SHARE * high, high) ** 2  # nor zero, where squares would be
        return (second, second) if self.binary else (np.sqrt(second), second)

    @property
    def zeros(self) -> float:
        """The error of publishing zeros."""
        return norm(self.moments[0] / self.columns.error_scale, self.error_norm)

    @cached_property
    def error(self) -> float:
        """The predicted error, in units of error_scale."""
        error = median_error(self.prospect.error_std / self.columns.error_scale, self.error_norm)
        return min(error, self.zeros) if self.prospect.shrunk else error

    @property
    def sampling_error(self) -> float:
        """How far the mean of so many rows is from that of everybody."""
        mean, second = self.moments
        # of values no more is assumed than root mean squares
        spread = np.sqrt(np.maximum(second - mean**2, FINEST_SPREAD_SHARE**2) if self.binary else second)
        return median_error(spread / self.columns.error_scale / np.sqrt(float(self.n)), self.error_norm)

    def gaussian_error(self) -> float:
        """The error of the Gaussian mechanism of the bounds."""
        design = gaussian_design(n=self.n, columns=self.columns, rho=self.rho, error_norm=self.error_norm)
        return median_error(PREDICT_GAUSSIAN.expect(np.ones(self.columns.d), design).error_std, self.error_norm)

    @property
    def worth_it(self) -> bool:
        """Whether the release is clearly better than zeros."""
        return self.error <= WORTH_IT * self.zeros

    @property
    def feasible(self) -> bool:
        """Whether it is worth it and all that it needs can be found."""
        return self.prospect.findings.complete and self.worth_it

    def problems(self) -> Iterator[str]:
        """Say why it is not feasible."""
        findings = self.prospect.findings
        if not self.worth_it:
            yield f"most means cannot be told from noise: the error is over {WORTH_IT:.0%} of that of zeros"
        if findings.centers == "doubtful":
            yield "too few rows or rho to find the medians in the random basis"
        if findings.spreads == "doubtful":
            yield "too few rows or rho to find the variances: the noise is shaped by noise"
        if findings.radius == "doubtful":
            yield "too few rows or rho to find the clipping radius"

    @property
    def smallest_n(self) -> int | None:
        """The number of rows from which on it is feasible."""
        return smallest_rows(lambda n: replace(self, n=n).feasible)

    def point(self, gaussian_noise: float) -> Point:
        """One point of a curve; the Gaussian mechanism's error is `gaussian_noise` over n√ρ."""
        return Point(
            n=self.n,
            rho=float(self.rho),
            error=self.error,
            gaussian_error=gaussian_noise / (self.n * math.sqrt(self.rho)),
            feasible=self.feasible,
        )

    def answer(self, *, method: str, kind: str, warnings: tuple[str, ...], delta: float | None) -> Check:
        """All that can be said."""
        prospect, findings = self.prospect, self.prospect.findings
        gaussian_error = self.gaussian_error()
        gaussian_noise = gaussian_error * self.n * math.sqrt(self.rho)
        return Check(
            feasible=self.feasible,
            reasons=(
                *(["means will be told from noise"] if self.worth_it else []),
                *self.problems(),
                *(["the clipping radius will be found"] if findings.radius == "found" else []),
                f"left for the noise of the means: {float(prospect.means / self.rho):.1%} of rho",
            ),
            warnings=warnings,
            n=self.n,
            d=self.columns.d,
            labels=self.columns.labels,
            rho=self.rho,
            method=method,
            error_norm=self.error_norm,
            centers=findings.centers,
            spreads=findings.spreads if self.worth_it or not prospect.shrunk else "not found",
            radius=findings.radius,
            split=prospect.split,
            spread=np.sqrt(self.moments[1]),
            spread_assumed=self.columns.spread is None,
            error=self.error,
            error_in_spreads=self.error / self.zeros,
            noise_std=prospect.noise_std,
            sampling_error=self.sampling_error,
            gaussian_error=gaussian_error,
            smallest_n=self.smallest_n,
            smallest_rho=smallest_rho(lambda rho: replace(self, rho=rho).feasible),
            wider_bounds=(),
            by_rho=tuple(replace(self, rho=rho).point(gaussian_noise) for rho in rho_around(self.rho)),
            by_n=tuple(replace(self, n=n).point(gaussian_noise) for n in rows_around(self.n)),
            kind=kind,
            delta=delta,
        )
