"""A comparison as a value: frozen, equal to what its JSON says, and readable."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest

import plandp
from plandp.terms.comparison import Comparison, Contender

COMPARISON = Comparison(
    recommended="plan",
    reason="take plan: it has the lowest measured error",
    contenders=(
        Contender(method="plan", predicted_error=0.1, feasible=True, smallest_n=700, measured_errors=(0.3, 0.1, 0.2)),
        Contender(method="coinpress", predicted_error=3.0, feasible=True, premise="takes spreads for true"),
        Contender(method="opendp", predicted_error=None, feasible=True, measured_errors=(1e9,), budget="rho / d each"),
        Contender(method="iome", predicted_error=0.3, feasible=False, problems=("centres may be lost",)),
    ),
    oracle_error=0.05,
    sampling_error=0.4,
    n=12_345,
    d=2,
    rho=Fraction(1, 3),
    error_norm=2.0,
    spread=np.array([1.0, 0.1]),
    assumed="the spreads of the public data",
    runs=3,
    skipped=("comparing with diffprivlib needs the package diffprivlib",),
    warnings=("delta is large",),
)


def test_json_both_ways():
    again = Comparison.from_json(COMPARISON.to_json())
    assert again == COMPARISON
    assert hash(again) == hash(COMPARISON)
    assert again.contenders == COMPARISON.contenders
    assert again.rho == Fraction(1, 3)
    values = json.loads(COMPARISON.to_json())
    assert values.pop("schema") == "plandp/comparison/1"
    assert set(values) == {field.name for field in dataclasses.fields(Comparison)}
    assert set(values["contenders"][0]) == {field.name for field in dataclasses.fields(Contender)}
    assert dataclasses.replace(COMPARISON, oracle_error=0.06) != COMPARISON
    assert COMPARISON != 3


def test_epsilon_is_shown_at_the_delta_that_was_asked_for():
    public = {"n": 2000, "d": 2, "bounds": (0, 1)}
    line = "rho = 0.0305566 (zCDP), epsilon = 1.000 at delta = 1e-05"
    asked = [ask(**public, epsilon=1, delta="1e-5") for ask in (plandp.compare, plandp.check)]
    asked += [ask(n=2000, d=2, kind="binary", epsilon=1, delta=1e-5) for ask in (plandp.compare, plandp.check)]
    for found in asked:
        assert repr(found).splitlines()[2] == line
        assert (found.delta, found.to_dict()["delta"]) == (1e-5, 1e-5)
    assert Comparison.from_json(asked[0].to_json()) == asked[0]
    values = asked[0].to_dict()
    del values["delta"]  # as it was written before
    assert repr(Comparison.from_json(json.dumps(values))).splitlines()[2].endswith("at delta = 1e-06")
    assert plandp.check(**public, rho=1).delta is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"schema": "plandp/check/1"}',
        '{"schema": "plandp/comparison/1"}',
        COMPARISON.to_json().replace("12345", '"many"'),
        COMPARISON.to_json().replace('"delta": null', '"delta": 2.0'),
        COMPARISON.to_json().replace("1/3", "1/0"),
        COMPARISON.to_json().replace('"feasible": true', '"feasible": 1'),
        COMPARISON.to_json().replace("[1.0, 0.1]", "[1.0]"),
        COMPARISON.to_json().replace('"method": "plan"', '"method": 3'),
        None,
    ],
)
def test_what_is_no_comparison_is_refused(text):
    with pytest.raises(plandp.ArgumentError):
        Comparison.from_json(text)


def test_it_is_a_frozen_value():
    with pytest.raises(dataclasses.FrozenInstanceError):
        COMPARISON.reason = "because"
    with pytest.raises(ValueError, match="read-only"):
        COMPARISON.spread[0] = 5


def test_medians_and_what_counts():
    assert COMPARISON["plan"].measured_error == COMPARISON["plan"].error == 0.2
    assert COMPARISON["iome"].measured_error is None
    assert COMPARISON["iome"].error == 0.3


def test_the_words():
    shown = repr(COMPARISON)
    for words in (
        "Comparison: take plan",
        "n = 12,345 rows, d = 2 columns",
        "Warning: delta is large",
        "iome: centres may be lost",
        "coinpress: takes spreads for true",
        "opendp: rho / d each",
        "left out: comparing with diffprivlib",
        "5e+09 x",
    ):
        assert words in shown
    assert max(map(len, shown.splitlines())) <= 100
