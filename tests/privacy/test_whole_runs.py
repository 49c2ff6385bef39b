"""Every draw of a whole run is paid for, and nothing about the values shows outside of the noisy answers."""

import numpy as np
import pytest
from whole_runs import METHODS, account_alarms, value_alarms

import plandp


@pytest.mark.parametrize("method", METHODS)
def test_every_draw_is_paid_and_the_payments_add_up(method: str) -> None:
    assert account_alarms(method) == []


@pytest.mark.parametrize("method", METHODS)
def test_no_value_raises_warns_or_changes_a_shape(method: str) -> None:
    assert value_alarms(method) == []


def test_nor_with_a_public_value_for_missing_ones() -> None:
    assert value_alarms("plan", missing=12.5, error_norm=1, error_scale="bounds") == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1.7e308])
@pytest.mark.parametrize("method", METHODS)
def test_a_single_row_is_a_table_like_any_other(method: str, value: float) -> None:
    with np.errstate(all="raise"):
        release = plandp.mean(np.full((1, 2), value), bounds=(-1, 1), rho=2, method=method, testing_seed=1)
    assert release.estimate.shape == (2,)
    assert np.isfinite(release.estimate).all()


WIDE = 2.0**599
EXTREME = [
    {"rho": "1e-12"},
    {"rho": 10**6},
    {"rho": 1, "bounds": (-WIDE, WIDE), "error_scale": "bounds"},
    {"rho": "1e-12", "bounds": (-WIDE, WIDE), "error_scale": "bounds"},
    {"rho": 10**6, "bounds": (-1 / WIDE, 1 / WIDE), "error_scale": "bounds"},
    {"rho": 1, "bounds": (0, 2.0**120)},
    {"rho": 10**6, "bounds": (0, 2.0**-120), "smallest_spread": 2.0**-165},
    {"rho": 1, "bounds": [(0, 2.0**-120), (0, 2.0**120)]},
    {"rho": 1, "error_scale": [2.0**-119, 2.0**119]},
    {"rho": 1, "smallest_spread": 2.0**-44},
    {"rho": 10**6, "smallest_spread": 2.0**-44},
    {"rho": 1, "smallest_spread": 2.0},
    {"rho": 1, "spread": [1e-300, 1e300]},
    {"rho": 1, "spread": 5e-324, "error_norm": 50},
    {"rho": 1, "error_norm": 50},
    {"rho": 1, "error_norm": 1e6},
    {"rho": 1, "error_norm": 1e300},
    {"rho": 1, "error_norm": 1.7e308},
    {"rho": 1, "error_norm": 1, "bounds": (1.0, float(np.nextafter(1.0, 2.0)))},
]


@pytest.mark.parametrize("arguments", EXTREME, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_extreme_public_arguments_run_to_the_end(method: str, arguments: dict) -> None:
    rng = np.random.default_rng(55)
    table = rng.uniform(-1, 1, (200, 2))
    with np.errstate(all="raise"):
        release = plandp.mean(table, **{"bounds": (-1, 1), **arguments}, method=method, testing_seed=2)
    assert np.isfinite(release.estimate).all()
    assert (release.noise_std > 0).all()
    assert release.receipt.rho == sum(payment.rho for payment in release.receipt.payments)
    assert float(release.receipt.rho) == float(arguments["rho"])


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"bounds": (-1e300, 1e300)}, "bounds"),
        ({"bounds": (0, 1e-300)}, "bounds"),
        ({"error_scale": 1e-300}, "error_scale"),
        ({"error_scale": 1e300}, "error_scale"),
        ({"bounds": (0, 1e40)}, "error_scale"),
        ({"smallest_spread": 1e-30}, "smallest_spread"),
        ({"rho": 1e-13}, "rho"),
        ({"rho": 1e7}, "rho"),
    ],
    ids=str,
)
def test_what_cannot_be_computed_is_refused_before_a_row_is_read(
    arguments: dict, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plandp.data.array import ArrayTable

    def read(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr(ArrayTable, "read", read)
    with pytest.raises(plandp.ArgumentError) as raised:
        plandp.mean(np.zeros((10, 2)), **{"bounds": (-1, 1), "rho": 1, **arguments})
    assert raised.value.argument == argument
