"""How many of many fair coins can be guessed from a private release: bounds on the number of right guesses.

m coins decide, each by itself, which of two rows stands in a table; from one release the coins of `guesses` of them are
guessed.  The more private the release, the less likely many right guesses: docs/audit.md has the derivations.
"""

import math
from collections.abc import Callable

import numpy as np

from plandp.audit.trade_off import TradeOff

LEAST_RHO, MOST_RHO = 2.0**-14, 2.0**8
HALVINGS = 18
SURE = 1.0 + 1e-9  # a total probability above it is one above 1
MOST_EPSILON = 64.0


def refutes(claim: TradeOff, *, chance: float, canaries: int, guesses: int, correct: int) -> bool:
    """Whether a chance of `chance` or more to be right `correct` times or more contradicts the claim.

    Of C right guesses, E[C; C ≥ i] / m is the average probability that a coin is guessed rightly and C ≥ i; were that
    coin turned over, the same release would hold a wrong guess and i - 1 right ones at least.  So the claim bounds
    E[guesses - C; C ≥ i-1] / m from below, for every i.  All of these bounds together ask for more probability than
    there is, or they do not; the least that they ask for has the chance at C = `correct`, and then goes down.
    """
    right, wrong, total = correct * chance, (guesses - correct) * chance, chance
    for fewer in range(correct - 1, -1, -1):
        missing = canaries * claim.least_likely(right / canaries) - wrong
        if missing <= 0.0:
            return False  # nothing is asked for any more
        more = missing / (guesses - fewer)
        right, wrong, total = right + fewer * more, wrong + missing, total + more
        if total > SURE:
            return True
    return False


def refuted_rho(
    claim: Callable[[float], TradeOff], *, chance: float, canaries: int, guesses: int, correct: int
) -> float:
    """The largest ρ, of claims that get weaker as ρ grows, that such a chance contradicts; 0 if there is none."""
    low, high = math.log(LEAST_RHO), math.log(MOST_RHO)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if refutes(claim(math.exp(middle)), chance=chance, canaries=canaries, guesses=guesses, correct=correct):
            low = middle
        else:
            high = middle
    return math.exp(low) if low > math.log(LEAST_RHO) else 0.0


def most_likely(*, epsilon: float, delta: float, canaries: int, guesses: int, correct: int) -> float:
    """The chance, at most, to be right `correct` times or more if the release is (ε, δ)-differentially private.

    Steinke, Nasr and Jagielski (2023): with δ = 0 a binomial tail at e^ε / (1 + e^ε); else more by what any of the
    canaries, failing with probability δ, can add to it.
    """
    from scipy.stats import binom

    right = 1.0 / (1.0 + math.exp(-epsilon))
    tail = float(binom.sf(correct - 1, guesses, right))
    if delta == 0.0 or correct == 0:
        return min(1.0, tail)
    below = np.cumsum(binom.pmf(np.arange(correct - 1, -1, -1), guesses, right))  # P(correct - i ≤ W < correct)
    return min(1.0, tail + 2.0 * canaries * delta * float((below / np.arange(1, correct + 1)).max()))


def refuted_epsilon(*, delta: float, chance: float, canaries: int, guesses: int, correct: int) -> float:
    """The largest ε for which a chance of `chance` or more to be right so often contradicts (ε, δ); 0 if none."""

    def refuted(epsilon: float) -> bool:
        bound = most_likely(epsilon=epsilon, delta=delta, canaries=canaries, guesses=guesses, correct=correct)
        return bound < chance

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, MOST_EPSILON
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def chance_at_least(hits: int, runs: int, *, false_alarm: float) -> float:
    """A lower bound (Clopper–Pearson) on the probability of what happened in `hits` of `runs` independent runs.

    It is too high with probability `false_alarm` at most.
    """
    from scipy.stats import beta

    return 0.0 if hits == 0 else float(beta.ppf(false_alarm, hits, runs - hits + 1))
