"""One small release, made by hand, for the rooms that show releases."""

from fractions import Fraction

import numpy as np
import pytest

from plandp.terms.payment import Payment
from plandp.terms.receipt import Receipt
from plandp.terms.release import Forecast, MeanRelease


def make_receipt(*, d=3, **changed):
    payments = (
        Payment(step="center", rho=Fraction(1, 20), squared_sensitivity=d, values=d),
        Payment(step="spread bound", rho=Fraction(1, 100), squared_sensitivity=1, values=1),
        Payment(step="spread", rho=Fraction(1, 25), squared_sensitivity=2 * 2**40, values=d),
        Payment(step="center", rho=Fraction(1, 20), squared_sensitivity=d + 4, values=d),
        Payment(step="radius", rho=Fraction(1, 40), squared_sensitivity=1, values=1),
        Payment(step="sum", rho=Fraction(13, 40), squared_sensitivity=4 * 2**72, values=d),
    )
    fields = {
        "rho": Fraction(1, 2),
        "payments": payments,
        "n": 1234,
        "d": d,
        "bounds": ((-1.0, 2.5),) * d,
        "method": "plan",
        "sampler": "exact discrete Gaussian",
        "insecure": False,
        "passes": 2,
        "versions": (("plandp", "0.1.0"), ("numpy", "2.0"), ("python", "3.11")),
    }
    return Receipt(**(fields | changed))


def make_release(*, d=3, receipt=None, **changed):
    index = np.arange(d)
    spread = np.exp(2 * np.sin(index + 1.0))
    fields = {
        "estimate": np.sin(5 * index) / 3,
        "labels": tuple(f"c{i}" for i in range(d)),
        "noise_std": 0.1 * np.sqrt(spread),
        "center": np.sin(5 * index) / 4,
        "spread": spread,
        "radius": 2.5,
        "error_norm": 2.0,
        "error_scale": np.ones(d),
        "missing": None,
        "receipt": receipt or make_receipt(d=d),
        "forecast": Forecast(error=0.3, error_norm=2.0, noise_share=0.65),
        "warnings": (),
    }
    return MeanRelease(**(fields | changed))


def make_refined(*, d=3, **changed):
    """A release of shares of people, refined: each number of a column is another, so that none can be mixed up."""
    unrefined = np.sin(5 * np.arange(d)) / 3
    fields = {
        "kind": "binary",
        "refined": ("combine", "shrink", "clamp"),
        "estimate": np.clip(0.9 * unrefined, 0, 1),
        "unrefined": unrefined,
        "error_std": 0.01 + 0.001 * np.sin(np.arange(d)),
    }
    return make_release(d=d, **(fields | changed))


@pytest.fixture(scope="session")
def receipt_of():
    """Return a function that makes a receipt, some fields replaced."""
    return make_receipt


@pytest.fixture(scope="session")
def release_of():
    """Return a function that makes a release, some fields replaced."""
    return make_release


@pytest.fixture(scope="session")
def refined_of():
    """Return a function that makes a refined release, some fields replaced."""
    return make_refined
