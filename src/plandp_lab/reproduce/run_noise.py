"""How sure a ratio of two medians is, by the spread of the runs."""

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.random import default_rng

from plandp_lab.reproduce.results import Quartiles

FEWEST = 5  # runs; with fewer, their own spread says too little
STANDARD_ERRORS = 2.0
FAILED = 3.0  # times the median of the cell
AGAIN = 200  # times that runs are drawn again from the runs
Errors = dict[int, float]  # by run


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio that the runs leave open between value/factor and value·factor, two standard errors to either side."""

    value: float
    factor: float

    @property
    def low(self) -> float:
        """No less than this, as far as the runs tell."""
        return self.value / self.factor

    @property
    def high(self) -> float:
        """No more than this."""
        return self.value * self.factor

    def over(self, other: "Ratio") -> "Ratio":
        """Of two ratios that were measured on other tables."""
        return Ratio(value=self.value / other.value, factor=_factor(log(self.factor), log(other.factor)))

    @property
    def inverse(self) -> "Ratio":
        """The other way round."""
        return Ratio(value=1.0 / self.value, factor=self.factor)


def ratio_of_runs(ours: Errors, other: Errors) -> Ratio:
    """Of medians of two who ran on the same tables: runs are drawn again together, so that luck they share cancels."""
    first, second = (np.array(list(errors.values())) for errors in (ours, other))
    shared = sorted(set(ours) & set(other))
    if len(shared) < FEWEST:
        return ratio_to_figure(Quartiles.of(first), Quartiles.of(second).median, len(second), Quartiles.of(second))
    both = np.array([[ours[run], other[run]] for run in shared])
    drawn = default_rng(len(shared)).integers(0, len(shared), (AGAIN, len(shared)))
    medians = np.median(both[drawn], axis=1)
    std = float(np.std(np.log(medians[:, 0] / medians[:, 1])))
    return Ratio(value=float(np.median(first) / np.median(second)), factor=_factor(STANDARD_ERRORS * std))


def ratio_to_figure(ours: Quartiles, median: float, runs: int | None, spread: Quartiles | None = None) -> Ratio:
    """Of our median to one whose runs are not at hand: as widely spread as ours, or as `spread` where that is wider."""
    if max(ours.runs, runs or 0) < FEWEST:
        return Ratio(value=ours.median / median, factor=inf)
    widest = max(found.relative_width for found in (ours, spread) if found is not None)
    errors = [STANDARD_ERRORS * standard_error(widest, count) for count in (ours.runs, runs) if count]
    return Ratio(value=ours.median / median, factor=_factor(*errors))


def standard_error(relative_width: float, runs: int) -> float:
    """Of a median, relative to it: 1.25 deviations over √runs, a deviation being .74 of the quartiles' distance."""
    return 1.2533 * 0.7413 * relative_width / float(np.sqrt(runs))


def failed_runs(errors: Errors) -> int:
    """Runs whose error is far from what is usual in the cell."""
    values = np.array(list(errors.values()))
    return int((values > FAILED * np.median(values)).sum())


def _factor(*logs: float) -> float:
    return exp(min(700.0, float(np.sqrt(sum(each**2 for each in logs)))))
