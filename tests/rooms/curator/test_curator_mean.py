"""The front door as a user meets it: what it spends, what it refuses, what the release says."""

from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import plandp
from plandp.errors import ArgumentError
from plandp.methods import GAUSSIAN, PLAN, UNSCALED

TABLE = np.random.default_rng(0).normal(50.0, 5.0, (3000, 6))


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian"])
@pytest.mark.parametrize("n", [1, 2, 40, 3000])
def test_every_method_spends_exactly_what_was_asked(method, n):
    release = plandp.mean(TABLE[:n], bounds=(0, 100), rho="1/3", method=method, testing_seed=1)
    assert release.receipt.rho == Fraction(1, 3)
    assert sum(payment.rho for payment in release.receipt.payments) == Fraction(1, 3)
    assert release.receipt.method == method
    assert release.receipt.n == n


@pytest.mark.parametrize(("name", "estimator"), [("plan", PLAN), ("unscaled", UNSCALED), ("gaussian", GAUSSIAN)])
def test_a_name_is_short_for_an_estimator(name, estimator):
    named, given = (plandp.mean(TABLE, bounds=(0, 100), rho=1, method=m, testing_seed=2) for m in (name, estimator))
    assert named == given


def test_every_release_remembers_the_delta_that_was_asked_for():
    budget = {"epsilon": 1, "delta": "1e-5", "testing_seed": 3}
    items = np.eye(4)[[0, 1, 1, 2] * 20]
    events = {"person": list(range(80)), "item": ["a", "b"] * 40}
    releases = [
        plandp.mean(TABLE, bounds=(0, 100), **budget),
        plandp.mean(items, kind="binary", **budget),
        plandp.mean(items, kind="binary", method="iome", **budget),
        plandp.mean_of_events(
            pandas.DataFrame(events), person="person", item="item", items=["a", "b"], people=90, **budget
        ),
    ]
    for release in releases:
        assert release.receipt.delta == 1e-5
        assert "epsilon = 1.000 at delta = 1e-05" in repr(release)
        assert plandp.MeanRelease.from_json(release.to_json()) == release
    assert plandp.mean(TABLE, bounds=(0, 100), rho=1, testing_seed=3).receipt.delta is None


def test_epsilon_and_delta_are_another_way_to_say_rho():
    release = plandp.mean(TABLE, bounds=(0, 100), epsilon=1.0, delta=1e-6, testing_seed=3)
    assert release.receipt.epsilon(1e-6) <= 1.0
    assert release.receipt.epsilon(1e-6) > 0.99


def test_a_seed_repeats_and_marks_the_release_and_its_absence_does_neither():
    once, again = (plandp.mean(TABLE, bounds=(0, 100), rho=1, testing_seed=4) for _ in range(2))
    assert once == again
    assert once.receipt.insecure
    free = [plandp.mean(TABLE, bounds=(0, 100), rho=1) for _ in range(2)]
    assert not free[0].receipt.insecure
    assert np.all(free[0].estimate != free[1].estimate)


@pytest.mark.parametrize("p", [0.5, 0, -1, float("inf"), float("nan"), True, "2", None])
def test_an_error_norm_below_one_is_refused(p):
    with pytest.raises(ArgumentError, match="error_norm"):
        plandp.mean(TABLE, bounds=(0, 100), rho=1, error_norm=p)


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "binary"}, {"method": "best"}, {"method": None}, {"sampler": "numpy"}, {"rho": 0}, {"bounds": None}],
)
def test_wrong_arguments_are_named(wrong):
    (name,) = wrong
    with pytest.raises(ArgumentError, match=name):
        plandp.mean(TABLE, **({"bounds": (0, 100), "rho": 1} | wrong))


def test_too_few_rows_give_the_middle_of_the_bounds_as_centre():
    release = plandp.mean(TABLE[:10], bounds=[(0, 100)] * 5 + [(-20, 400)], rho=0.001, testing_seed=5)
    np.testing.assert_array_equal(release.center, [50.0] * 5 + [190.0])
    assert release.spread is None or np.all(release.spread > 0)
    assert any("too few rows" in text for text in release.warnings)


def test_the_forecast_is_the_size_of_the_error():
    # 6 releases of 60 columns: error over forecast is 1 ± .09 in each; the mean of 6 lies within .15 but with
    # probability 5e-5.  Power: a forecast without its square root, or for the wrong norm.
    for p in (1.0, 2.0):
        ratios = []
        for seed in range(6):
            table = np.random.default_rng(seed).normal(50.0, 5.0, (3000, 60))
            release = plandp.mean(table, bounds=(0, 100), rho=1, error_norm=p, testing_seed=seed)
            error = np.linalg.norm(release.estimate - table.mean(axis=0), ord=p)
            ratios.append(error / release.forecast.error)
        assert abs(np.mean(ratios) - 1.0) < 0.15


def test_the_release_says_what_a_missing_value_counted_as():
    table = np.linspace([0.0, 10.0], [1.0, 20.0], 500)
    for missing, kept in ((None, None), (0.5, [0.5, 0.5]), ({1: 20, 0: 1}, [1.0, 20.0])):
        release = plandp.mean(table, bounds=(0, 20), rho=1, missing=missing)
        assert (None if release.missing is None else release.missing.tolist()) == kept


def test_bounds_by_label_name_the_columns_in_the_order_of_the_data(tmp_path):
    frame = pandas.DataFrame({"name": ["somebody"] * 3000, "age": TABLE[:, 0], "size": TABLE[:, 1], "x": TABLE[:, 2]})
    frame.to_csv(tmp_path / "survey.csv", index=False)
    bounds = {"size": (0, 100), "age": (0, 100)}
    asked = plandp.mean(frame[["age", "size"]], bounds=(0, 100), rho=1, testing_seed=6)
    for data in (frame, polars.from_pandas(frame), tmp_path / "survey.csv"):
        assert plandp.mean(data, bounds=bounds, rho=1, testing_seed=6) == asked
        in_order = plandp.mean(data, bounds=bounds, columns=["size", "age"], rho=1)
        assert in_order.labels == ("size", "age")
    assert plandp.mean(TABLE, bounds={4: (0, 100), 1: (0, 100)}, rho=1).labels == (1, 4)
    items = scipy.sparse.csr_array(TABLE > 50)
    assert plandp.mean(items, kind="binary", bounds={5: (0, 1), 3: (0, 1)}, rho=1).labels == (3, 5)


@pytest.mark.parametrize("data", [TABLE, scipy.sparse.csr_array(TABLE > 50)], ids=["dense", "sparse"])
def test_a_column_that_only_the_bounds_name_is_told_as_bounds(data):
    kind = "real" if isinstance(data, np.ndarray) else "nonnegative"
    with pytest.raises(ArgumentError) as caught:
        plandp.mean(data, kind=kind, bounds={0: (0, 100), "age": (0, 100)}, rho=1)
    assert str(caught.value) == "bounds: the data has no column 'age'; its columns are 0, 1, 2, 3, 4, 5"
    assert caught.value.__context__ is None


def test_a_release_says_where_the_bounds_alone_made_the_noise():
    coins = (TABLE > 50).astype(float)
    found = {
        "tight": plandp.mean(coins, bounds=(0, 1), rho=1, testing_seed=7),
        "generous": plandp.mean(coins, bounds=(-1000, 1000), rho=1, testing_seed=7),
        "one tight column": plandp.mean(coins[:, :1], bounds=(0, 1), rho=1, testing_seed=7),
        "gaussian": plandp.mean(TABLE, bounds=(0, 100), rho=1, method="gaussian", testing_seed=7),
        "a public spread": plandp.mean(TABLE, bounds=(0, 100), rho=1, spread=5, testing_seed=7),
    }
    said = {name: "made for the bounds alone" in repr(release) for name, release in found.items()}
    assert said == {
        "tight": True,
        "generous": False,
        "one tight column": True,
        "gaussian": True,
        "a public spread": False,
    }
    assert "clipping bias" not in found["tight"].forecast.covers
    assert "clipping bias" in found["generous"].forecast.covers
