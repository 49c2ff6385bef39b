"""Before spending, for sparse kinds: what `plandp.mean` and `plandp.mean_of_events` would do with public numbers."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from plandp.planner.prediction import PREDICT_GAUSSIAN
from plandp.planner.sparse_prediction import expect_sparse, radius_is_told
from plandp.planner.sparse_split import sparse_design
from plandp.planner.split import gaussian_design
from plandp.planner.variation import rho_around, rows_around, smallest_rho, smallest_rows
from plandp.terms.check import Check, Point
from plandp.terms.choices import REFINEMENTS
from plandp.terms.columns import FINEST_SPREAD_SHARE, Columns, FloatArray
from plandp.terms.sparse_design import SparseDesign
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

    @property
    def design(self) -> SparseDesign:
        """What a release with these numbers would be made by, all of its post-processing switched on."""
        return sparse_design(
            n=self.n,
            columns=self.columns,
            rho=self.rho,
            error_norm=self.error_norm,
            binary=self.binary,
            refine=frozenset(REFINEMENTS),
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

    def error(self) -> float:
        """The predicted error, in units of error_scale."""
        expected = expect_sparse(*self.moments, self.design)
        return min(median_error(expected.error_std / self.columns.error_scale, self.error_norm), self.zeros)

    def gaussian_error(self) -> float:
        """The error of the Gaussian mechanism of the bounds."""
        design = gaussian_design(n=self.n, columns=self.columns, rho=self.rho, error_norm=self.error_norm)
        return median_error(PREDICT_GAUSSIAN.expect(np.ones(self.columns.d), design).error_std, self.error_norm)

    def feasible(self, error: float | None = None) -> bool:
        """Whether the release is clearly better than zeros and its radius can be told."""
        return radius_is_told(self.design) and (self.error() if error is None else error) <= WORTH_IT * self.zeros

    def point(self, gaussian_noise: float) -> Point:
        """One point of a curve; the Gaussian mechanism's error is `gaussian_noise` over n√ρ."""
        error = self.error()
        return Point(
            n=self.n,
            rho=float(self.rho),
            error=error,
            gaussian_error=gaussian_noise / (self.n * math.sqrt(self.rho)),
            feasible=self.feasible(error),
        )

    def answer(self, *, kind: str, warnings: tuple[str, ...]) -> Check:
        """All that can be said."""
        design, error, (_, second) = self.design, self.error(), self.moments
        told, found = radius_is_told(design), error <= WORTH_IT * self.zeros
        gaussian_error = self.gaussian_error()
        gaussian_noise = gaussian_error * self.n * math.sqrt(self.rho)
        return Check(
            feasible=told and found,
            reasons=(
                "means will be told from noise"
                if found
                else f"most means cannot be told from noise: the error is over {WORTH_IT:.0%} of that of zeros",
                "the clipping radius will be found" if told else "too few rows or rho to find the clipping radius",
                f"left for the noise of the means: {float((design.split.first_sum + design.split.sum) / self.rho):.1%}"
                " of rho",
            ),
            warnings=warnings,
            n=self.n,
            d=design.d,
            labels=self.columns.labels,
            rho=self.rho,
            method="plan",
            error_norm=self.error_norm,
            centers="not needed",
            spreads="found" if found else "not found",
            radius="found" if told else "doubtful",
            split=design.split,
            spread=np.sqrt(second),
            spread_assumed=self.columns.spread is None,
            error=error,
            error_in_spreads=error / self.zeros,
            noise_std=expect_sparse(*self.moments, design).noise_std,
            sampling_error=median_error(
                np.sqrt(second) / self.columns.error_scale / np.sqrt(float(self.n)), self.error_norm
            ),
            gaussian_error=gaussian_error,
            smallest_n=smallest_rows(lambda n: replace(self, n=n).feasible()),
            smallest_rho=smallest_rho(lambda rho: replace(self, rho=rho).feasible()),
            wider_bounds=(),
            by_rho=tuple(replace(self, rho=rho).point(gaussian_noise) for rho in rho_around(self.rho)),
            by_n=tuple(replace(self, n=n).point(gaussian_noise) for n in rows_around(self.n)),
            kind=kind,
        )
