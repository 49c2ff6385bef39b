"""Is the noise that is drawn the discrete Gaussian that is claimed, and are choices those of the exponential mechanism?

Tests whose false alarms are bounded exactly.

Draws fall into cells of known probability: single integers or ranges, lowest bits, pairs of successive draws, and pairs
of draws from two releases.  Each count is binomial if the claim holds, so each test is exact, and so is their union.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan
from plandp.noise import meter
from plandp.noise.exponential_choice import Candidates

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

VARIANCES = {  # and how many draws at a time; beyond 2^96 another, slower sampler draws
    Fraction(1, 4): 1 << 16,
    Fraction(2): 1 << 16,
    Fraction(1000**2, 3): 1 << 16,
    Fraction(1 << 40): 1 << 16,
    Fraction((1 << 94) + 1, 3): 1 << 16,
    Fraction(1 << 101): 1 << 9,
}
CHOICES = 1 << 9  # at a time
PENALTIES, WIDTHS = (9, 6, 4, 3, 1, 0, 2, 5, 14), (1, 30, 2, 7, 1, 3, 4, 20, 900)
SINGLE = 100  # σ up to which every integer is a cell
BINS = 64
LOW_BITS = 6
ROUNDING = 5e-6  # relative error of a computed probability (2.9e-6 in the tails of σ = 577), granted to the claim


@dataclass(kw_only=True, eq=False)
class Cells:
    """Counts of draws in cells of known probability."""

    name: str
    probability: FloatArray
    of: Callable[[IntArray, IntArray], IntArray]  # two releases → the cell of every draw or pair
    seen: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.seen = np.zeros(len(self.probability), np.int64)

    def add(self, first: IntArray, second: IntArray) -> None:
        """Count two releases."""
        self.seen += np.bincount(self.of(first, second), minlength=len(self.seen))

    def p_values(self) -> FloatArray:
        """Of every cell: how likely a count as far off would be, both ways, were the claim true."""
        runs = int(self.seen.sum())
        low = np.maximum(self.probability * (1.0 - ROUNDING), 0.0)
        high = np.minimum(self.probability * (1.0 + ROUNDING), 1.0)
        return np.minimum(1.0, 2.0 * np.minimum(binom.cdf(self.seen, runs, low), binom.sf(self.seen - 1, runs, high)))


@dataclass(frozen=True, kw_only=True)
class NoiseLaw:
    """Does the sampler of the installed library draw what it says?"""

    name: str = "noise law"

    def run(self, plan: AuditPlan) -> Finding:
        """Draw until time is over, count, and test once."""
        clock = Clock(seconds=plan.seconds)
        cells = {sigma2: tuple(cells_of(sigma2)) for sigma2 in VARIANCES}
        squares = dict.fromkeys(VARIANCES, 0.0)
        chosen = choice_cells()
        taken = 0.0
        rounds = 0
        for _ in clock.rounds():
            for sigma2, counted in cells.items():
                began = time.perf_counter()
                first, second = (draws(sigma2, VARIANCES[sigma2]) for _ in range(2))
                taken += time.perf_counter() - began
                for each in counted:
                    each.add(first, second)
                squares[sigma2] += float(np.mean((first / math.sqrt(sigma2)) ** 2))
            chosen.add(*(choices(CHOICES) for _ in range(2)))
            rounds += 1
        runs = 2 * rounds * sum(VARIANCES.values())
        tests = {
            f"{each.name}, cell {cell}, variance {float(sigma2):.4g}": float(p)
            for sigma2, counted in cells.items()
            for each in counted
            for cell, p in enumerate(each.p_values())
        } | {f"{chosen.name}, cell {cell}": float(p) for cell, p in enumerate(chosen.p_values())}
        limit = plan.false_alarm / len(tests)
        failed = {name: p for name, p in tests.items() if p <= limit}
        least = min(tests.values())
        seen = ", ".join(f"{float(s):.3g}: {squares[s] / rounds / true_variance(s):.4f}" for s in VARIANCES)
        worst = [f"{name}: p = {p:.1e}" for name, p in sorted(failed.items(), key=lambda test: test[1])[:8]]
        return Finding(
            name=self.name,
            claim="noise is discrete Gaussian: values, tails, lowest bits, independence; choices are as claimed",
            found=f"BROKEN: {len(failed)} of {len(tests)} tests fail, p down to {least:.1e}"
            if failed
            else f"{len(tests)} tests of {runs:.2g} draws agree (least p {least:.1e}, alarm at {limit:.1e})",
            broken=bool(failed),
            detail="\n".join(worst)
            if failed
            else f"variance seen over that of the law, by parameter: {seen}; {taken / runs * 1e9:.0f} ns a draw",
            false_alarm=plan.false_alarm,
            runs=runs,
        )


def draws(sigma2: Fraction, count: int) -> IntArray:
    """Noise as releases get it: from the real door, around zero."""
    # D/(2ρ) = σ² with ρ = b/2 and D = a, for σ² = a/b
    rho = Fraction(sigma2.denominator, 2)
    door = meter.open_door(reserved=rho)
    noisy = door.release(np.zeros(count, np.int64), squared_sensitivity=sigma2.numerator, rho=rho, step="audit")
    return np.asarray(noisy, dtype=np.int64)


def choices(count: int) -> IntArray:
    """Points as releases get them: from the real door, c = 1/4."""
    candidates = Candidates(penalties=np.array(PENALTIES, np.int64), widths=np.array(WIDTHS, np.int64))
    rho = Fraction(count, 32)
    door = meter.open_door(reserved=rho)
    return np.array(door.choose([candidates] * count, sensitivity=1, rho=rho, step="audit"), dtype=np.int64)


def choice_cells() -> Cells:
    """Points of all intervals but the last one by one, and the last one in three parts."""
    points = np.repeat(np.exp(-np.array(PENALTIES) / 4.0), WIDTHS)
    single = len(points) - WIDTHS[-1]
    parts = np.minimum(np.arange(len(points)), single + 3 * (np.arange(len(points)) - single) // WIDTHS[-1])
    probability = np.asarray(np.bincount(parts, weights=points / math.fsum(points)), dtype=np.float64)
    return Cells(name="choices", probability=probability, of=lambda first, second: parts[np.append(first, second)])


def law(sigma2: Fraction) -> tuple[IntArray, FloatArray]:
    """All integers within 14 σ and their probabilities, for small σ."""
    reach = math.ceil(14 * math.sqrt(sigma2)) + 2
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-(values.astype(np.float64) ** 2) / (2.0 * float(sigma2)))
    return values, weights / math.fsum(weights)


def true_variance(sigma2: Fraction) -> float:
    """The variance of the law over its parameter σ²: below 1 for small σ."""
    if sigma2 > SINGLE**2:
        return 1.0
    values, probability = law(sigma2)
    return float((values.astype(np.float64) ** 2) @ probability / float(sigma2))


def cells_of(sigma2: Fraction) -> Iterator[Cells]:
    """All tests of one variance."""
    if sigma2 <= SINGLE**2:
        values, probability = law(sigma2)
        kept = probability > 1e-9  # others are pooled with the outermost
        low, high = int(values[kept][0]), int(values[kept][-1])
        inner = probability[kept].copy()
        inner[0] += probability[values < low].sum()
        inner[-1] += probability[values > high].sum()

        def single(draw: IntArray) -> IntArray:
            return np.clip(draw, low, high) - low

        yield Cells(name="values", probability=inner, of=lambda first, second: single(first))
        pairs = np.outer(inner, inner).ravel()
        yield Cells(name="successive draws", probability=pairs, of=_pairs(single, len(inner)))
        yield Cells(name="two releases", probability=pairs, of=_across(single, len(inner)))
        return
    sigma = math.sqrt(sigma2)
    edges = np.array([math.ceil(sigma * x) - 0.5 for x in _quantiles()])
    probability = np.diff(np.concatenate([[0.0], ndtr(edges / sigma), [1.0]]))
    # above the middle from the other side, where ndtr keeps its digits
    probability[len(probability) // 2 :] = -np.diff(np.concatenate([ndtr(-edges / sigma), [0.0]]))[
        len(probability) // 2 - 1 :
    ]

    def ranged(draw: IntArray) -> IntArray:
        return np.searchsorted(edges, draw.astype(np.float64)).astype(np.int64)

    yield Cells(name="values", probability=probability, of=lambda first, second: ranged(first))
    bits = np.full(1 << LOW_BITS, 2.0**-LOW_BITS)
    yield Cells(name="lowest bits", probability=bits, of=lambda first, second: first & ((1 << LOW_BITS) - 1))
    quarter = edges[np.searchsorted(np.cumsum(probability), (0.25, 0.5, 0.75))]
    shares = np.diff(np.concatenate([[0.0], ndtr(quarter / sigma), [1.0]]))

    def coarse(draw: IntArray) -> IntArray:
        return np.searchsorted(quarter, draw.astype(np.float64)).astype(np.int64)

    yield Cells(name="successive draws", probability=np.outer(shares, shares).ravel(), of=_pairs(coarse, 4))
    yield Cells(name="two releases", probability=np.outer(shares, shares).ravel(), of=_across(coarse, 4))
    both = np.full(16, 1 / 16.0)
    yield Cells(name="lowest bits of successive draws", probability=both, of=_pairs(lambda draw: draw & 3, 4))


def _quantiles() -> FloatArray:
    """Edges of cells: even ones, and further and further ones in the tails."""
    tails = np.array([1e-3, 1e-4, 1e-5, 1e-6])
    middle = np.arange(1, BINS) / BINS
    half = ndtri(np.concatenate([tails[::-1], middle[middle < 0.5]]))
    return np.concatenate([half, [0.0], -half[::-1]])


def _pairs(cell: Callable[[IntArray], IntArray], cells: int) -> Callable[[IntArray, IntArray], IntArray]:
    return lambda first, second: cell(first[0::2]) * cells + cell(first[1::2])


def _across(cell: Callable[[IntArray], IntArray], cells: int) -> Callable[[IntArray, IntArray], IntArray]:
    return lambda first, second: cell(first) * cells + cell(second)
