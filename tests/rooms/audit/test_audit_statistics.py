"""The statistics behind the audit: bounds that cover, divergences that are known, events chosen beforehand."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from plandp.audit.black_box import Target, bound_of
from plandp.audit.clock import Clock
from plandp.audit.noise_law import ROUNDING, SINGLE, VARIANCES, Cells, cells_of, draws
from plandp.audit.renyi import (
    epsilon_lower_bound,
    exact_rho,
    proportion_bounds,
    rho_lower_bound,
    shifted_divergence,
)


@pytest.mark.parametrize("runs", [1, 20, 300])
@pytest.mark.parametrize("error", [0.1, 1e-3])
def test_proportion_bounds_are_wrong_as_rarely_as_they_say(runs: int, error: float) -> None:
    # Exact coverage: every possible count, weighed by its probability.
    low, high = proportion_bounds(np.arange(runs + 1), runs, error=error)
    for p in (0.0, 1e-4, 0.03, 0.5, 0.77, 1.0):
        weight = binom.pmf(np.arange(runs + 1), runs, p)
        assert weight[low > p].sum() <= error * (1 + 1e-9)
        assert weight[high < p].sum() <= error * (1 + 1e-9)


def test_proportion_bounds_are_close_to_the_count() -> None:
    low, high = proportion_bounds(np.array([0, 500, 1000]), 1000, error=0.025)
    assert low == pytest.approx([0.0, 0.4686, 0.9963], abs=1e-3)
    assert high == pytest.approx([0.0037, 0.5314, 1.0], abs=1e-3)


def test_divergence_of_two_coins_is_the_textbook_one() -> None:
    p, q = np.array([0.6, 0.4]), np.array([0.3, 0.7])
    by_hand = max(
        float(np.log(p[0] ** a * q[0] ** (1 - a) + p[1] ** a * q[1] ** (1 - a))) / (a - 1) / a
        for a in np.linspace(1.001, 20, 5000)
    )
    assert rho_lower_bound(p, q) == pytest.approx(by_hand, rel=1e-3)
    assert rho_lower_bound(p, p) < 1e-12
    assert rho_lower_bound(p, np.array([0.0, 1.0])) < 1.0  # an event that is certain not to happen is left out


def test_bounds_in_place_of_probabilities_only_lower_the_bound() -> None:
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    assert 0 < rho_lower_bound(p * 0.9, np.minimum(q * 1.1, 1)) < rho_lower_bound(p, q)
    assert rho_lower_bound(p[:2], q[:2]) < rho_lower_bound(p, q)


@pytest.mark.parametrize("rho", [0.1, 0.5, 1.5])
def test_events_of_a_gaussian_never_exceed_its_rho_and_many_come_close(rho: float) -> None:
    edges = np.linspace(-5, 5, 400)
    p, q = (np.diff(norm.cdf(edges, loc)) for loc in ((2 * rho) ** 0.5, 0.0))
    assert 0.99 * rho < rho_lower_bound(p, q) <= rho * (1 + 1e-9)
    assert rho_lower_bound(np.array([p[:200].sum(), p[200:].sum()]), np.array([q[:200].sum(), q[200:].sum()])) < rho


def test_epsilon_of_randomised_response() -> None:
    assert epsilon_lower_bound(np.array([0.75, 0.25]), np.array([0.25, 0.75]), 0.0) == pytest.approx(np.log(3))
    assert epsilon_lower_bound(np.array([0.75]), np.array([0.25]), 0.5) == 0.0
    assert epsilon_lower_bound(np.array([0.0]), np.array([0.0]), 1e-6) == 0.0


@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(9)])
def test_shifted_divergence_is_exact_at_whole_orders_and_less_between(shift: int, sigma2: Fraction) -> None:
    rho = float(exact_rho(shift**2, sigma2))
    for alpha in (2.0, 3.0, 7.0):
        assert shifted_divergence(shift, float(sigma2), alpha) == pytest.approx(alpha * rho, rel=1e-9)
    for alpha in (1.001, 1.5, 2.7):
        assert shifted_divergence(shift, float(sigma2), alpha) <= alpha * rho * (1 + 1e-9)


# --- bounds from runs


def gaussian_target(rho: float, rng: np.random.Generator) -> Target:
    def sample(table: int, count: int) -> np.ndarray:
        useless = rng.normal(0, 100, (count, 2))
        return np.column_stack([useless, rng.normal(table * (2 * rho) ** 0.5, 1, count)])

    return Target(name="gaussian", sample=sample, fewest=2000, most=2000)


def test_the_bound_is_wrong_no_more_often_than_stated() -> None:
    # At a confidence of only 1 - 0.3: 60 bounds, of which 18 may exceed the truth; 31 or more have p < 1e-3.
    rng = np.random.default_rng(90)
    target = gaussian_target(0.5, rng)
    wrong = sum(bound_of(target, Clock(seconds=0), error=0.3).rho > 0.5 for _ in range(60))
    assert wrong < 31


def test_a_gaussian_with_a_known_shift_is_told_to_seven_tenths() -> None:
    rng = np.random.default_rng(91)

    def sample(table: int, count: int) -> np.ndarray:
        return rng.normal(table, 1, (count, 1))

    target = Target(name="gaussian", sample=sample, fewest=200_000, most=200_000)
    bound = bound_of(target, Clock(seconds=0), error=1e-5)
    assert 0.35 < bound.rho < 0.5
    assert bound.epsilon > 1.0


def test_events_are_chosen_on_other_runs_than_those_that_are_counted() -> None:
    """Planted: a target whose first fifth shows a large difference, and the rest none."""
    rng = np.random.default_rng(92)
    seen = [0, 0]

    def sample(table: int, count: int) -> np.ndarray:
        early = seen[table] + np.arange(count) < 800
        seen[table] += count
        return (rng.normal(0, 1, count) + 9.0 * early * table)[:, None]

    bound = bound_of(Target(name="trap", sample=sample, fewest=4000, most=4000), Clock(seconds=0), error=1e-4)
    assert bound.rho < 0.01


def test_how_many_runs_are_counted_is_settled_before_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: runs that get a hundred times slower once events are chosen; by the clock fewer would be counted."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    ran = {1.0: 0, 100.0: 0}
    for slower in ran:
        start = now[0]

        def sample(table: int, count: int, start: float = start, slower: float = slower) -> np.ndarray:
            now[0] += 1e-3 * count * (slower if now[0] - start > 2.0 else 1.0)
            ran[slower] += count
            return np.zeros((count, 1))

        target = Target(name="slow", sample=sample, fewest=10, most=10)
        assert bound_of(target, Clock(seconds=10.0, began=start), error=1e-4).runs == ran[slower]
    assert list(ran.values()) == pytest.approx([10_000, 10_000], rel=0.02)


def test_a_handful_of_runs_proves_nothing_and_breaks_nothing() -> None:
    rng = np.random.default_rng(93)
    for fewest in (3, 4, 5, 8):
        target = Target(name="few", sample=lambda table, count: rng.normal(table, 1, (count, 2)), fewest=fewest, most=9)
        bound = bound_of(target, Clock(seconds=0), error=1e-5)
        assert (bound.rho, bound.runs) == (0.0, 2 * fewest)


def test_a_clock_that_runs_out_in_the_first_runs_proves_nothing_and_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of fifty audits met a machine so busy that it stood still for longer than its part had."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def sample(table: int, count: int) -> np.ndarray:
        now[0] += 0.1 if now[0] < 0.3 else 100.0
        return np.random.default_rng(table).normal(table, 1, (count, 1))

    target = Target(name="still", sample=sample, fewest=40, most=40)
    bound = bound_of(target, Clock(seconds=10.0, began=0.0), error=1e-5)
    assert bound.rho == 0.0


def test_no_difference_gives_no_bound() -> None:
    target = Target(name="constant", sample=lambda table, count: np.zeros((count, 3)), fewest=50, most=50)
    assert bound_of(target, Clock(seconds=0), error=0.01).rho == 0.0


# --- cells of noise


def test_p_values_of_cells_are_exact() -> None:
    cells = Cells(name="coin", probability=np.array([0.5, 0.5]), of=lambda first, second: first)
    cells.add(np.array([0] * 9 + [1]), np.zeros(0, np.int64))
    assert cells.p_values() == pytest.approx([2 * 11 / 1024] * 2, rel=1e-4)


@pytest.mark.parametrize("sigma2", [Fraction(1, 4), Fraction(2), Fraction(10**6), Fraction(1 << 90)])
def test_probabilities_of_cells_add_up(sigma2: Fraction) -> None:
    for cells in cells_of(sigma2):
        assert cells.probability.sum() == pytest.approx(1.0, abs=1e-9), cells.name
        assert (cells.probability > 0).all()


def test_noise_is_drawn_with_the_variance_that_is_asked() -> None:
    # Relative standard error of a variance from 2^16 draws: 0.55%; six of them are 3.3%.
    for sigma2 in (Fraction(1000**2, 3), Fraction(1 << 40)):
        assert float(draws(sigma2, 1 << 16).astype(float).var()) == pytest.approx(float(sigma2), rel=0.033)


def test_probabilities_of_cells_are_as_exact_as_is_granted() -> None:
    # the least σ whose cells are computed from the continuous law: its error falls with σ²
    sigma2 = min(sigma2 for sigma2 in VARIANCES if sigma2 > SINGLE**2)
    values = np.arange(-8_000, 8_001)
    weights = np.exp(-(values**2) / (2.0 * float(sigma2)))
    for cells in cells_of(sigma2):
        if cells.name == "values":
            exact = np.bincount(cells.of(values, values), weights=weights / weights.sum())
            assert np.all(np.abs(exact / cells.probability - 1.0) < ROUNDING)
