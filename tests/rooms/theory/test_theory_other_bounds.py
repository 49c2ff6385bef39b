"""The diameter theorem, the ways out for small spreads, and the variance estimator's lemma."""

import math

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import chi2

from plandp.errors import ArgumentError
from plandp.theory import (
    advised_resolution,
    distance_from_good_center,
    enough_pairs,
    plan_error_bound,
    rank_error,
    small_spread_bounds,
    unscaled_error_bound,
    variance_bound,
)


def diameter(rows: np.ndarray) -> float:
    return float(max(np.linalg.norm(rows - row, axis=1).max() for row in rows))


def test_the_good_center_lemma_is_attained_without_rank_error() -> None:
    # 0/1 rows of a Hadamard matrix: half of each column is 1, and any two rows differ in half of the columns
    rows = (1 - hadamard(64)[:, 1:]) / 2.0
    allowed = distance_from_good_center(diameter=diameter(rows), share=0.0)
    center = np.ones(63)  # at least half of the rows are on each side, so the rank error is 0
    assert np.linalg.norm(rows[0] - center) <= allowed < 1.01 * np.linalg.norm(rows[0] - center)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4])
def test_the_good_center_lemma_holds_for_any_rows(share: float) -> None:
    rng = np.random.default_rng(21)
    for _ in range(30):
        rows = np.exp(rng.normal(size=(50, 8)) * rng.choice([0.3, 2.0])) * rng.choice([-1, 1], size=(50, 8))
        rank = rng.uniform(0.5 - share, 0.5 + share, 8)
        center = np.array([np.quantile(c, r, method="inverted_cdf") for c, r in zip(rows.T, rank, strict=True)])
        allowed = distance_from_good_center(diameter=diameter(rows), share=share + 1e-9)
        assert np.linalg.norm(rows - center, axis=1).max() <= allowed


def test_the_terms_of_the_diameter_bound() -> None:
    n, d, w, rho = 10**5, 16, 8.0, 0.5
    bound = unscaled_error_bound(rows=n, columns=d, diameter=w, bound=100.0, rho=rho)
    assert bound.holds
    assert bound.radius == pytest.approx(w * math.sqrt(6), rel=1e-3)  # α = 1/3
    assert bound.noise == pytest.approx(bound.radius * math.sqrt(2 * d / (rho / 3)) / n)
    assert bound.clipping == pytest.approx(bound.rows_clipped / n * w * math.sqrt(6), rel=1e-3)
    assert bound.failure == pytest.approx(2 * w / n * math.sqrt(d / rho))  # β = w/(√ρMn) of 2M√d
    assert bound.sampling == 0.0
    # all of it is O(√(d/ρ)·w/n) with these constants
    assert bound.printed < bound.error < 60 * bound.printed
    assert not unscaled_error_bound(rows=100, columns=d, diameter=w, bound=100.0, rho=rho).holds
    with pytest.raises(ArgumentError, match=r"^share: "):
        unscaled_error_bound(rows=n, columns=d, diameter=w, bound=100.0, rho=rho, share=0.5)


def test_rescaling_is_a_search_as_fine_as_the_smallest_spread() -> None:
    σ, smallest = np.array([3.0, 0.5, 0.01]), 0.01
    public = {"rows": 10**6, "spread": σ, "bound": 64.0, "rho": 1.0, "failure": 1e-3}
    bounds = small_spread_bounds(**public)  # type: ignore[arg-type]
    same = plan_error_bound(**public, resolution=smallest, radius_resolution=math.sqrt(smallest))  # type: ignore[arg-type]
    assert bounds.rescaled is not None
    for term in ("sampling", "clipping", "noise", "failure"):
        assert getattr(bounds.rescaled, term) == pytest.approx(getattr(same, term), rel=1e-9)
    noised = plan_error_bound(**{**public, "spread": np.hypot(σ, 1.0)})  # type: ignore[arg-type]
    assert bounds.unit_noise.sampling == noised.sampling
    assert bounds.unit_noise.failure > 2 * noised.failure  # the noise may leave the wider box, too
    assert small_spread_bounds(**{**public, "spread": [1.0, 0.0]}).rescaled is None  # type: ignore[arg-type]


def test_the_advised_resolution_costs_little_and_the_printed_one_much() -> None:
    # one wide column, 999 narrow ones: ‖σ‖₁ is d times as large as the resolution that is harmless
    σ = np.append(100.0, np.full(999, 0.1))
    public = {"rows": 10**8, "spread": σ, "bound": 1000.0, "rho": 1.0, "failure": 1e-6}
    fine = plan_error_bound(**public, resolution=1e-6)  # type: ignore[arg-type]
    τ = advised_resolution(rows=10**8, spread=σ, rho=1.0)
    assert τ == pytest.approx(σ.sum() / 1000)
    advised = plan_error_bound(**public, resolution=τ)  # type: ignore[arg-type]
    printed = plan_error_bound(**public, resolution=float(σ.sum()))  # type: ignore[arg-type]
    assert advised.noise < 1.3 * fine.noise
    assert printed.noise > 20 * fine.noise
    # the norm behind it: τ√(Σ1/σ̂), which the paper has as τ/√‖σ‖₁
    assert np.linalg.norm(1 / np.sqrt(σ)) > 1000 / math.sqrt(σ.sum())


def test_enough_pairs_for_gaussian_rows() -> None:
    # (x - x')²/2 is σ²χ² with one degree of freedom; Chebyshev's quarter is far from exact, as it should be
    k = enough_pairs(12.0)
    assert k == 32
    assert (12 / 4 - 1) / (k / 4) == 0.25  # Var/(kσ²/2)²
    assert chi2.cdf(k / 2, k) + chi2.sf(3 * k / 2, k) < 0.25
    assert enough_pairs(4.0) == 1  # (x - x')² constant


def test_enough_pairs_is_enough_for_rows_with_rare_large_values() -> None:
    # x = ±1/√q with probability q, else 0: variance 1, E(x - x')⁴ = (2 + 6q)/q; exact by a multinomial of differences
    q = 0.05
    κ = (2 + 6 * q) / q
    rng = np.random.default_rng(31)
    x = rng.choice([-1.0, 0.0, 1.0], p=[q / 2, 1 - q, q / 2], size=(2, 4000, enough_pairs(κ))) / math.sqrt(q)
    y = ((x[0] - x[1]) ** 2).sum(axis=1) / 2 / x.shape[2]
    assert (np.abs(y - 1) > 0.5).mean() < 0.25 + 5.5 * math.sqrt(0.25 * 0.75 / 4000)
    assert ((x[0] - x[1]) ** 4).mean() == pytest.approx(κ, rel=0.05)


def test_the_variance_bound_says_when_and_how_many_rows() -> None:
    public = {"columns": 10, "bound": 100.0, "rho": 0.5, "fourth_moment": 12.0, "failure": 0.01}
    found = variance_bound(rows=10**6, **public)  # type: ignore[arg-type]
    assert (found.pairs, found.groups, found.holds) == (192, 10**6 // 384, True)
    for rows, holds in ((found.smallest_rows, True), (found.smallest_rows - 2 * found.pairs, False)):
        assert variance_bound(rows=rows, **public).holds is holds  # type: ignore[arg-type]
    fewer = variance_bound(rows=10**6, **public, pairs=32)  # type: ignore[arg-type]
    assert found.smallest_rows == 6 * fewer.smallest_rows
    assert found.conditions[1].allowed == found.groups / 6
    assert found.conditions[1].given == rank_error(cells=10**5, columns=10, rho=0.5, failure=0.005)
    with pytest.raises(ArgumentError, match=r"^pairs: "):
        variance_bound(rows=10**6, **public, pairs=31)  # type: ignore[arg-type]


def test_the_variance_estimator_at_the_smallest_number_of_rows() -> None:
    # one column at `pairs` that are just enough: 40 runs, each wrong with probability .05 at most; 13 have 1e-7
    public = {"columns": 1, "bound": 8.0, "rho": 0.2, "fourth_moment": 12.0, "failure": 0.05, "pairs": 32}
    n = variance_bound(rows=10**6, **public).smallest_rows  # type: ignore[arg-type]
    found = variance_bound(rows=n, **public)  # type: ignore[arg-type]
    rng, wrong, k = np.random.default_rng(41), 0, found.pairs
    steps = math.ceil(math.log2(64 / found.off))
    for _ in range(40):
        y = chi2.rvs(k, size=found.groups, random_state=rng)  # σ = 1
        low, high = 0.0, 2.0 * k * 64
        for _ in range(steps):
            middle = (low + high) / 2
            if (y < middle).sum() + rng.normal(0, math.sqrt(steps / 0.4)) > found.groups / 2:
                high = middle
            else:
                low = middle
        wrong += abs((low + high) / 2 / k - 1) > 0.5 + found.off
    assert wrong <= 12
