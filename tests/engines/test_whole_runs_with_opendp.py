"""Every method runs with OpenDP's sampler, and its noise stays where the fast sampler draws it."""

from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pytest

import plandp
from plandp.errors import ArgumentError
from plandp.noise.discrete_gaussian import fits_int64

RNG = np.random.default_rng(0)
TABLE = RNG.normal(50.0, 10.0, (3000, 3))


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian", "mahalanobis", "iome", "coinpress", "plan-classic"])
def test_every_method_runs_with_opendp(method):
    pytest.importorskip("opendp", reason="the extra opendp is not installed")
    release = plandp.mean(TABLE, bounds=(0, 100), rho=0.5, method=method, sampler="opendp")
    assert release.receipt.sampler == "opendp"
    assert release.receipt.rho == Fraction(1, 2)
    assert dict(release.receipt.versions)["opendp"] == version("opendp")  # whoever drew the noise is named
    # 8 standard deviations of noise a coordinate: false alarm below 1e-14; no noise or wrong units would be far off
    assert np.all(np.abs(release.estimate - TABLE.mean(axis=0)) < 8 * release.noise_std + 0.05)


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian", "mahalanobis", "iome", "coinpress", "plan-classic"])
@pytest.mark.parametrize("rho", ["0.01", "1"])
def test_noise_is_drawn_fast(method, rho):
    # the mistake this is made for: a lattice of squares so fine that each draw took the slow path
    receipt = plandp.mean(TABLE, bounds=(-1e6, 1e6), rho=rho, method=method, testing_seed=1).receipt
    assert all(fits_int64(payment.squared_sensitivity / (2 * payment.rho)) for payment in receipt.payments)


def test_opendp_refuses_a_tiny_rho_before_any_row_is_read():
    # Later, whether its noise is in range would follow from the radius, and so from the data.
    with pytest.raises(ArgumentError, match=r"sampler: 'opendp' draws no noise for rho below 2\*\*-32"):
        plandp.mean(TABLE, bounds=(0, 100), rho="1e-10", sampler="opendp")


@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.1])
def test_with_opendp_no_radius_is_out_of_range(spread):
    # n√rho is small here and smallest_spread fine: a radius many octaves up used to need noise that OpenDP has not.
    pytest.importorskip("opendp", reason="the extra opendp is not installed")
    table = spread * np.random.default_rng(1).standard_normal(10**6)
    plandp.mean(table, bounds=(-1, 1), rho="1e-7", smallest_spread=2.0**-20, sampler="opendp")
