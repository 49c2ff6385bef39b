"""The same scores, judged by jax-privacy's auditor: an oracle that shares no code with ours.

It is not among the dependencies (JAX is large); with `pip install jax-privacy` these tests run.  They did, with
jax-privacy 2.0.0: the binomial bounds were equal to five digits, those by the Gaussian curve to 0.05%, ours below, as
they are rounded to the safe side.  docs/audit.md has the figures, of one real release each.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from plandp.audit.canaries import targets
from plandp.audit.guesses import refuted_epsilon, refuted_rho
from plandp.audit.one_run import fair_coins
from plandp.audit.plan import AuditPlan
from plandp.audit.trade_off import gaussian_trade_off

auditing = pytest.importorskip("jax_privacy.auditing", reason="jax-privacy is not installed: the oracle is skipped")
accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed: the oracle is skipped")

PLAN = AuditPlan(method="plan", rho=Fraction(1, 2), seconds=1.0, false_alarm=1e-6)


@pytest.fixture(scope="module", params=["sum of sets", "clipped sum"])
def judged(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, int]:
    """How extreme every score of one real release is, whether its guess is right, and how many are guessed."""
    (target,) = (target for target in targets(PLAN, dense=512, sparse=16_384) if target.name == request.param)
    coins = fair_coins(target.canaries)
    scores = target.scores(coins)
    return np.abs(scores), (scores > 0) == coins, target.guesses


def counts(extreme: np.ndarray, right: np.ndarray, guesses: int) -> tuple[float, dict[str, int]]:
    """The least extreme score that is guessed, and what our bounds ask for."""
    order = np.argsort(-extreme, kind="stable")[:guesses]
    correct = int(right[order].sum())
    return float(extreme[order[-1]]), {"canaries": len(extreme), "guesses": guesses, "correct": correct}


# jax-privacy guesses one side only: given how extreme scores are, "in" where the guess is right, it counts as we do


@pytest.mark.parametrize("delta", [1e-5, 1e-7])
@pytest.mark.parametrize("level", [0.05, 0.01, 1e-4])
def test_epsilon_by_the_binomial_bound(judged: tuple, delta: float, level: float) -> None:
    extreme, right, guesses = judged
    threshold, asked = counts(extreme, right, guesses)
    theirs = auditing.CanaryScoreAuditor(extreme[right], extreme[~right]).epsilon_one_run(
        level, delta, threshold_strategy=auditing.Explicit(threshold)
    )
    ours = refuted_epsilon(delta=delta, chance=level, **asked)
    assert ours == pytest.approx(theirs, abs=2e-5)


@pytest.mark.parametrize("level", [0.05, 0.01])
def test_rho_by_the_gaussian_curve(judged: tuple, level: float) -> None:
    extreme, right, guesses = judged
    threshold, asked = counts(extreme, right, guesses)
    delta = 1e-5
    theirs = auditing.CanaryScoreAuditor(extreme[right], extreme[~right]).epsilon_one_run_fdp(
        level, delta, threshold_strategy=auditing.Explicit(threshold)
    )
    rho = refuted_rho(gaussian_trade_off, chance=level, **asked)
    ours = accounting.get_epsilon_gaussian(1 / math.sqrt(2 * rho), delta)
    # our curve is rounded to the safe side: never above, and hardly below
    assert 0.995 * theirs <= ours <= theirs * (1 + 1e-6)
