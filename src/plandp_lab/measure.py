"""Measure a cell: fresh tables, fresh seeds, the noise error of plandp and of what it is compared with."""

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import plandp
from plandp_lab.cells import Cell
from plandp_lab.oracle import oracle_mean

FloatArray = NDArray[np.float64]

SMALLEST_SPREAD = 2.0**-4
OVER_REFERENCE, OVER_MEDIAN, OVER_BASELINE = 1.05, 2.0, 1.25  # what the table marks


def one_run(cell: Cell, run: int) -> dict[str, float]:
    """Errors ‖estimate - empirical mean‖ by method, on one fresh table with one fresh seed."""
    rng = np.random.default_rng([zlib.crc32(cell.label.encode()), run])
    table = cell.case.table(rng)
    bound = cell.case.bound
    mean = np.clip(table, -bound, bound).mean(axis=0)

    def error(estimate: FloatArray) -> float:
        return float(np.linalg.norm(estimate - mean, ord=cell.error_norm))

    errors = {"oracle": error(oracle_mean(table, float(cell.rho), cell.error_norm, rng))}
    # a ratio to a baseline needs no more than the plain number of runs
    baselines = ("gaussian", "unscaled") if cell.compared and run % cell.times_runs == 0 else ()
    for method in ("plan", *baselines):
        release = plandp.mean(
            table,
            bounds=(-bound, bound),
            rho=cell.rho,
            error_norm=cell.error_norm,
            smallest_spread=SMALLEST_SPREAD,
            method=method,
            testing_seed=int(rng.integers(2**62)),
        )
        errors[method] = error(release.estimate)
    return errors


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What the runs of one cell came to: medians, the worst run, and ratios."""

    label: str
    runs: int
    plan: float
    worst: float  # over the median
    oracle: float
    oracle_worst: float
    reference: float | None
    gaussian: float | None
    unscaled: float | None

    @classmethod
    def of(cls, cell: Cell, runs: list[dict[str, float]]) -> "Summary":
        """Summarise the errors of all runs of a cell."""
        plan, oracle = (np.array([errors[method] for errors in runs]) for method in ("plan", "oracle"))

        def median(method: str) -> float | None:
            found = [errors[method] for errors in runs if method in errors]
            return float(np.median(found)) if found else None

        return cls(
            label=cell.label,
            runs=len(runs),
            plan=float(np.median(plan)),
            worst=float(plan.max() / np.median(plan)),
            oracle=float(np.median(oracle)),
            oracle_worst=float(oracle.max() / np.median(oracle)),
            reference=cell.reference,
            gaussian=median("gaussian"),
            unscaled=median("unscaled"),
        )

    @property
    def to_oracle(self) -> float:
        """Median error over the oracle's."""
        return self.plan / self.oracle

    @property
    def to_reference(self) -> float | None:
        """Median error over the prototype's."""
        return None if self.reference is None else self.plan / self.reference

    @property
    def to_baseline(self) -> float | None:
        """Median error over that of the better of the Gaussian mechanism and the unscaled method."""
        if self.gaussian is None or self.unscaled is None:
            return None
        return self.plan / min(self.gaussian, self.unscaled)

    @property
    def marks(self) -> tuple[str, ...]:
        """What this cell does not reach."""
        found = (
            ("over reference", self.to_reference, OVER_REFERENCE),
            ("bad run", self.worst, OVER_MEDIAN),
            ("over baseline", self.to_baseline, OVER_BASELINE),
        )
        return tuple(f"{name} x{limit:g}" for name, ratio, limit in found if ratio is not None and ratio > limit)
