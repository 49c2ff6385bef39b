"""What a bound on an error consists of, and the sampling facts that all bounds share."""

import math
from dataclasses import dataclass

# Chebyshev puts three quarters of a law within two deviations; of n rows fewer than two thirds lie there with
# probability exp(-n·KL(2/3 ‖ 3/4)) at most (Chernoff).  The paper writes exp(-Ω(n)) (lines 536 and 1433).
TWO_THIRDS_RATE = 2.0 / 3.0 * math.log(8.0 / 9.0) + 1.0 / 3.0 * math.log(4.0 / 3.0)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Something that a bound needs: `given` must not exceed `allowed`."""

    name: str
    given: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether it does not."""
        return self.given <= self.allowed


@dataclass(frozen=True, kw_only=True)
class ErrorBound:
    """A bound on the expected ℓp error: the sum of its terms, and no bound at all where a condition fails.

    `derived` says which constants were derived here because the paper has only Õ; `printed` is the paper's own
    expression, without the constants and logarithms that its Õ hides.
    """

    sampling: float
    clipping: float
    noise: float
    failure: float  # the probability that something fails, times the largest error
    radius: float  # C, at most
    rows_clipped: float  # |J|, at most
    conditions: tuple[Condition, ...]
    printed: float
    derived: str

    @property
    def holds(self) -> bool:
        """Whether all conditions hold."""
        return all(condition.holds for condition in self.conditions)

    @property
    def error(self) -> float:
        """The bound; infinite where a condition fails."""
        return self.sampling + self.clipping + self.noise + self.failure if self.holds else math.inf


def enough_rows_for_two_thirds(*, rows: float, columns: float, failure: float) -> Condition:
    """So many rows that in every column two thirds lie within two deviations of the mean."""
    needed = math.log(columns / failure) / TWO_THIRDS_RATE
    return Condition(name="rows for two thirds within two deviations", given=needed, allowed=rows)
