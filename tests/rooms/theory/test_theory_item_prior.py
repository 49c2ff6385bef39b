"""Empirical Bayes with known noise: what all coordinates teach about each."""

import numpy as np
import pytest

from plandp.theory import item_prior
from plandp.theory.item_prior import shrunk


def noisy_popularity(d: int, seed: int, noise: float = 0.002) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means like 1/rank, and noise like their cube root, as a second look has it."""
    mean = 0.5 / np.arange(1, d + 1)
    noise_std = noise * (mean / mean.max()) ** (1 / 3)
    return mean, mean + noise_std * np.random.default_rng(seed).standard_normal(d), noise_std


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_shrunken_means_are_nearer(p: float) -> None:
    mean, noisy, noise_std = noisy_popularity(3000, 1)
    with np.errstate(all="ignore"):  # as in mean
        answer = shrunk(noisy, noise_std, error_norm=p)
    error, before = (float((np.abs(x - mean) ** p).sum()) for x in (answer.mean, np.maximum(noisy, 0.0)))
    assert error < (0.98 if p < 3 else 1.25) * before
    assert np.all(answer.mean >= 0.0)


def test_expected_errors_are_about_the_true_ones_when_means_and_noise_are_unrelated() -> None:
    rng = np.random.default_rng(2)
    mean = np.where(rng.random(6000) < 0.2, rng.exponential(0.02, 6000), 0.0)
    noise_std = np.full(6000, 0.005)
    answer = shrunk(mean + noise_std * rng.standard_normal(6000), noise_std, error_norm=1.0)
    # What the posterior alone expects is a fifth too small, squared: the prior was learned from the same numbers.
    assert (answer.error_std**2).sum() == pytest.approx(((answer.mean - mean) ** 2).sum(), rel=0.15)
    assert answer.error.sum() == pytest.approx(np.abs(answer.mean - mean).sum(), rel=0.3)


def test_what_is_clear_is_left_alone() -> None:
    _, noisy, noise_std = noisy_popularity(500, 3)
    clear = noisy >= item_prior.CLEAR * noise_std
    answer = shrunk(noisy, noise_std, error_norm=1.0)
    assert clear.any()
    np.testing.assert_array_equal(answer.mean[clear], noisy[clear])
    np.testing.assert_array_equal(answer.error_std[clear], noise_std[clear])


def test_few_coordinates_teach_nothing() -> None:
    noisy, noise_std = np.array([-0.1, 0.2, 0.0]), np.full(3, 0.1)
    np.testing.assert_array_equal(shrunk(noisy, noise_std, error_norm=2.0).mean, noisy)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_a_table_reads_what_each_coordinate_would_be_told(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    mean, noisy, noise_std = noisy_popularity(20_000, 4)
    read = shrunk(noisy, noise_std, error_norm=p)
    monkeypatch.setattr(item_prior, "_by_table", item_prior._answers)
    told = shrunk(noisy, noise_std, error_norm=p)
    assert np.abs(read.mean - told.mean).sum() < 0.02 * np.abs(told.mean - mean).sum()
    # where the best answer jumps, a table goes over in a straight line
    assert np.quantile(np.abs(read.error_std / told.error_std - 1.0), 0.99) < 0.05


@pytest.mark.parametrize("noise", [0.01, 0.1, 10.0])
def test_nothing_can_be_told_and_zeros_are_not_beaten_by_noise(noise: float) -> None:
    # Power against a prior that is not tilted to the mean of all: it was 1.6 to 20 times as bad as zeros.
    rng = np.random.default_rng(5)
    mean = np.full(50_000, 2e-4)
    noise_std = np.full(50_000, noise)
    answer = shrunk(mean + noise_std * rng.standard_normal(50_000), noise_std, error_norm=1.0)
    limit = mean.sum() + 4.0 * noise * np.sqrt(50_000)  # what the mean of all coordinates itself is uncertain by
    assert np.abs(answer.mean - mean).sum() < 1.05 * limit


@pytest.mark.parametrize("extreme", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("p", [1.0, 2.0, 300.0])
def test_any_unit_and_any_power(extreme: float, p: float) -> None:
    _, noisy, noise_std = noisy_popularity(300, 6)
    with np.errstate(all="ignore"):  # as in mean
        answer = shrunk(noisy * extreme, noise_std * extreme, error_norm=p)
        one = shrunk(noisy, noise_std, error_norm=p)
    for name in ("mean", "error_std", "error"):
        np.testing.assert_allclose(getattr(answer, name) / extreme, getattr(one, name), rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("seed", [6, 7, 8])
def test_means_that_are_all_alike_are_told_to_be(seed: int) -> None:
    # Four standard deviations above zero no mean is small, and the learned prior has nothing left there: a tilt of it
    # that forgot what was learned would spread the means more than the noise did.
    noise_std = np.full(1024, 0.25)
    noisy = 1.0 + noise_std * np.random.default_rng(seed).standard_normal(1024)
    answer = shrunk(noisy, noise_std, error_norm=1.0)
    assert np.abs(answer.mean - 1.0).sum() < 0.4 * np.abs(noisy - 1.0).sum()
