"""Many canaries at once: from few releases, how well can the coins be guessed that decided about thousands of rows?

The method of Steinke, Nasr and Jagielski (2023), with the whole claimed curve in place of one ε and δ.
"""

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.audit.canaries import Coins, FloatArray, Target, alone, targets
from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.guesses import chance_at_least, refuted_epsilon, refuted_rho, refutes
from plandp.audit.plan import AuditPlan
from plandp.noise.meter import open_door
from plandp.terms.zcdp import epsilon_of

PILOTS = 4  # releases that only say how many right guesses to ask for, and how long a release takes
FEWEST, MOST = 4, 96  # releases that count
COMMON = 2.5  # standard deviations below what the pilots saw: nearly every release is right more often
BOUND_SECONDS = 2.0  # to compute a bound, per target
DELTA = 1e-5
# canaries in tables of numbers and of items, where there are so many seconds per target
SIZES = ((25.0, 2048, 16384), (5.0, 1024, 16384), (2.5, 512, 4096), (-math.inf, 256, 1024))


@dataclass(frozen=True, kw_only=True)
class Guessed:
    """What guessing the coins of one target came to."""

    target: Target
    asked: int  # right guesses that count as a hit
    hits: int
    runs: int  # in which hits were counted
    chance: float  # of a hit, at least, but for false alarms
    rho: float  # at least, but for false alarms
    epsilon: float  # at least, with δ = DELTA, by the binomial-type bound
    pure: float  # the same with δ = 0
    broken: bool

    def __str__(self) -> str:
        target, share = self.target, self.rho / float(self.target.rho)
        return (
            f"{target.name}: {target.canaries} canaries, {self.asked} of {target.guesses} guesses right or more in "
            f"{self.hits} of {self.runs} releases: rho ≥ {self.rho:.4f} ({share:.2f} of the {float(target.rho):g} "
            f"claimed); epsilon ≥ {self.epsilon:.3f} at delta={DELTA:g} (claimed {epsilon_of(target.rho, DELTA):.3f}), "
            f"≥ {self.pure:.3f} at delta=0"
        )


@dataclass(frozen=True, kw_only=True)
class OneRun:
    """Can the coins of canaries be guessed better than the claim allows, from real releases with real noise?"""

    name: str = "many canaries"

    def run(self, plan: AuditPlan) -> Finding:
        """Attack the clipped sums, then whole releases; each has its share of time and of false alarms."""
        clock = Clock(seconds=plan.seconds)
        count = len(targets(plan, dense=16, sparse=16))
        dense, sparse = next(sizes for least, *sizes in SIZES if plan.seconds / count >= least)
        attacked = targets(plan, dense=dense, sparse=sparse)
        found: list[Guessed] = []
        for place, target in enumerate(attacked):
            seconds = clock.left / (len(attacked) - place)
            found.append(guessed(target, seconds=seconds, false_alarm=plan.false_alarm / len(attacked)))
        broken = [one for one in found if one.broken]
        worst = max(found, key=lambda one: one.rho / float(one.target.rho))
        share = worst.rho / float(worst.target.rho)
        return Finding(
            name=self.name,
            claim="coins of canaries cannot be guessed better than replacing one row allows: "
            f"rho = {plan.rho}, of sums on their own {alone(plan.rho)}",
            found=_found(broken, worst, share),
            broken=bool(broken),
            detail="\n".join(str(one) for one in (broken or found)),
            false_alarm=plan.false_alarm,
            runs=sum(one.runs for one in found) + PILOTS * len(found),
        )


def _found(broken: list[Guessed], worst: Guessed, share: float) -> str:
    if broken:
        return f"BROKEN: {', '.join(one.target.name for one in broken)}, by a factor of {share:.2f} in rho or more"
    if worst.rho <= 0.0:
        return "nothing: too few releases to prove any loss"
    return f"at least {share:.2f} of the claimed rho is spent ({worst.target.name}), none more than all of it"


def guessed(target: Target, *, seconds: float, false_alarm: float) -> Guessed:
    """Guess the coins of one target; how often, and what counts as a hit, is settled before hits are counted.

    Guarantee: if the claim of the target is true, it is called broken with probability `false_alarm` at most, and the
    same is true of every bound being above what it bounds.
    """
    clock = Clock(seconds=seconds - BOUND_SECONDS)
    right, took = [], math.inf
    for _ in range(PILOTS):
        began = time.perf_counter()
        right.append(right_guesses(target))
        took = min(took, time.perf_counter() - began)
    asked = _asked(right, target.guesses)
    runs = min(max(int(clock.left / took), FEWEST), MOST)
    hits = sum(right_guesses(target) >= asked for _ in range(runs))
    chance = chance_at_least(hits, runs, false_alarm=false_alarm)
    canaries, guesses = target.canaries, target.guesses
    claim = target.claim(float(target.rho))
    return Guessed(
        target=target,
        asked=asked,
        hits=hits,
        runs=runs,
        chance=chance,
        rho=refuted_rho(target.claim, chance=chance, canaries=canaries, guesses=guesses, correct=asked),
        epsilon=refuted_epsilon(delta=DELTA, chance=chance, canaries=canaries, guesses=guesses, correct=asked),
        pure=refuted_epsilon(delta=0.0, chance=chance, canaries=canaries, guesses=guesses, correct=asked),
        broken=refutes(claim, chance=chance, canaries=canaries, guesses=guesses, correct=asked),
    )


def _asked(right: list[int], guesses: int) -> int:
    """So many right guesses that nearly every further release has them."""
    share = (sum(right) + 1.0) / (len(right) * guesses + 2.0)
    return max(1, int(share * guesses - COMMON * math.sqrt(guesses * share * (1.0 - share))))


def right_guesses(target: Target) -> int:
    """Toss a coin for every canary, release once, and count the right guesses among the most extreme scores."""
    coins = fair_coins(target.canaries)
    return int(guess(target.scores(coins), coins, target.guesses).sum())


def guess(scores: FloatArray, coins: Coins, guesses: int) -> NDArray[np.bool_]:
    """Whether the guess, which is the sign of the score, is right: for so many of the most extreme scores."""
    usable = np.where(np.isnan(scores), 0.0, scores)
    extreme = np.argsort(-np.abs(usable), kind="stable")[:guesses]
    return np.asarray((usable > 0.0)[extreme] == coins[extreme])


def fair_coins(count: int) -> Coins:
    """Public coins, of the same source as all others."""
    return np.asarray(open_door(reserved=Fraction(1)).public_integers(below=2, count=count) == 1)
