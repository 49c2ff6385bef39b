"""The bound of the main theorems against Algorithm 1 itself, written down here with continuous noise."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from plandp.errors import ArgumentError
from plandp.theory import GaussianRows, WellConcentrated, plan_error_bound, rank_error
from plandp.theory.error_bounds import TWO_THIRDS_RATE
from plandp.theory.plan_bound import EVENTS, largest_estimate

SPREAD = np.array([16.0, 8.0, 4.0, 2.0, 1.0, 1.0])
MEAN = np.array([30.0, -20.0, 5.0, 0.0, 3.0, -7.0])
PUBLIC = {"rows": 4000, "bound": 256.0, "rho": 1.0, "failure": 0.05}


@dataclass(frozen=True)
class Run:
    error: float
    noise: float
    center: np.ndarray
    radius: float
    clipped: int


def noisy_search(values: np.ndarray, rank: float, *, low: float, high: float, steps: int, rho: float, rng, upper: bool):  # type: ignore[no-untyped-def]
    """PrivQuantile of one column by binary search; `rho` is for this column."""
    for _ in range(steps):
        middle = (low + high) / 2
        if (values < middle).sum() + rng.normal(0, math.sqrt(steps / (2 * rho))) > rank:
            high = middle
        else:
            low = middle
    return high if upper else (low + high) / 2


def plan(rng: np.random.Generator, p: float) -> Run:
    """Algorithm 1, line by line, with σ̂ as large as the theorem allows and thirds of ρ."""
    n, M, part, d = PUBLIC["rows"], PUBLIC["bound"], PUBLIC["rho"] / 3, len(SPREAD)
    x = np.clip(MEAN + rng.normal(size=(int(n), d)) * SPREAD, -M, M)
    s = largest_estimate(SPREAD, p) ** (2 / (p + 2))
    longest = float(np.linalg.norm(2 * M / s))
    off = rank_error(cells=longest, columns=1, rho=part, failure=PUBLIC["failure"] / EVENTS)
    steps = math.ceil(math.log2(M))
    center = np.array(
        [noisy_search(c, n / 2, low=-M, high=M, steps=steps, rho=part / d, rng=rng, upper=False) for c in x.T]
    )
    y = (x - center) / s
    lengths = np.linalg.norm(y, axis=1)
    rank, steps = n - math.sqrt(n) - off, math.ceil(math.log2(longest))
    C = noisy_search(lengths, rank, low=0.0, high=2.0**steps, steps=steps, rho=part, rng=rng, upper=True)
    η = rng.normal(0, C * math.sqrt(2 / part), d)
    total = (np.minimum(C / lengths, 1)[:, None] * y).sum(axis=0)
    estimate = center + (total + η) / n * s
    return Run(
        error=float((np.abs(estimate - MEAN) ** p).sum() ** (1 / p)),
        noise=float((np.abs(η * s / n) ** p).sum() ** (1 / p)),
        center=center,
        radius=C,
        clipped=int((lengths > C).sum()),
    )


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_algorithm_keeps_to_every_part_of_the_bound(p: float) -> None:
    rng, runs = np.random.default_rng(11), 60
    bound = plan_error_bound(spread=SPREAD, error_norm=p, **PUBLIC)  # type: ignore[arg-type]
    assert bound.holds
    done = [plan(rng, p) for _ in range(runs)]
    failed = sum(
        bool((np.abs(run.center - MEAN) > 2 * SPREAD + 1).any())
        or run.radius > bound.radius
        or run.clipped > bound.rows_clipped
        for run in done
    )
    # each run fails with probability .05 at most: more than 13 of 60 have probability 1e-6
    assert failed <= binom.isf(1e-6, runs, PUBLIC["failure"])
    assert np.mean([run.error for run in done]) <= bound.error
    assert np.mean([run.noise for run in done]) <= bound.noise
    # and it is no empty bound: 5 to 6 times the noise, since it counts with the longest row of all
    assert bound.noise < 6 * np.mean([run.noise for run in done])
    assert bound.radius < 6 * np.median([run.radius for run in done])
    assert bound.rows_clipped < 5 * np.median([run.clipped for run in done])


def test_the_noise_is_that_of_the_largest_radius() -> None:
    rng, p = np.random.default_rng(12), 1.0
    bound = plan_error_bound(spread=SPREAD, error_norm=p, **PUBLIC)  # type: ignore[arg-type]
    s = largest_estimate(SPREAD, p) ** (2 / (p + 2))
    η = rng.normal(0, bound.radius * math.sqrt(2 / (PUBLIC["rho"] / 3)), (200_000, len(s))) * s / PUBLIC["rows"]
    seen = np.abs(η).sum(axis=1)
    # for p = 1 the moment is the expected error itself: 5.5 standard errors (false alarm 4e-8) are .5%
    assert abs(seen.mean() - bound.noise) < 5.5 * seen.std() / math.sqrt(len(seen)) < 0.01 * bound.noise


def test_two_thirds_of_the_rows_lie_near_the_mean() -> None:
    for n in (30, 300, 3000):
        exact = binom.cdf(math.ceil(2 * n / 3) - 1, n, 0.75)
        bound = math.exp(-n * TWO_THIRDS_RATE)
        assert exact <= bound
        assert -math.log(exact) < 1.6 * n * TWO_THIRDS_RATE + 3  # the rate is the right one, not just a safe one


def test_terms_go_as_the_theorem_says() -> None:
    one = plan_error_bound(spread=SPREAD, rows=10**6, bound=256.0, rho=1.0, failure=0.01)
    more = plan_error_bound(spread=SPREAD, rows=4 * 10**6, bound=256.0, rho=1.0, failure=0.01)
    assert one.sampling / more.sampling == pytest.approx(2.0)
    assert one.noise / more.noise == pytest.approx(4.0, rel=0.05)
    assert one.clipping / more.clipping == pytest.approx(2.0, rel=0.2)
    assert one.failure == more.failure == pytest.approx(0.01 * 512 * math.sqrt(6))
    assert one.error == one.sampling + one.clipping + one.noise + one.failure
    assert one.printed == pytest.approx(1 + np.linalg.norm(SPREAD) / 1000 + SPREAD.sum() / 10**6)
    less = plan_error_bound(spread=SPREAD, rows=10**6, bound=256.0, rho=0.25, failure=0.01)
    assert less.noise / one.noise == pytest.approx(2.0, rel=0.05)


def test_conditions_and_clipped_rows_are_those_of_the_proof() -> None:
    n, M, part, β = 10**6, 256.0, 1.0 / 3, 0.01 / 5
    bound = plan_error_bound(spread=SPREAD, rows=n, bound=M, rho=1.0, failure=0.01)
    near, centers, clipped = bound.conditions
    assert (near.allowed, centers.allowed, clipped.allowed) == (n, n / 6, n)
    assert near.given == pytest.approx(math.log(6 / β) / TWO_THIRDS_RATE)
    assert centers.given == rank_error(cells=M, columns=6, rho=part, failure=β)
    longest = float(np.linalg.norm(2 * M / np.sqrt(SPREAD + SPREAD.mean())))
    off = rank_error(cells=longest, columns=1, rho=part, failure=β)
    assert clipped.given == pytest.approx(1000 + off)
    assert bound.rows_clipped == pytest.approx(1000 + 2 * off)
    u = math.sqrt(2 * math.log(math.sqrt(2) * n / β))
    row = (u + 2) * np.linalg.norm(SPREAD) + math.sqrt(6)  # distance to the mean, and the centre's to it
    assert bound.clipping == pytest.approx(bound.rows_clipped / n * row)
    to_center = np.linalg.norm((2 * SPREAD + 1) / np.sqrt(SPREAD + SPREAD.mean()))
    assert bound.radius == pytest.approx(u * math.sqrt(SPREAD.sum()) + to_center + 1)


def test_no_bound_where_a_condition_fails() -> None:
    bound = plan_error_bound(spread=np.ones(1000), rows=1000, bound=2.0**20, rho=0.01)
    assert [condition.holds for condition in bound.conditions] == [False, False, True]
    assert bound.error == math.inf


def test_the_largest_estimate_is_that_of_the_assumption() -> None:
    np.testing.assert_allclose(largest_estimate(SPREAD, 2.0), SPREAD + SPREAD.mean())
    q = 2 / 3
    np.testing.assert_allclose(largest_estimate(SPREAD, 1.0), (SPREAD**q + (SPREAD**q).mean()) ** (1 / q))


def test_the_law_of_the_rows_matters() -> None:
    gaussian = plan_error_bound(spread=SPREAD, concentration=GaussianRows(), **PUBLIC)  # type: ignore[arg-type]
    assert gaussian == plan_error_bound(spread=SPREAD, **PUBLIC)  # type: ignore[arg-type]
    slow = plan_error_bound(spread=SPREAD, concentration=WellConcentrated(rate=0.01), **PUBLIC)  # type: ignore[arg-type]
    assert slow.noise > 2 * gaussian.noise
    assert slow.clipping > 2 * gaussian.clipping


def test_spreads_that_no_rows_within_the_bound_have_are_refused() -> None:
    for norm, most in ((1.0, 256.0), (2.0, 256.0), (3.0, 512.0)):
        assert plan_error_bound(spread=[most, 1.0], error_norm=norm, **PUBLIC).noise > 0  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match=r"^spread: must be at most (twice )?the bound"):
            plan_error_bound(spread=[1.01 * most, 1.0], error_norm=norm, **PUBLIC)  # type: ignore[arg-type]


def test_an_estimate_below_the_spread_is_refused() -> None:
    for wrong in (0.9 * SPREAD, SPREAD[:-1], 0 * SPREAD + 1e-9):
        with pytest.raises(ArgumentError, match=r"^estimated_spread: "):
            plan_error_bound(spread=SPREAD, estimated_spread=wrong, **PUBLIC)  # type: ignore[arg-type]
