import numpy as np
import pytest

from plandp.theory.stretch import effective_dimension, noise_error, optimal_stretch

SPREAD = np.array([0.01, 0.3, 1.0, 2.0, 7.0, 100.0])


def expected_cost(stretch, spread, p):
    """p-th moment of noise that is proportional to (root mean square norm of x/s) · s."""
    return np.sqrt(((spread / stretch) ** 2).sum()) ** p * (stretch**p).sum()


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_no_perturbed_stretch_has_a_lower_moment(p):
    best = optimal_stretch(SPREAD, p)
    least = expected_cost(best, SPREAD, p)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 1e-1, 1.0):
        for _ in range(50):
            other = best * np.exp(size * rng.standard_normal(len(SPREAD)))
            assert expected_cost(other, SPREAD, p) >= least * (1 - 1e-12)


def test_the_stretches_of_the_paper():
    np.testing.assert_allclose(optimal_stretch(SPREAD, 2.0), np.sqrt(SPREAD))
    np.testing.assert_allclose(optimal_stretch(SPREAD, 1.0), SPREAD ** (2 / 3))


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_noise_error_against_simulation(p):
    # 40,000 draws: the mean p-th moment is known to about 1%, its p-th root better.  A missing √π or 2 is 20% and more.
    noise = np.random.default_rng(1).standard_normal((40_000, len(SPREAD))) * SPREAD
    simulated = np.mean((np.abs(noise) ** p).sum(axis=1)) ** (1 / p)
    assert noise_error(SPREAD, p) == pytest.approx(simulated, rel=0.03)


def test_noise_error_of_extreme_sizes_stays_finite():
    assert noise_error(np.array([1e-200, 1e-200]), 4.0) == pytest.approx(1e-200 * 6**0.25, rel=1e-9)
    assert noise_error(np.array([1e200, 1e-200]), 2.0) == pytest.approx(1e200, rel=1e-9)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_effective_dimension_counts_equal_columns(p):
    assert effective_dimension(np.full(10, 3.0), p) == pytest.approx(10 ** (2 / p))
    assert effective_dimension(np.array([1.0, 1e-9]), p) == pytest.approx(1.0, rel=1e-6)
