"""A look at the tails: are rows concentrated as lines 490 and 628 define it, with a constant that one can name?

exp(-Ω(t)) is a statement about all t and an unknown constant.  With the constant said, Pr[Q > t] ≤ exp(-rate·t) for
t > ln d can be refuted by draws, or by an exact law.  It cannot be proved by draws: where none exceeds ln d, nothing
was seen.  The draws are of a law, or of data that is public: what comes out is not private.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plandp.errors import ArgumentError
from plandp.theory.public_arguments import at_least, positive, vector

FloatArray = NDArray[np.float64]

BLOCK = 1 << 22  # numbers drawn at once
# where the tail is looked at: t - ln d in units of 1/rate, not chosen by the draws
PLACES = np.append(0.0, np.geomspace(0.05, 1000.0, 63))
FALSE_ALARM = 1e-9  # of calling a tail too heavy that is exp(-rate·t), for all places of both tails together
EXCESSES = 1000  # the fitted rate is that of the largest sums, this many, or a tenth of all where they are fewer


@dataclass(frozen=True, kw_only=True, eq=False)
class Tail:
    """How often a sum Q exceeded t of its units, and what that says about exp(-rate·t)."""

    t: FloatArray  # from ln d to the largest draw; empty where no draw exceeds ln d
    share: FloatArray  # of the draws with Q > t
    fitted_rate: float  # 1/(mean excess) of the largest draws: the rate of an exponential tail there
    too_heavy_at: FloatArray  # the t where exp(-rate·t) is refuted

    @property
    def seen(self) -> bool:
        """Whether any draw says anything about t > ln d."""
        return len(self.t) > 0

    @property
    def refuted(self) -> bool:
        """Whether the tail is too heavy for the rate asked about."""
        return len(self.too_heavy_at) > 0


@dataclass(frozen=True, kw_only=True)
class TailCheck:
    """Both properties of the definition: of Σ|x - μ|^p/‖σ‖_p^p, and of the stretched Σ(x - μ)²/σ^(4/(p+2))."""

    plain: Tail
    stretched: Tail

    @property
    def refuted(self) -> bool:
        """Whether one of them is."""
        return self.plain.refuted or self.stretched.refuted


def tail_check(
    draw: Callable[[int], FloatArray],
    *,
    mean: ArrayLike,
    spread: ArrayLike,
    error_norm: float = 2.0,
    rate: float = 0.25,
    draws: int = 100_000,
) -> TailCheck:
    """Draw rows by `draw(count)`, an array (count, d), and look at the tails; σ̂ = σ, for which they are heaviest.

    A law whose tails are at most exp(-rate·t) for t > ln d is called refuted with probability 1e-9 at most.
    """
    σ, p = vector("spread", spread), at_least("error_norm", error_norm, 1.0)
    rate, d, left = positive("rate", rate), len(σ), int(at_least("draws", draws, 100.0))
    if not σ.all():
        raise ArgumentError("spread", "must be positive in every column")
    μ = np.broadcast_to(np.asarray(mean, np.float64), (d,))
    plain, stretched = [], []
    while left:
        count = min(left, max(BLOCK // d, 1))
        distance = np.abs(draw(count) - μ) / σ
        if distance.shape != (count, d):
            raise ArgumentError("draw", "must return one row per draw and one number per spread")
        plain.append((distance**p) @ (σ**p / (σ**p).sum()))
        weight = σ ** (2.0 * p / (p + 2.0))
        stretched.append((distance**2) @ (weight / weight.sum()))
        left -= count
    return TailCheck(
        plain=_tail(np.concatenate(plain), columns=d, rate=rate),
        stretched=_tail(np.concatenate(stretched), columns=d, rate=rate),
    )


def exact_rate(log_tail: Callable[[FloatArray], FloatArray], *, columns: int, farthest: float) -> float:
    """The largest rate with Pr[Q > t] ≤ exp(-rate·t) on ln d < t ≤ farthest, for an exact law ln Pr[Q > t].

    A law is well concentrated if this stays away from 0 however far one looks.

    >>> round(exact_rate(lambda t: -t / 2, columns=8, farthest=100.0), 3)
    0.5
    """
    nearest = max(math.log(at_least("columns", columns, 1.0)), 1e-6)
    t = np.geomspace(nearest, at_least("farthest", farthest, nearest), 4096)
    return float((-np.asarray(log_tail(t)) / t).min())


def _tail(sums: FloatArray, *, columns: int, rate: float) -> Tail:
    from scipy.stats import binom  # here, since importing SciPy takes longer than importing plandp

    ordered, draws = np.sort(sums), len(sums)
    top = ordered[-(min(EXCESSES, draws // 10) + 1) :]
    excess = float((top[1:] - top[0]).mean())
    nearest = max(math.log(columns), 1e-6)
    if ordered[-1] <= nearest:
        nothing = np.empty(0)
        return Tail(t=nothing, share=nothing, fitted_rate=_inverse(excess), too_heavy_at=nothing)
    t = nearest + PLACES / rate
    t = t[t < ordered[-1]]
    above = draws - np.searchsorted(ordered, t, side="right")
    chance = binom.sf(above - 1, draws, np.exp(-rate * t))  # of so many draws, if the tail is exp(-rate·t)
    return Tail(
        t=t,
        share=above / draws,
        fitted_rate=_inverse(excess),
        too_heavy_at=t[np.asarray(chance) < FALSE_ALARM / (2 * len(PLACES))],
    )


def _inverse(excess: float) -> float:
    return 1.0 / excess if excess > 0.0 else math.inf
