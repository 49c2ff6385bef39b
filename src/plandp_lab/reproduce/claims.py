"""Claims of the paper as criteria for what was measured: each says yes, no or undecided, and from which ratios."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isinf
from typing import Literal, Protocol

from plandp_lab.reproduce.panels import Measured, Point
from plandp_lab.reproduce.run_noise import Ratio, ratio_of_runs, ratio_to_figure

Answer = Literal["yes", "NO", "NO, better", "undecided", "not measured"]
MOST_NAMED = 6  # cells that are told one by one


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a claim holds for an entrant, and the figures it was judged by."""

    entrant: str
    answer: Answer
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.entrant}: {self.answer}" + (f" ({self.detail})" if self.detail else "")


class Judge(Protocol):
    """Judges one entrant by one panel."""

    @property
    def criterion(self) -> str:
        """What must be so, in words."""
        ...

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
    rhos: tuple[str, ...] = ()  # only at these budgets

    @property
    def criterion(self) -> str:
        """As limits of the ratio."""
        if isinf(self.most):
            return f"at least {self.least:g} times {self.other}"
        limits = f"{self.least:g} to {self.most:g}" if self.least else f"at most {self.most:g}"
        return f"{limits} times {self.other}"

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """Yes where every cell is surely within the limits, no where one surely is not."""
        found = [
            (point, ratio)
            for point, ratio in _ratios(measured, entrant, self.other)
            if self.low <= point.x <= self.high and (not self.rhos or point.cell.rho in self.rhos)
        ]
        if not found:
            return Verdict(entrant=entrant, answer="not measured")
        outside = [(point, ratio) for point, ratio in found if ratio.high < self.least or ratio.low > self.most]
        inside = [ratio for _, ratio in found if self.least <= ratio.low and ratio.high <= self.most]
        near = [pair for pair in found if pair not in outside and pair[1] not in inside]
        told = [f"{len(inside)} of {_cells(len(found))}; {_span([ratio for _, ratio in found])} times"]
        told += [f"outside: {_named(measured, outside)}"] if 0 < len(outside) < len(found) else []
        told += [f"too close to tell: {_named(measured, near)}"] if near else []
        answer: Answer = "undecided" if near else "yes"
        if outside:
            answer = "NO, better" if not near and all(r.high < self.least for _, r in outside) else "NO"
        return Verdict(entrant=entrant, answer=answer, detail="; ".join(told))


@dataclass(frozen=True, kw_only=True)
class Grows:
    """Another's median error over the entrant's grows with x (or as x falls) along every line, but for run noise."""

    other: str
    falls: bool = False
    advantage: bool = True  # it must be one: above 1 at every point
    low: float = -inf
    high: float = inf
    rhos: tuple[str, ...] = ()  # only at these budgets

    @property
    def criterion(self) -> str:
        """As a course of the ratio."""
        above = "above 1 everywhere, " if self.advantage else ""
        return f"error of {self.other} over its own: {above}last above first, no step back"

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """Each of these must be so by more than run noise; a step back must be larger than that to count."""
        surely, told = [], []
        for line in measured.panel.lines:
            found = {
                point.x: ratio.inverse
                for point, ratio in _ratios(measured, entrant, self.other)
                if point.line == line
                and self.low <= point.x <= self.high
                and (not self.rhos or point.cell.rho in self.rhos)
            }
            ordered = [found[x] for x in sorted(found, reverse=self.falls)]
            if len(ordered) > 1:
                surely.append(self._along(ordered))
                told.append(" → ".join(f"{ratio.value:.3g}" for ratio in ordered) + (f" at {line}" if line else ""))
        if not surely:
            return Verdict(entrant=entrant, answer="not measured")
        return Verdict(entrant=entrant, answer=_all_of(surely), detail=", ".join(told))

    def _along(self, ordered: list[Ratio]) -> bool | None:
        """None: too close to tell."""
        parts = [_above_one(ordered[-1].over(ordered[0]))]
        parts += [_above_one(ratio) for ratio in ordered] if self.advantage else []
        parts += [False for before, after in pairwise(ordered) if _above_one(after.over(before)) is False]
        return _together(parts)


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The entrant is below another from an x on that is no larger than in the published files (else than the last)."""

    other: str

    @property
    def criterion(self) -> str:
        """In words."""
        return f"below {self.other} from no larger an x on than PLAN below IOME in the published files"

    def __call__(self, measured: Measured, entrant: str) -> Verdict:
        """For every line, the first x from which on it stays below."""
        surely: list[bool | None] = []
        told = []
        for line in measured.panel.lines:
            ours = {p.x: r for p, r in _ratios(measured, entrant, self.other) if p.line == line}
            theirs = {p.x: r for p, r in _published_ratios(measured) if p.line == line}
            if ours:
                mine = _crossing({x: ratio.value for x, ratio in ours.items()})
                late = _crossing({x: ratio.high for x, ratio in ours.items()})
                early = _crossing({x: ratio.low for x, ratio in ours.items()})
                published = _crossing(theirs)
                limit = published if theirs else max(ours)
                surely.append(True if late <= limit else False if early > limit else None)
                ratios = ", ".join(f"{ours[x].value:.3g}" for x in sorted(ours))
                told.append(f"{_from(mine)}" + (f", published {_from(published)}" if theirs else "") + f" at {line}")
                told[-1] += f": {ratios}"
        if not surely:
            return Verdict(entrant=entrant, answer="not measured")
        return Verdict(entrant=entrant, answer=_all_of(surely), detail="; ".join(told))


def _above_one(ratio: Ratio) -> bool | None:
    return True if ratio.low > 1 else False if ratio.high < 1 else None


def _together(parts: Iterable[bool | None]) -> bool | None:
    """All of them; None where none is surely wrong and one is too close to tell."""
    known = list(parts)
    return False if False in known else None if None in known else True


def _all_of(parts: Iterable[bool | None]) -> Answer:
    holds = _together(parts)
    return "undecided" if holds is None else "yes" if holds else "NO"


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


def _ratios(measured: Measured, entrant: str, other: str) -> Iterator[tuple[Point, Ratio]]:
    """The entrant's median over that of another, or of one of their published figures."""
    for point in measured.panel.points:
        ours = measured.quartiles(point, entrant)
        if ours is None:
            continue
        if other.startswith("their "):
            figure = measured.theirs(point, other.removeprefix("their "))
            if figure is not None:
                yield point, ratio_to_figure(ours, figure.median, figure.runs)
        elif theirs := measured.errors(point, other):
            yield point, ratio_of_runs(measured.errors(point, entrant), theirs)


def _named(measured: Measured, found: list[tuple[Point, Ratio]]) -> str:
    """Those furthest from 1 first."""
    far = sorted(found, key=lambda pair: -max(pair[1].value, 1 / pair[1].value))
    x_name = measured.panel.x_name
    told = [
        f"{ratio.value:.3g} at {x_name} = {point.x:g}" + (f", {point.line}" if point.line else "")
        for point, ratio in far[:MOST_NAMED]
    ]
    return "; ".join(told) + (f"; and {len(far) - MOST_NAMED} more" if len(far) > MOST_NAMED else "")


def _cells(count: int) -> str:
    return f"{count} cell" + ("s" if count > 1 else "")


def _span(ratios: list[Ratio]) -> str:
    low, high = (f"{limit(ratio.value for ratio in ratios):.3g}" for limit in (min, max))
    return low if low == high else f"{low} to {high}"
