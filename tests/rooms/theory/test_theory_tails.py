"""The look at tails calls light tails light and heavy tails heavy, and says when it saw nothing."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import t as student

from plandp.errors import ArgumentError
from plandp.theory import TailCheck, exact_rate, tail_check

Draw = Callable[[np.random.Generator, int], np.ndarray]
SPREAD = np.array([8.0, 4.0, 2.0, 1.0])


def check(draw: Draw, *, spread: np.ndarray = SPREAD, mean: float = 0.0, seed: int = 1, **more: float) -> TailCheck:
    rng = np.random.default_rng(seed)
    return tail_check(lambda count: draw(rng, count), mean=mean, spread=spread, **more)  # type: ignore[arg-type]


def test_gaussian_rows_are_concentrated_however_correlated() -> None:
    mixing = np.random.default_rng(2).normal(size=(4, 4))
    mixing /= np.linalg.norm(mixing, axis=0)
    laws: tuple[Draw, ...] = (
        lambda rng, count: rng.normal(size=(count, 4)) * SPREAD,
        lambda rng, count: rng.normal(size=(count, 1)) * SPREAD,  # on a line: the heaviest
        lambda rng, count: rng.normal(size=(count, 4)) @ mixing * SPREAD,
    )
    for law in laws:
        found = check(law)
        assert not found.refuted
        assert found.plain.seen
        assert found.plain.fitted_rate > 0.45  # the rate of χ² with one degree of freedom is 1/2 and a bit
        assert found.plain.share[0] == pytest.approx(found.plain.share.max())


def test_binary_rows_are_concentrated_so_much_that_nothing_is_seen() -> None:
    d = 256
    q = np.linspace((1 - math.sqrt(1 - 4 * d**-0.4)) / 2, 0.5, d)  # σ² ≥ d^(-2/5)
    rng = np.random.default_rng(3)
    found = tail_check(
        lambda count: (rng.random((count, d)) < q).astype(float),
        mean=q,
        spread=np.sqrt(q * (1 - q)),
        error_norm=1,
        draws=20_000,
    )
    assert not found.refuted
    assert not found.plain.seen
    assert not found.stretched.seen
    assert min(found.plain.fitted_rate, found.stretched.fitted_rate) > 10


def test_heavy_tails_are_refuted_though_a_lemma_of_the_paper_says_otherwise() -> None:
    # line 655 asks for bounded p-th moments only: Student's t with 3 degrees has the second
    found = check(lambda rng, count: rng.standard_t(3, size=(count, 4)) / math.sqrt(3) * SPREAD)
    assert found.refuted
    assert found.plain.fitted_rate < 0.2
    assert len(found.stretched.too_heavy_at)
    # and the Gaussian law itself for p > 2, where its tail is exp(-Ω(t^(2/p)))
    assert check(lambda rng, count: rng.normal(size=(count, 4)) * SPREAD, error_norm=4.0).plain.refuted


@pytest.mark.parametrize("seed", range(5))
def test_a_law_with_just_the_rate_asked_about_passes_and_one_with_five_percent_less_does_not(seed: int) -> None:
    # one column, Q = x² exponential of rate 1/4: false alarm 1e-9 a run
    def law(rate: float) -> Draw:
        return lambda rng, count: np.sqrt(rng.exponential(1 / rate, size=(count, 1)))

    one = np.array([1.0])
    assert not check(law(0.25), spread=one, seed=seed).refuted
    assert check(law(0.25 * 0.95), spread=one, seed=seed).refuted
    assert check(law(0.25), spread=one, seed=seed).plain.fitted_rate == pytest.approx(0.25, rel=0.2)  # 6 deviations


@pytest.mark.parametrize(("p", "plain", "stretched"), [(2.0, 5 / 4, 3 / 2), (1.0, None, 1 + 2 ** (-2 / 3))])
def test_both_sums_have_their_own_units(p: float, plain: float | None, stretched: float) -> None:
    # only the wider of two columns moves, its square exponential: each sum is that times the column's part of the unit
    spread = np.array([2.0, 1.0])
    found = check(
        lambda rng, count: np.sqrt(rng.exponential(size=(count, 1))) * np.array([2.0, 0.0]), spread=spread, error_norm=p
    )
    one = check(lambda rng, count: np.sqrt(rng.exponential(size=(count, 1))), spread=np.array([1.0])).plain.fitted_rate
    assert found.stretched.fitted_rate == pytest.approx(one * stretched)
    assert plain is None or found.plain.fitted_rate == pytest.approx(one * plain)


def test_exact_laws() -> None:
    assert exact_rate(lambda t: chi2.logsf(t, 1), columns=1, farthest=1000.0) > 0.5
    assert exact_rate(lambda t: chi2.logsf(100 * t, 100), columns=100, farthest=100.0) > 10
    rates = [
        exact_rate(lambda t: math.log(2) + student.logsf(np.sqrt(3 * t), 3), columns=1, farthest=far)
        for far in (10.0, 1e2, 1e3, 1e4)
    ]
    assert all(later < 0.2 * sooner for sooner, later in pairwise(rates))  # to 0, as ln(t)/t


def test_what_is_drawn_must_fit() -> None:
    with pytest.raises(ArgumentError, match=r"^draw: "):
        check(lambda rng, count: rng.normal(size=(count + 1, 4)))
    with pytest.raises(ArgumentError, match=r"^spread: "):
        check(lambda rng, count: rng.normal(size=(count, 2)), spread=np.array([1.0, 0.0]))
