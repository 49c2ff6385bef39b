"""The balls of CoinPress (Biswas, Dong, Kamath and Ullman 2020): public numbers, known before any row is read.

Rows are measured in spreads, so that their covariance is at most the identity, as CoinPress asks for.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Columns
from plandp.terms.design import Design
from plandp.theory.box import box_spread
from plandp.theory.clipping import gaussian_radius

FloatArray = NDArray[np.float64]

TAIL = 0.01  # β of their published code, in every step
DEVIATIONS = 3.0  # of a row along the line to the centre: their code has 3 for √log(2/β)
LONG_ROWS = 1e-3  # share of the rows: a judgement; spreads 1.2 times those taken for true did no harm, 1.5 times did
BEYOND = 1.25  # times the reach


@dataclass(frozen=True, kw_only=True)
class Ball:
    """One step: the mean is taken to be within `radius` of the centre, and rows are clipped to `reach` around it.

    `shrinks` says whether the ball around the mean that the step releases is smaller, and is the next one.
    """

    radius: float
    reach: float
    rho: Fraction
    noise_std: float  # per coordinate of the mean that the step releases
    shrinks: bool


def assumed_spread(columns: Columns, share: float) -> FloatArray:
    """The publicly known spreads, or else this share of the widths, in units of error_scale; none exceeds the box."""
    widest, known = box_spread(columns), columns.spread_in_units
    return np.minimum(widest, 2.0 * share * widest if known is None else known)


def coinpress_balls(spread: FloatArray, design: Design) -> tuple[Ball, ...]:
    """All steps: the first ball holds the whole box, the last step's sum is the estimate."""
    early = design.center_rounds
    costs = (*(design.split.center / early for _ in range(early)), design.split.sum)
    first = float(np.linalg.norm(box_spread(design.columns) / spread))
    return tuple(_balls(first, costs, n=design.n, d=design.d))


def _balls(radius: float, costs: tuple[Fraction, ...], *, n: int, d: int) -> Iterator[Ball]:
    γ = gaussian_reach(d)
    for rho in costs:
        reach = min(math.sqrt(radius**2 + 2.0 * DEVIATIONS * radius + γ**2), radius + γ)
        noise_std = 2.0 * reach / (n * math.sqrt(2.0 * float(rho)))
        after = γ * math.hypot(1.0 / math.sqrt(n), noise_std)
        yield Ball(radius=radius, reach=reach, rho=rho, noise_std=noise_std, shrinks=after < radius)
        radius = min(after, radius)


def gaussian_reach(d: int) -> float:
    """A norm that a standard Gaussian in d dimensions exceeds with probability TAIL at most."""
    log = math.log(1.0 / TAIL)
    return math.sqrt(d + 2.0 * math.sqrt(d * log) + 2.0 * log)


def ball_is_small(balls: tuple[Ball, ...], d: int) -> bool:
    """Whether the last ball is no larger than the rows are long: then more steps would hardly help."""
    return balls[-1].radius <= gaussian_reach(d)


def rows_are_cut_off(spread: FloatArray, taken: FloatArray) -> bool:
    """Whether Gaussian rows of these spreads reach clearly beyond those of the spreads that are `taken` for true."""
    return gaussian_radius(spread / taken, LONG_ROWS)[0] > BEYOND * gaussian_reach(len(taken))


def coinpress_warnings(balls: tuple[Ball, ...], design: Design, share: float) -> Iterator[str]:
    """What public numbers say against a release.  Known before any row is read."""
    if design.columns.spread is None:
        yield (
            f"no spread is given, so {share:g} of the width of the bounds was taken for it: the estimate leans towards "
            "the middle where rows reach further, and has more noise than needed where they do not; give `spread`"
        )
    if not ball_is_small(balls, design.d):
        yield (
            "the ball around the mean is larger than the rows are long, for all steps: the noise is far larger than "
            "the rows need; more rows, more steps, a larger rho or tighter bounds help"
        )
