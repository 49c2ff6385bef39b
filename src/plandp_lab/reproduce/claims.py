"""Claims of the paper as predicates on what was measured: each says yes or no, and from which ratios."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isinf
from typing import Protocol

import numpy as np

from plandp_lab.reproduce.panels import Measured, Point


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a claim holds for an entrant, and the figures it was judged by; None: not measured."""

    entrant: str
    holds: bool | None
    detail: str

    def __str__(self) -> str:
        said = {True: "yes", False: "NO", None: "not measured"}[self.holds]
        return f"{self.entrant}: {said}" + (f" ({self.detail})" if self.detail else "")


class Judge(Protocol):
    """Judges one entrant by one panel."""

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """Say yes or no."""
        ...


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The paper's sentence, shortened, where it stands, and what would make it true."""

    sentence: str
    place: str
    panel: int
    judge: Judge
    entrants: tuple[str, ...] = ("plan", "plan-classic")
    measure: str | None = None  # None: the one that is drawn

    def verdicts(self, measured: Measured) -> list[Verdict]:
        """For each entrant that could be meant by "PLAN"."""
        return [self.judge(measured, entrant) for entrant in self.entrants if entrant in measured.panel.entrants]


@dataclass(frozen=True, kw_only=True)
class Between:
    """Median error over another's lies from `least` to `most` at every point with x in [low, high]."""

    other: str
    least: float = 0.0
    most: float = inf
    low: float = -inf
    high: float = inf
    smallest_budget: bool = False  # look at the last line only

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """Compare at all points at once."""
        found = [ratio for point, ratio in _ratios(measured, entrant, self.other) if self.low <= point.x <= self.high]
        if not found:
            return Verdict(entrant=entrant, holds=None, detail="")
        good = sum(self.least <= ratio <= self.most for ratio in found)
        return Verdict(
            entrant=entrant,
            holds=good == len(found),
            detail=f"{good} of {len(found)} cells; {_span(found)} times {self.other}",
        )


@dataclass(frozen=True, kw_only=True)
class Grows:
    """Another's median error over the entrant's grows with x (or falls) along every line, but for run noise."""

    other: str
    falls: bool = False
    slack: float = 0.95

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """First against last, and no step back by more than the slack."""
        rising, told = [], []
        for line in measured.panel.lines:
            ratios = {p.x: 1 / r for p, r in _ratios(measured, entrant, self.other) if p.line == line}
            ordered = [ratios[x] for x in sorted(ratios, reverse=self.falls)]
            if len(ordered) > 1:
                steady = all(after >= self.slack * before for before, after in pairwise(ordered))
                rising.append(steady and ordered[-1] > ordered[0])
                told.append(f"{ordered[0]:.3g} → {ordered[-1]:.3g}" + (f" at {line}" if line else ""))
        return Verdict(entrant=entrant, holds=all(rising) if rising else None, detail=", ".join(told))


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The entrant is below another from an x on that is no larger than in the published files (else than the last)."""

    other: str

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """For every line, the first x from which on it stays below."""
        good, told = [], []
        for line in measured.panel.lines:
            ours = {p.x: r for p, r in _ratios(measured, entrant, self.other) if p.line == line}
            theirs = {p.x: r for p, r in _published_ratios(measured) if p.line == line}
            if ours:
                mine, published = _crossing(ours), _crossing(theirs)
                good.append(mine <= (published if theirs else max(ours)))
                told.append(f"{_from(mine)}" + (f", published {_from(published)}" if theirs else "") + f" at {line}")
        return Verdict(entrant=entrant, holds=all(good) if good else None, detail="; ".join(told))


def _crossing(ratios: dict[float, float]) -> float:
    above = max((x for x, ratio in ratios.items() if ratio >= 1), default=-inf)
    return min((x for x in ratios if x > above), default=inf)


def _from(x: float) -> str:
    return "never below" if isinf(x) else f"below from {x:g} on"


def _published_ratios(measured: Measured) -> Iterator[tuple[Point, float]]:
    for point in measured.panel.points:
        plan, iome = (measured.theirs(point, name) for name in ("PLAN", "IOME"))
        if plan is not None and iome is not None:
            yield point, plan.median / iome.median


def _ratios(measured: Measured, entrant: str, other: str) -> Iterator[tuple[Point, float]]:
    """The entrant's median over that of another, or of one of their published figures."""
    for point in measured.panel.points:
        ours = measured.median(point, entrant)
        if other.startswith("their "):
            figure = measured.theirs(point, other.removeprefix("their "))
            theirs = None if figure is None else figure.median
        else:
            theirs = measured.median(point, other)
        if ours is not None and theirs:
            yield point, ours / theirs


def _span(ratios: list[float]) -> str:
    low, high = np.min(ratios), np.max(ratios)
    return f"{low:.2g}" if f"{low:.2g}" == f"{high:.2g}" else f"{low:.2g} to {high:.2g}"
