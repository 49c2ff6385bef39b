"""A door that the audit watches: the metered door, with a note of all that passes and answers by a script."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from plandp.noise.bits import SeededBits
from plandp.noise.exponential_choice import Candidates, Choices
from plandp.noise.meter import IntegerArray, MeteredNoise
from plandp.noise.sampler import ExactSampler

Script = Callable[[int, IntegerArray, IntegerArray], IntegerArray]
"""From the number of a query, the query and what the door made of it to what is answered."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Asked:
    """One query, or one round of choices, as it came to the door.  Holds data: never to leave the audit.

    Of choices, the query is the public number of grid points of each, and the answer the points that were chosen.
    """

    step: str
    query: IntegerArray
    squared_sensitivity: int
    rho: Fraction
    noise_added: bool  # whether exactly what was drawn came on top of the query
    answer: IntegerArray
    candidates: tuple[Candidates, ...] = ()


class WatchedSampler:
    """Exact draws from seeded bits, with a note of how many of which σ² were asked for."""

    name = "exact"
    insecure = True

    def __init__(self, seed: int) -> None:
        self._exact = ExactSampler(SeededBits(seed))
        self.drawn: list[tuple[int, Fraction]] = []
        self.last: IntegerArray = np.zeros(0, np.int64)

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        """Return `count` draws of N_Z(0, sigma2)."""
        self.drawn.append((count, sigma2))
        self.last = self._exact.draw(count, sigma2)
        return self.last


class WatchedDoor(MeteredNoise):
    """The metered door itself, with predictable noise; what it would answer can be replaced by a script."""

    def __init__(self, *, reserved: Fraction, seed: int, script: Script | None = None) -> None:
        self.watched = WatchedSampler(seed)
        bits, choices = SeededBits(seed + 1), SeededBits(seed + 1, purpose="choices ")
        super().__init__(reserved=reserved, sampler=self.watched, coins=bits, choices=choices)
        self.asked: list[Asked] = []
        self.chosen: list[tuple[int, Fraction]] = []  # how many choices were made at which rate
        self._script = script

    def release(self, query: IntegerArray, *, squared_sensitivity: int, rho: Fraction, step: str) -> IntegerArray:
        """Release as the metered door does, take a note, and answer by the script."""
        noisy = super().release(query, squared_sensitivity=squared_sensitivity, rho=rho, step=step)
        exact = np.asarray(query).astype(np.object_)
        added = noisy.size == self.watched.last.size and bool(
            np.all(noisy.ravel().astype(np.object_) == exact.ravel() + self.watched.last.astype(np.object_).ravel())
        )
        answer = noisy if self._script is None else self._script(len(self.asked), query, noisy)
        self.asked.append(
            Asked(
                step=step,
                query=query.copy(),
                squared_sensitivity=squared_sensitivity,
                rho=rho,
                noise_added=added,
                answer=answer,
            )
        )
        return answer

    def choose(self, candidates: Choices, *, sensitivity: int, rho: Fraction, step: str) -> list[int]:
        """Choose as the metered door does, take a note, and answer by the script, within the grid."""
        held = tuple(candidates)
        points = np.array(super().choose(held, sensitivity=sensitivity, rho=rho, step=step), np.object_)
        sizes = np.array([sum(each.widths.tolist()) for each in held], np.object_)
        answer = points if self._script is None else self._script(len(self.asked), sizes, points)
        answer = np.minimum(np.maximum(answer, 0), sizes - 1)
        self.asked.append(
            Asked(
                step=step,
                query=sizes,
                squared_sensitivity=len(held) * sensitivity**2,
                rho=rho,
                noise_added=True,
                answer=answer,
                candidates=held,
            )
        )
        return [int(point) for point in answer]

    def _draw_choices(self, candidates: Choices, choices: int, rate: Fraction) -> list[int]:
        chosen = super()._draw_choices(candidates, choices, rate)
        self.chosen.append((len(chosen), rate))
        return chosen
