"""Measure a subject of the sparse table: errors of plandp.mean and of the oracle, and what they do not reach."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import plandp
from plandp_lab.item_cells import ItemCell, Subject
from plandp_lab.item_oracle import ItemOracle, item_error
from plandp_lab.item_tables import FloatArray

POPULAR = 20  # items, of which it is looked at whether what is stated about them is true
OVER_PROTOTYPE, OVER_AUTHORS, OVER_ORACLE, OVER_ZEROS = 1.05, 0.5, 1.1, 1.0  # what the table marks


@dataclass(frozen=True, kw_only=True)
class Stated:
    """How a run's errors compare with those that its release stated."""

    to_forecast: float  # the error over the forecast
    off: float  # mean square of error over expected error, of the most popular items
    held: float  # share of their 95% intervals that hold the mean

    @classmethod
    def of(cls, release: plandp.MeanRelease, mean: FloatArray) -> "Stated":
        """Compare a release with the mean it is of."""
        assert release.error_std is not None
        popular, interval = np.argsort(-mean, kind="stable")[:POPULAR], release.interval(0.95)
        error = release.estimate - mean
        return cls(
            to_forecast=float(np.linalg.norm(error, ord=release.error_norm)) / release.forecast.error,
            off=float(np.mean((error / release.error_std)[popular] ** 2)),
            held=float(np.mean(((interval.low <= mean) & (mean <= interval.high))[popular])),
        )


@dataclass(frozen=True, kw_only=True)
class ItemRun:
    """The errors of one run."""

    plan: float
    oracle: FloatArray  # by radius
    zeros: float
    stated: Stated


def measure(subject: Subject, runs: int) -> Iterator[list[ItemRun]]:
    """Run all lines of the subject `runs` times, on the same tables: one list of errors, by line, for each run."""
    for run in range(runs):
        rng = np.random.default_rng([zlib.crc32(subject.name.encode()), run])
        if run == 0 or not subject.fixed:
            table = subject.table(rng)
            oracles = {p: ItemOracle.of(table, p) for p in {cell.error_norm for cell in subject.cells}}
        yield [_one_run(cell, oracles[cell.error_norm], rng) for cell in subject.cells]


def _one_run(cell: ItemCell, oracle: ItemOracle, rng: np.random.Generator) -> ItemRun:
    table = oracle.table
    release = plandp.mean(
        table.rows,
        kind="binary" if table.binary else "nonnegative",
        bounds=(0, table.high),
        rho=cell.rho,
        error_norm=cell.error_norm,
        refine=cell.refine,
        testing_seed=int(rng.integers(2**62)),
    )
    return ItemRun(
        plan=item_error(release.estimate, table, cell.error_norm),
        oracle=oracle.errors(float(cell.rho), rng),
        zeros=item_error(np.zeros(len(table.mean)), table, cell.error_norm),
        stated=Stated.of(release, table.mean),
    )


@dataclass(frozen=True, kw_only=True)
class ItemSummary:
    """What the runs of one line came to: medians, the worst run, and ratios."""

    name: str
    cell: ItemCell
    runs: int
    plan: float
    worst: float  # over the median
    oracle: float
    zeros: float
    stated: Stated  # median, mean, mean

    @classmethod
    def of(cls, name: str, cell: ItemCell, runs: list[ItemRun]) -> "ItemSummary":
        """Summarise the runs of a line; the oracle takes the radius that is best in the median."""
        plan = np.array([run.plan for run in runs])
        return cls(
            name=name,
            cell=cell,
            runs=len(runs),
            plan=float(np.median(plan)),
            worst=float(plan.max() / np.median(plan)),
            oracle=float(np.median([run.oracle for run in runs], axis=0).min()),
            zeros=float(np.median([run.zeros for run in runs])),
            stated=Stated(
                to_forecast=float(np.median([run.stated.to_forecast for run in runs])),
                off=float(np.mean([run.stated.off for run in runs])),
                held=float(np.mean([run.stated.held for run in runs])),
            ),
        )

    @property
    def to_oracle(self) -> float:
        """Median error over the oracle's."""
        return self.plan / self.oracle

    @property
    def to_prototype(self) -> float | None:
        """Median error over the prototype's."""
        return None if self.cell.prototype is None else self.plan / self.cell.prototype

    @property
    def to_authors(self) -> float | None:
        """Median error over that of the paper's authors."""
        return None if self.cell.authors is None else self.plan / self.cell.authors

    @property
    def to_zeros(self) -> float:
        """Median error over that of answering zero everywhere."""
        return self.plan / self.zeros

    @property
    def marks(self) -> tuple[str, ...]:
        """What this line does not reach."""
        if not self.cell.held_to:
            return ()
        found = (
            (f"over PLAN-B+ x{OVER_PROTOTYPE:g}", self.to_prototype, OVER_PROTOTYPE),
            (f"over authors x{OVER_AUTHORS:g}", self.to_authors if self.cell.halved else None, OVER_AUTHORS),
            (f"over oracle x{OVER_ORACLE:g}", self.to_oracle if self.cell.error_norm == 2 else None, OVER_ORACLE),
            ("worse than zeros", self.to_zeros, OVER_ZEROS),
        )
        return tuple(name for name, ratio, limit in found if ratio is not None and ratio > limit)
