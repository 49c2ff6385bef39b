"""Shrinking works in any unit: single precision must not show."""

import numpy as np
import pytest

from plandp.theory.item_prior import shrunk


@pytest.mark.parametrize("error_norm", [1.0, 2.0, 3.5])
@pytest.mark.parametrize("count", [50, 6000])  # each on its own, and read off a table
@pytest.mark.parametrize("unit", [2.0**-400, 2.0**-130, 2.0**130, 2.0**400])
def test_shrinking_follows_the_unit(unit: float, count: int, error_norm: float) -> None:
    rng = np.random.default_rng(1)
    noise_std = np.exp(rng.uniform(-1.0, 1.0, count))
    noisy = rng.exponential(2.0, count) + noise_std * rng.normal(size=count)
    with np.errstate(all="ignore"):  # as in mean
        one, other = (shrunk(noisy * u, noise_std * u, error_norm=error_norm) for u in (1.0, unit))
    for name in ("mean", "error_std", "error"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name) * unit, rtol=1e-6)
    assert (one.mean >= 0).all()
    assert not np.array_equal(one.mean, noisy)


@pytest.mark.parametrize("error_norm", [1.0, 2.0, 50.0, 400.0, 1e6, 1.7e308])
@pytest.mark.parametrize("ends", [6.0, 30.0])
def test_any_norm_of_the_error_gives_numbers(error_norm: float, ends: float) -> None:
    rng = np.random.default_rng(2)
    noise_std = 10.0 ** np.linspace(-ends, ends, 60)
    with np.errstate(all="ignore"):
        found = shrunk(noise_std * rng.normal(1.0, 1.0, 60), noise_std, error_norm=error_norm)
    for numbers in (found.mean, found.error_std, found.error):
        assert np.isfinite(numbers).all()
        assert (numbers >= 0).all()
