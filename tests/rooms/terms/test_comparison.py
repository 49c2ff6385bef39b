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
