"""The law of units: a column rescaled with its bounds, scale and spreads has its estimate rescaled; nothing else is."""

from typing import Any

import numpy as np
import pytest

import plandp

N, D = 800, 4
BOUNDS = np.array([[-40.0, 60.0], [-100.0, 100.0], [0.0, 64.0], [-8.0, 8.0]])
SCALE = np.array([1.0, 3.0, 0.5, 1.0])
SMALLEST = np.array([0.37, 0.9, 0.21, 0.11])
SPREAD = np.array([5.0, 9.0, 2.0, 1.0])


def table() -> np.ndarray:
    rng = np.random.default_rng(60)
    rows = rng.normal([3.0, -20.0, 20.0, 0.5], [5.0, 9.0, 2.0, 1.0], (N, D))
    rows[::50, 1] = np.nan
    return rows


def released(factor: np.ndarray, method: str, known: bool, rho: str = "4") -> plandp.MeanRelease:
    public: dict[str, Any] = {"spread": SPREAD * factor} if known else {}
    return plandp.mean(
        table() * factor,
        bounds=[tuple(pair) for pair in (BOUNDS * factor[:, None]).tolist()],
        error_scale=SCALE * factor,
        smallest_spread=SMALLEST * factor,
        rho=rho,
        method=method,
        testing_seed=61,
        **public,
    )


CASES = [
    ("plan", False),
    ("plan", True),
    ("unscaled", False),
    ("gaussian", False),
    ("mahalanobis", False),
    ("iome", False),
    ("coinpress", True),
    ("plan-classic", False),
]


@pytest.mark.parametrize(("method", "known"), CASES)
@pytest.mark.parametrize("factor", [[1, 2.0**12, 1, 1], [2.0**-30, 1, 2.0**40, 8]], ids=str)
@pytest.mark.parametrize("rho", ["4", "0.02"])  # at the second the plan is made of what the centres need
def test_powers_of_two_rescale_exactly(method: str, known: bool, factor: list[float], rho: str) -> None:
    by = np.array(factor, dtype=np.float64)
    plain, rescaled = released(np.ones(D), method, known, rho), released(by, method, known, rho)
    for name in ("estimate", "noise_std", "center", "spread"):
        one, other = getattr(plain, name), getattr(rescaled, name)
        assert one is other is None or (one * by).tolist() == other.tolist()
    assert rescaled.radius == plain.radius
    assert rescaled.forecast == plain.forecast
    assert rescaled.warnings == plain.warnings
    assert rescaled.receipt.payments == plain.receipt.payments


@pytest.mark.parametrize(("method", "known"), CASES)
def test_other_factors_rescale_to_the_last_digits(method: str, known: bool) -> None:
    by = np.array([1.0, 3.7, 1.0 / 7.0, 1e5])
    plain, rescaled = released(np.ones(D), method, known), released(by, method, known)
    width = BOUNDS[:, 1] - BOUNDS[:, 0]
    assert np.abs(rescaled.estimate / by - plain.estimate).max() <= 1e-9 * width.max()
    np.testing.assert_allclose(rescaled.noise_std, plain.noise_std * by, rtol=1e-9)
    assert rescaled.forecast.error == pytest.approx(plain.forecast.error, rel=1e-9)


def test_the_law_can_fail() -> None:
    # Without the scale the noise is shaped differently: the law is about all public units together.
    by = np.array([1.0, 2.0**12, 1.0, 1.0])
    plain = released(np.ones(D), "plan", False)
    other = plandp.mean(
        table() * by, bounds=[tuple(pair) for pair in (BOUNDS * by[:, None]).tolist()], rho=4, testing_seed=61
    )
    assert (other.estimate != plain.estimate * by).any()
