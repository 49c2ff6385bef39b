"""The budget as the caller says it: exact, in one form only, refused by the name of the wrong argument."""

import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plandp.errors import ArgumentError
from plandp.terms.budget import large_delta, read_budget
from plandp.terms.zcdp import epsilon_of


@pytest.mark.parametrize(
    "rho",
    [
        0.1,
        "0.1",
        "1/10",
        " 1/10 ",
        "1e-1",
        Fraction(1, 10),
        Decimal("0.1"),
        np.float64(0.1),
        np.float32(0.1),
        np.float16(0.1),
    ],
)
def test_a_tenth_is_a_tenth_however_it_is_said(rho):
    assert read_budget(rho=rho, epsilon=None, delta=None) == Fraction(1, 10)


@pytest.mark.parametrize("rho", [3, 3.0, "3", np.int64(3), np.uint8(3), Decimal(3), Fraction(3), Fraction(np.int64(3))])
def test_whole_numbers(rho):
    found = read_budget(rho=rho, epsilon=None, delta=None)
    assert found == 3
    assert type(found) is Fraction
    assert type(found.numerator) is int  # NumPy's would overflow


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**6))
def test_a_fraction_stays_what_it_is(rho):
    assert read_budget(rho=rho, epsilon=None, delta=None) == rho
    assert read_budget(rho=f"{rho.numerator}/{rho.denominator}", epsilon=None, delta=None) == rho


@given(st.floats(1e-12, 1e6))
def test_a_float_is_its_shortest_decimal(rho):
    found = read_budget(rho=rho, epsilon=None, delta=None)
    assert float(found) == rho
    assert found == Fraction(repr(rho))


@pytest.mark.parametrize("limit", ["1e-12", "1e6"])
def test_the_limits_are_allowed(limit):
    assert read_budget(rho=limit, epsilon=None, delta=None) == Fraction(limit)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), ("1", "1e-6"), (Fraction(1), Decimal("1e-6")), (1, 1e-6)])
def test_epsilon_and_delta_become_a_rho_that_keeps_them(epsilon, delta):
    rho = read_budget(rho=None, epsilon=epsilon, delta=delta)
    assert epsilon_of(rho, 1e-6) <= 1
    assert epsilon_of(rho * Fraction(1001, 1000), 1e-6) > 1


NOT_POSITIVE = [0, 0.0, -0.0, -1, "-0.1", "0", "0/3"]
NOT_FINITE = [
    math.nan,
    math.inf,
    -math.inf,
    "nan",
    "inf",
    "-Infinity",
    "sNaN",
    Decimal("NaN"),
    Decimal("sNaN"),
]
NOT_SENSIBLE = [
    1e7,
    "1000001",
    10**400,
    1e-13,
    "1/10000000000000",
    5e-324,
    np.float32("inf"),
    "9" * 5000 + "/1",
]
NOT_COMPUTABLE = ["1e999999999", "1e-999999999", Decimal("1e999999")]
NOT_A_NUMBER = ["", "a lot", "1/0", "1/2/3", "1/x", 1j, b"1", [0.1], np.array([0.1]), np.array(0.1), object()]
NOT_MEANT = [True, False, np.True_, np.float64("nan")]
NOT_A_RHO = NOT_POSITIVE + NOT_FINITE + NOT_SENSIBLE + NOT_COMPUTABLE + NOT_A_NUMBER + NOT_MEANT


@pytest.mark.parametrize("rho", NOT_A_RHO, ids=lambda rho: repr(rho)[:20])
def test_what_is_not_a_rho_is_refused_at_once(rho):
    started = time.monotonic()
    with pytest.raises(ArgumentError) as refusal:
        read_budget(rho=rho, epsilon=None, delta=None)
    assert refusal.value.argument == "rho"
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
    # Expanding 1e999999999 would take minutes and gigabytes.
    assert time.monotonic() - started < 5


def test_a_delta_above_one_over_n_is_warned_of_with_both_numbers():
    (text,) = large_delta(0.01, 1000)
    assert text.startswith("delta = 0.01 is above 1/n = 0.001: ")
    assert text.endswith("choose delta far below 1/n")
    # exactly, as the numbers are written: 0.1 is a tenth
    for delta in (0.1, "0.1", "1/10", Fraction(1, 10), Decimal("0.1")):
        assert large_delta(delta, 10) == ()
        assert large_delta(delta, 11) != ()
    assert large_delta(None, 10**15) == ()
    assert large_delta(1e-300, 10**15) == ()
    assert large_delta(0.999, 1) == ()


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 1.5, "0", "1", "1e-400", math.nan, math.inf, True, "tiny", 1 - 1e-18])
def test_a_delta_outside_zero_and_one_is_refused(delta):
    with pytest.raises(ArgumentError) as refusal:
        read_budget(rho=None, epsilon=1.0, delta=delta)
    assert refusal.value.argument == "delta"


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e10, 1e8, 1e-10, True, "much", 10**400])
def test_an_epsilon_that_cannot_be_is_refused(epsilon):
    with pytest.raises(ArgumentError) as refusal:
        read_budget(rho=None, epsilon=epsilon, delta=1e-6)
    assert refusal.value.argument == "epsilon"


def test_an_epsilon_that_means_too_little_rho_is_refused():
    with pytest.raises(ArgumentError) as refusal:
        read_budget(rho=None, epsilon=1e-6, delta=1e-30)
    assert refusal.value.argument == "epsilon"


@pytest.mark.parametrize(
    ("given_form", "argument", "advice"),
    [
        ({}, "rho", "give rho"),
        ({"epsilon": 1.0}, "delta", "epsilon and delta together"),
        ({"delta": 1e-6}, "epsilon", "epsilon and delta together"),
        ({"rho": 1.0, "epsilon": 1.0}, "epsilon", "give rho, or epsilon and delta"),
        ({"rho": 1.0, "delta": 1e-6}, "delta", "receipt.epsilon(delta)"),
        ({"rho": 1.0, "epsilon": 1.0, "delta": 1e-6}, "epsilon", "give rho, or epsilon and delta"),
    ],
)
def test_exactly_one_form_and_advice_for_the_others(given_form, argument, advice):
    with pytest.raises(ArgumentError) as refusal:
        read_budget(**({"rho": None, "epsilon": None, "delta": None} | given_form))
    assert refusal.value.argument == argument
    assert advice in str(refusal.value)
