"""`plandp.compare` for items that are there or not."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import plandp
from plandp.methods import Estimator, ItemMethod, iome, plan_classic

PUBLIC: dict[str, Any] = {"n": 20_000, "d": 400, "kind": "binary", "rho": 0.5, "error_norm": 1}
OTHERS = ("plan-classic", "iome")


def test_the_methods_that_know_items_are_side_by_side() -> None:
    found = plandp.compare(**PUBLIC)
    assert {each.method for each in found.contenders} == {"plan", *OTHERS}
    assert found.recommended == "plan"
    assert found.kind == "binary"
    assert found.oracle_error < min(each.error for each in found.contenders)
    assert all(each.feasible and not each.problems for each in found.contenders)
    assert "items that come independently,\n  the first item in half of the rows" in repr(found)
    assert plandp.Comparison.from_json(found.to_json()) == found


@pytest.mark.parametrize("method", ["plan", *OTHERS])
def test_it_predicts_what_a_check_predicts(method: str) -> None:
    check = plandp.check(**PUBLIC, method=method)
    contender = plandp.compare(**PUBLIC)[method]
    assert contender.predicted_error == pytest.approx(check.error, rel=1e-12)
    assert contender.smallest_n == check.smallest_n
    assert (check.method, check.kind) == (method, "binary")


@pytest.mark.parametrize("method", OTHERS)
def test_the_split_of_a_check_is_that_of_the_receipt_to_come(method: str) -> None:
    outlook = plandp.check(n=50, d=3, kind="binary", rho="1/3", method=method)
    release = plandp.mean(np.ones((50, 3)), kind="binary", rho="1/3", method=method, testing_seed=1)
    assert outlook.steps() == tuple((step.step, step.rho) for step in release.receipt.steps())
    assert sum((rho for _, rho in outlook.steps()), Fraction(0)) == Fraction(1, 3)
    # spreads are assumed for the prediction, and no method is told them: the split stays
    assert plandp.check(n=50, d=3, kind="binary", rho="1/3", method=method, spread=0.5).steps() == outlook.steps()


@pytest.mark.parametrize("method", OTHERS)
def test_units_do_not_matter(method: str) -> None:
    one, half = (plandp.check(**PUBLIC, method=method, error_scale=scale) for scale in (1.0, 0.5))
    assert half.error == pytest.approx(2 * one.error)
    assert half.noise_std == pytest.approx(one.noise_std)


@pytest.mark.parametrize(
    ("n", "d", "method", "problem"),
    [
        (300, 4000, "iome", "too few rows or rho to find the medians in the random basis"),
        (300, 4000, "iome", "too few rows or rho to find the clipping radius"),
        (300, 4000, "plan-classic", "too few rows or rho to find the variances"),
        (300, 4000, "plan", "too few rows or rho to find the clipping radius"),
        (2000, 4000, "plan-classic", "most means cannot be told from noise"),
    ],
)
def test_what_cannot_be_found_is_told_with_the_rows_that_would_do(n: int, d: int, method: str, problem: str) -> None:
    asked = {**PUBLIC, "n": n, "d": d, "rho": 0.1}
    found = plandp.compare(**asked)[method]
    assert not found.feasible
    assert found.smallest_n is not None
    assert any(text.startswith(problem) for text in found.problems)
    assert all(text.endswith(f"; at this rho {found.smallest_n:,} rows would do") for text in found.problems)
    assert plandp.compare(**{**asked, "n": found.smallest_n})[method].feasible
    assert not plandp.compare(**{**asked, "n": found.smallest_n - 1})[method].feasible
    assert any(reason.startswith(problem) for reason in plandp.check(**asked, method=method).reasons)


def test_shapes_by_word_and_by_number() -> None:
    shares = {
        "equal": [0.5, 0.5, 0.5],
        "zipf:2": [0.5, 0.125, 0.5 / 9],
        "one-large": [0.5, 5e-5, 5e-5],
    }
    for shape, share in shares.items():
        by_word, by_number = (
            plandp.compare(n=5000, d=3, kind="binary", rho=1, spread_shape=given) for given in (shape, np.sqrt(share))
        )
        assert by_word.spread**2 == pytest.approx(share)
        assert [each.error for each in by_word.contenders] == pytest.approx([e.error for e in by_number.contenders])
    usual = plandp.compare(n=5000, d=3, kind="binary", rho=1)
    assert usual.spread**2 == pytest.approx([0.5, 0.25, 0.5 / 3])


def test_public_items_are_measured_whatever_holds_them() -> None:
    table = np.random.default_rng(5).random((400, 6)) < [0.5, 0.4, 0.1, 0.0, 1.0, 0.3]
    asked: dict[str, Any] = {"kind": "binary", "rho": 4, "runs": 2}
    dense, sparse = (plandp.compare(public_data=data, **asked) for data in (table, csr_array(table)))
    assert dense == sparse
    assert dense.runs == 2
    assert all(len(each.measured_errors) == 2 for each in dense.contenders)
    assert dense.spread**2 == pytest.approx(table.mean(axis=0))
    some = plandp.compare(public_data=table, bounds={1: (0, 1), 4: (0, 1)}, **asked)
    assert some.spread**2 == pytest.approx(table.mean(axis=0)[[1, 4]])


def test_a_method_that_cannot_be_predicted_is_measured() -> None:
    published = iome(universe="published")
    with pytest.raises(plandp.ArgumentError, match=r"^methods: an Estimator without a predictor"):
        plandp.compare(**PUBLIC, methods=[published])
    with pytest.raises(plandp.ArgumentError, match=r"^method: this Estimator has no predictor for items"):
        plandp.check(**PUBLIC, method=published)
    table = np.random.default_rng(5).random((400, 6)) < 0.3
    found = plandp.compare(public_data=table, kind="binary", rho=4, runs=2, methods=[published])
    assert found["iome"].predicted_error is None
    assert found["iome"].measured_error is not None


def test_parts_of_plan_classic_are_predicted_as_they_are() -> None:
    usual, equal = (
        plandp.check(n=20_000, d=400, kind="binary", rho=0.5, method=method)
        for method in (plan_classic(), plan_classic(item_spread=plandp.classic.EqualItems()))
    )
    assert "spread" not in dict(equal.steps())
    assert equal.spreads == "not needed"
    assert np.ptp(equal.noise_std) == pytest.approx(0)
    assert np.ptp(usual.noise_std) > 0


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"kind": "nonnegative", "bounds": (0, 5)}, "kind"),
        ({"kind": "sparse"}, "kind"),
        ({"spread": 0.1}, "spread"),
        ({"smallest_spread": 0.1}, "smallest_spread"),
        ({"bounds": (0, 2)}, "bounds"),
        ({"methods": ["gaussian"]}, "methods"),
        ({"methods": ["diffprivlib"]}, "methods"),
        ({"methods": 5}, "methods"),
        ({"methods": np.array(5.0)}, "methods"),  # found by fuzzing: it says that it can be listed, and cannot
        ({"methods": [Estimator(name="mine", plan=iome().plan, run=iome().run)]}, "methods"),
        ({"spread_shape": "steep"}, "spread_shape"),
        ({"spread_shape": [1, 2]}, "spread_shape"),
        ({"spread_shape": 2.0}, "spread_shape"),
        ({"d": None}, "d"),
        ({"n": None}, "n"),
        ({"public_data": np.ones((3, 2))}, "n"),
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, Any], argument: str) -> None:
    with pytest.raises(plandp.ArgumentError) as refusal:
        plandp.compare(**{**PUBLIC, **wrong})
    assert refusal.value.argument == argument


def test_a_root_mean_square_of_an_item_is_one_at_most() -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^spread_shape: must be at most 1 with kind='binary'"):
        plandp.compare(**PUBLIC, spread_shape=1.001)
    assert plandp.compare(**PUBLIC, spread_shape=1.0).spread.tolist() == [1.0] * 400


def test_a_method_of_ones_own_for_items_takes_part() -> None:
    items = iome().items
    assert items is not None
    mine = Estimator(
        name="mine",
        plan=iome().plan,
        run=iome().run,
        items=ItemMethod(plan=items.plan, run=items.run, predictor=items.predictor),
    )
    found = plandp.compare(**PUBLIC, methods=["iome", mine])
    assert found["mine"].error == found["iome"].error
