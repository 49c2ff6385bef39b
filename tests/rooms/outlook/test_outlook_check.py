"""`plandp.check`: what it says is what `plandp.mean` does, and it costs nothing."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest

import plandp
from plandp.methods import PLAN, Estimator
from plandp.noise import meter
from plandp.terms.budget import SMALLEST_RHO

TYPICAL = {"n": 10_000, "d": 20, "bounds": (0, 100), "rho": 0.1}


def changed(**public):
    return {**TYPICAL, **public}


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian", "mahalanobis", "iome", "coinpress", "plan-classic"])
@pytest.mark.parametrize(
    "public",
    [
        {"n": 3000, "d": 10, "bounds": (0, 100), "rho": "1/3"},
        {"n": 3000, "d": 10, "bounds": (0, 100), "rho": "1/3", "spread": 7.0},
        {"n": 6500, "d": 2, "bounds": [(0, 1), (-1e6, 1e6)], "rho": 1, "error_scale": "bounds"},
        {"n": 300, "d": 1, "bounds": (0, 100), "epsilon": 1, "delta": 1e-6},
        {"n": 40, "d": 30, "bounds": (0, 100), "rho": 0.01},
        {"n": 1000, "d": 40, "bounds": (0, 100), "rho": 0.05, "smallest_spread": 0.5, "error_norm": 1},
    ],
)
def test_the_split_is_that_of_the_receipt(method, public):
    check = plandp.check(method=method, **public)
    table = np.random.default_rng(0).uniform(0, 1, (public["n"], public["d"]))
    release = plandp.mean(table, method=method, testing_seed=1, **{k: v for k, v in public.items() if k not in "nd"})
    assert check.steps() == tuple((step.step, step.rho) for step in release.receipt.steps())
    assert check.rho == release.receipt.rho == sum(rho for _, rho in check.steps())
    assert sum(check.share(rho) for _, rho in check.steps()) == pytest.approx(1)


def test_nothing_is_drawn_and_nothing_is_spent(monkeypatch):
    def no_door(*_arguments, **_named):
        raise AssertionError("the door was opened")

    monkeypatch.setattr(meter, "open_door", no_door)
    monkeypatch.setattr(meter.MeteredNoise, "__init__", no_door)
    first, second = (plandp.check(**TYPICAL) for _ in range(2))
    assert first.to_json() == second.to_json()


@pytest.mark.parametrize(
    "public",
    [
        changed(),
        changed(n=100),
        changed(method="unscaled"),
        changed(d=1),
        changed(d=2000, n=3000),
        changed(spread=3.0, n=50),
        changed(bounds=(-1e9, 1e9), smallest_spread=0.01),
        changed(error_norm=1, epsilon=0.5, delta=1e-9, rho=None),
    ],
)
def test_the_smallest_n_and_rho_work_and_less_does_not(public):
    check = plandp.check(**public)
    # feasible exactly from the smallest on, as n and ρ grow
    for factor in (1, 1.5, 30):
        assert plandp.check(**{**public, "n": int(check.smallest_n * factor)}).feasible
        at_rho = {"rho": check.smallest_rho * factor, "epsilon": None, "delta": None}
        assert plandp.check(**{**public, **at_rho}).feasible
    at_rho = {"rho": 0.98 * check.smallest_rho, "epsilon": None, "delta": None}
    assert not plandp.check(**{**public, **at_rho}).feasible
    assert not plandp.check(**{**public, "n": check.smallest_n - 1}).feasible
    assert check.feasible == (check.n >= check.smallest_n) == (check.rho >= check.smallest_rho)


def test_nothing_to_find_means_nothing_is_too_small():
    check = plandp.check(**changed(method="gaussian", n=1))
    assert check.feasible
    assert (check.smallest_n, check.smallest_rho) == (1, float(SMALLEST_RHO))
    assert "any n and any rho" in repr(check)


def test_what_no_budget_can_buy_is_said():
    check = plandp.check(**changed(n=1, d=3))
    assert check.smallest_rho is not None  # a budget that protects nobody would do
    assert plandp.check(**changed(n=1, d=10**5)).smallest_rho is None


def test_feasible_means_that_a_run_finds_what_it_looks_for():
    # at the smallest n that is called feasible .01 lost centres are expected: 4 runs without one, seeds fixed
    public = {"bounds": (0, 100_000), "rho": 0.1}
    n = plandp.check(n=1000, d=40, **public).smallest_n
    for run in range(4):
        table = np.random.default_rng(run).normal(30_000, 10, (n, 40))
        release = plandp.mean(table, testing_seed=run, **public)
        assert np.abs(release.center - 30_000).max() < 20
        assert release.spread is not None
        assert not any("too few rows" in warning for warning in release.warnings)


def test_centres_in_doubt_are_not_feasible():
    check = plandp.check(n=120, d=20, bounds=(0, 100), rho=1, spread=10.0)
    assert (check.centers, check.spreads) == ("doubtful", "known")
    assert not check.feasible
    assert check.split.center > 0


def test_wider_bounds_cost_plan_little_and_the_gaussian_mechanism_all():
    plan = plandp.check(**changed(n=1000))
    assert [wider.times for wider in plan.wider_bounds] == [10, 100, 1000]
    shares = [float(plan.split.center / plan.rho), *(wider.center_share for wider in plan.wider_bounds)]
    assert all(np.diff(shares) > 0)
    assert shares[-1] < 2 * shares[0]
    assert all(plan.error < wider.error < 1.1 * plan.error for wider in plan.wider_bounds)
    gaussian = plandp.check(**changed(method="gaussian"))
    assert [wider.error / gaussian.error for wider in gaussian.wider_bounds] == pytest.approx([10, 100, 1000])


def test_wider_bounds_are_those_of_a_wider_question():
    # the same spreads and the same finest spread that matters
    asked = {"n": 2000, "d": 20, "rho": 0.1, "spread": 10.0, "smallest_spread": 0.01}
    narrow, wide = (plandp.check(bounds=bounds, **asked) for bounds in ((0, 100), (-450, 550)))
    assert narrow.wider_bounds[0].error == pytest.approx(wide.error)
    assert narrow.wider_bounds[0].center_share == pytest.approx(float(wide.split.center / wide.rho))


def test_wider_bounds_may_not_be_feasible():
    n = plandp.check(**TYPICAL).smallest_n
    check = plandp.check(**changed(n=n, spread=10.0))
    smallest = plandp.check(**changed(n=check.smallest_n, spread=10.0))
    assert smallest.feasible
    assert not smallest.wider_bounds[-1].feasible
    assert "not feasible" in repr(smallest)


def test_spreads_are_assumed_where_none_are_given():
    check = plandp.check(n=10_000, bounds=[(0, 100), (-5, 5)], rho=0.1)
    assert check.spread_assumed
    assert check.spread.tolist() == [10.0, 1.0]
    assert check.spreads == "found"
    given = plandp.check(n=10_000, bounds=[(0, 100), (-5, 5)], rho=0.1, spread=[10, 1])
    assert not given.spread_assumed
    assert given.spreads == "known"
    assert given.error < check.error < 1.05 * given.error  # finding them costs a part of ρ


def test_the_multiple_of_the_spread_holds_for_any_spread():
    multiples = [plandp.check(**changed(d=7, spread=size)).error_in_spreads for size in (0.01, 1.0, 10.0)]
    assert multiples == pytest.approx([multiples[0]] * 3)
    for p in (1, 2, 3):
        check = plandp.check(**changed(d=2, spread=[3.0, 4.0], error_norm=p))
        assert check.error_in_spreads == pytest.approx(check.error / (3**p + 4**p) ** (1 / p))


def test_errors_count_in_units_of_error_scale():
    raw = plandp.check(**changed(spread=10.0))
    scaled = plandp.check(**changed(spread=10.0, error_scale=5.0))
    assert scaled.error == pytest.approx(raw.error / 5)
    assert scaled.noise_std == pytest.approx(raw.noise_std)
    assert scaled.sampling_error == pytest.approx(raw.sampling_error / 5)


def test_the_sampling_error_is_that_of_a_mean():
    check = plandp.check(n=400, d=1, bounds=(0, 100), rho=1, spread=10.0)
    assert check.sampling_error == pytest.approx(0.6745 * 10 / 20, rel=0.01)


def test_curves_pass_through_the_point_that_was_asked():
    check = plandp.check(**TYPICAL)
    for points, value in ((check.by_rho, 0.1), (check.by_n, 10_000)):
        places = [point.rho if points is check.by_rho else point.n for point in points]
        assert places == sorted(places)
        assert places[0] <= value / 90
        assert places[-1] >= 90 * value
        here = points[places.index(value)]
        assert (here.error, here.gaussian_error, here.feasible) == (check.error, check.gaussian_error, True)
        errors = [point.error for point in points]
        assert errors == sorted(errors, reverse=True)
    other = plandp.check(**changed(n=check.by_n[3].n))
    assert (other.error, other.feasible) == (check.by_n[3].error, check.by_n[3].feasible)


def test_curves_stay_within_what_may_be_asked():
    check = plandp.check(n=1, d=2, bounds=(0, 1), rho=1e-12)
    assert min(point.rho for point in check.by_rho) == 1e-12
    assert min(point.n for point in check.by_n) == 1
    assert max(point.n for point in plandp.check(**changed(n=10**15)).by_n) == 10**15


def test_the_gaussian_error_is_that_of_a_check_of_the_gaussian_mechanism():
    assert plandp.check(**TYPICAL).gaussian_error == plandp.check(**changed(method="gaussian")).error


@pytest.mark.parametrize(
    "bounds", [{"a": (0, 1), "b": (0, 9)}, [(0, 1), (0, 9)], np.array([[0, 1], [0, 9]]), ((0, 1), (0, 9))], ids=type
)
def test_bounds_say_how_many_columns_there_are(bounds):
    check = plandp.check(n=1000, bounds=bounds, rho=1)
    assert check.d == 2
    assert check.labels == (("a", "b") if isinstance(bounds, dict) else (0, 1))
    assert plandp.check(n=1000, d=2, bounds=bounds, rho=1).to_json() == check.to_json()


def test_a_series_of_bounds_names_columns():
    pandas = pytest.importorskip("pandas")
    check = plandp.check(n=1000, bounds=pandas.Series({"a": (0, 1), "b": (0, 9)}), rho=1, spread={"b": 1.0, "a": 0.1})
    assert check.labels == ("a", "b")
    assert check.spread.tolist() == [0.1, 1.0]


@pytest.mark.parametrize(
    ("public", "argument"),
    [
        (changed(n=0), "n"),
        (changed(n=-5), "n"),
        (changed(n=10.5), "n"),
        (changed(n=True), "n"),
        (changed(n="10"), "n"),
        (changed(n=float("nan")), "n"),
        (changed(n=10**400), "n"),
        (changed(d=0), "d"),
        (changed(d=2.5), "d"),
        (changed(d=True), "d"),
        (changed(d=10**12), "d"),
        (changed(d=None), "d"),
        (changed(d=3, bounds=[(0, 1), (0, 2)]), "d"),
        (changed(d=3, bounds={"a": (0, 1)}), "d"),
        (changed(bounds=None), "bounds"),
        (changed(bounds=(1, 0)), "bounds"),
        (changed(bounds="wide"), "bounds"),
        (changed(d=1, bounds={1.5: (0, 1)}), "bounds"),
        (changed(rho=0), "rho"),
        (changed(rho=float("nan")), "rho"),
        (changed(rho=None), "rho"),
        (changed(epsilon=1), "epsilon"),
        (changed(rho=None, epsilon=1, delta=2), "delta"),
        (changed(kind="images"), "kind"),
        (changed(method="best"), "method"),
        (changed(error_norm=0.5), "error_norm"),
        (changed(error_scale=-1), "error_scale"),
        (changed(spread=[1, 2]), "spread"),
        (changed(smallest_spread=200), "smallest_spread"),
    ],
)
def test_wrong_arguments_are_named(public, argument):
    with pytest.raises(plandp.ArgumentError) as caught:
        plandp.check(**public)
    assert caught.value.argument == argument


def test_what_check_refuses_mean_refuses_in_the_same_words():
    table = np.zeros((10, 20))
    for wrong in ({"bounds": (1, 0)}, {"rho": -1}, {"kind": 3}, {"method": None}, {"error_norm": "2"}, {"spread": 0}):
        public = {"bounds": (0, 100), "rho": 0.1, **wrong}
        texts = []
        for ask in (lambda public: plandp.check(n=10, d=20, **public), lambda public: plandp.mean(table, **public)):
            with pytest.raises(plandp.ArgumentError) as caught:
                ask(public)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]


def test_numpy_integers_count():
    assert plandp.check(**changed(n=np.int64(10_000), d=np.int32(20))).to_json() == plandp.check(**TYPICAL).to_json()


def test_an_estimator_of_ones_own_needs_a_predictor():
    mine = Estimator(name="mine", plan=PLAN.plan, run=PLAN.run)
    with pytest.raises(plandp.ArgumentError, match="predictor"):
        plandp.check(**changed(method=mine))
    predicted = plandp.check(**changed(method=dataclasses.replace(mine, predictor=PLAN.predictor)))
    assert predicted.error == plandp.check(**TYPICAL).error
    assert predicted.method == "mine"


def test_a_check_is_a_frozen_value():
    check = plandp.check(**TYPICAL)
    with pytest.raises(dataclasses.FrozenInstanceError):
        check.error = 0.0
    for values in (check.noise_std, check.spread):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0.0


def test_json_holds_every_field():
    check = plandp.check(**changed(d=2, spread=[1, 2]))
    values = json.loads(check.to_json())
    assert values.pop("schema") == "plandp/check/1"
    assert set(values) == {field.name for field in dataclasses.fields(check)}
    assert sum(Fraction(rho) for rho in values["split"].values()) == check.rho == Fraction(values["rho"])
    assert values["error"] == check.error
    assert values["noise_std"] == check.noise_std.tolist()
    assert len(values["by_n"]) == len(check.by_n)


def test_extreme_numbers_give_an_ordinary_check():
    extremes = [
        {"n": 1, "d": 1, "bounds": (0, 2.0**-590), "rho": 1e-12, "error_scale": "bounds"},
        {"n": 10**15, "d": 3, "bounds": (-(2.0**599), 2.0**599), "rho": 1e6, "error_scale": "bounds"},
        {"n": 7, "d": 3, "bounds": (0, 2.0**119), "rho": 0.1, "error_norm": 1e9},
        {"n": 7000, "d": 3, "bounds": (0, 1), "rho": 0.1, "spread": [1e-300, 1e-5, 1e300]},
        {"n": 7000, "d": 2, "bounds": (0, 1), "rho": 0.1, "smallest_spread": 2.0**-45},
    ]
    with np.errstate(all="raise"):  # as a strict caller might
        for public in extremes:
            for method in ("plan", "unscaled", "gaussian", "mahalanobis", "iome", "coinpress", "plan-classic"):
                check = plandp.check(method=method, **public)
                json.loads(check.to_json())  # no infinity, no NaN
                assert np.all(check.noise_std > 0)
                assert repr(check)


def test_the_multiple_is_of_the_norm_of_the_spreads():
    assert "times the l1 norm of the spreads" in repr(plandp.check(**changed(error_norm=1)))
    assert "times the spread\n" in repr(plandp.check(**changed(d=1)))


def test_a_delta_above_one_over_n_is_warned_of_here_as_on_the_release():
    public = {"bounds": (0, 100), "epsilon": 1}
    table = np.zeros((50, 1))
    for delta, told in ((0.5, 1), ("1/40", 1), (0.021, 1), (0.02, 0), (0.01, 0), (1e-6, 0)):
        check = plandp.check(n=50, d=1, delta=delta, method="gaussian", **public)
        release = plandp.mean(table, delta=delta, method="gaussian", **public)
        assert len(check.warnings) == told
        assert check.warnings == release.warnings == tuple(json.loads(check.to_json())["warnings"])
        assert repr(check).count("Warning: delta = ") == told
    assert plandp.check(**TYPICAL).warnings == ()


@pytest.mark.parametrize(
    ("public", "words"),
    [
        (
            changed(),
            [
                "Check: feasible",
                "centres will be found",
                "spreads will be found",
                "spreads of a tenth",
                "half as large, so is the error",
            ],
        ),
        (changed(n=20), ["NOT FEASIBLE", "middle of the bounds", "leans towards", "smallest that would work"]),
        (changed(n=400), ["NOT FEASIBLE", "spreads cannot be found", "shaped by the bounds alone"]),
        (changed(n=120, d=20, rho=1), ["NOT FEASIBLE", "some may be lost", "unless a centre is lost"]),
        (changed(spread=3), ["spreads are given", "for the spreads that are given"]),
        (changed(d=1), ["one column has no shape"]),
        (changed(method="gaussian"), ["centres are not needed", "100.0% of rho"]),
        (changed(method="unscaled"), ["no shape is looked for"]),
    ],
)
def test_the_words_say_why(public, words):
    text = repr(plandp.check(**public))
    for word in words:
        assert word in text, text
    assert max(map(len, text.splitlines())) <= 100
    assert "noise_std" not in text
    assert ("Gaussian mechanism" in text) == (public.get("method") != "gaussian")


def test_one_row_is_one_row_and_a_thousand_times_is_written_out():
    text = repr(plandp.check(n=1, d=1, bounds=(0, 1000), rho=1))
    assert "n = 1 row, d = 1 column\n" in text
    assert "the sampling of 1 row:" in text
    assert " 1,000 x " in text
    assert "e+" not in text
    assert "n = 10,000 rows, d = 20 columns\n" in repr(plandp.check(**TYPICAL))


def test_the_noise_of_few_columns_is_shown_in_the_unit_of_each():
    bounds = {"age": (0, 120), "income": (0, 1e6), "owns_car": (0, 1)}
    check = plandp.check(n=20_000, bounds=bounds, error_scale="bounds", rho=0.1)
    shown = {line.split()[0]: line.split()[1] for line in repr(check).splitlines() if line.endswith("of the spread")}
    assert shown == {label: f"{noise:.3g}" for label, noise in zip(check.labels, check.noise_std, strict=True)}
    many = plandp.check(n=20_000, bounds=[(0, 1)] * 10 + [(0, 1000)], rho=0.1)
    assert "in its own unit: " in repr(many)
    alike = repr(plandp.check(n=20_000, d=3, bounds=(0, 1), rho=0.1))
    assert "noise of a column: " in alike
    assert "own unit" not in alike
