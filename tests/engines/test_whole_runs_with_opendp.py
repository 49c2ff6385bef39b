"""Every method runs with OpenDP's sampler, and its noise stays where the fast sampler draws it."""

from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pytest

import plandp
from plandp.noise.discrete_gaussian import fits_int64

RNG = np.random.default_rng(0)
TABLE = RNG.normal(50.0, 10.0, (3000, 3))


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian"])
def test_every_method_runs_with_opendp(method):
    pytest.importorskip("opendp", reason="the extra opendp is not installed")
    release = plandp.mean(TABLE, bounds=(0, 100), rho=0.5, method=method, sampler="opendp")
    assert release.receipt.sampler == "opendp"
    assert release.receipt.rho == Fraction(1, 2)
    assert dict(release.receipt.versions)["opendp"] == version("opendp")  # whoever drew the noise is named
    # 8 standard deviations of noise a coordinate: false alarm below 1e-14; no noise or wrong units would be far off
    assert np.all(np.abs(release.estimate - TABLE.mean(axis=0)) < 8 * release.noise_std + 0.05)


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian"])
@pytest.mark.parametrize("rho", ["0.01", "1"])
def test_noise_is_drawn_fast(method, rho):
    # the mistake this is made for: a lattice of squares so fine that each draw took the slow path
    receipt = plandp.mean(TABLE, bounds=(-1e6, 1e6), rho=rho, method=method, testing_seed=1).receipt
    assert all(fits_int64(payment.squared_sensitivity / (2 * payment.rho)) for payment in receipt.payments)
