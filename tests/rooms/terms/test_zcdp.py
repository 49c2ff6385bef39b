"""The conversions between ρ and (ε, δ): right, tight, and never on the unsafe side."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plandp.errors import ArgumentError
from plandp.terms.zcdp import delta_of, epsilon_of, rho_of

RHOS = [
    Fraction(1, 10**12),
    Fraction(1, 10**7),
    Fraction(1, 1000),
    Fraction(1, 8),
    Fraction(1),
    Fraction(37),
    Fraction(10**4),
]
DELTAS = [1e-30, 1e-12, 1e-6, 0.01, 0.3, 0.999]


def exact_log_delta(x: Decimal, rho: Fraction, epsilon: Decimal) -> Decimal:
    """ln δ of order 1 + x, term by term as the paper prints it, with 60 digits."""
    r = Decimal(rho.numerator) / Decimal(rho.denominator)
    alpha = 1 + x
    return x * (alpha * r - epsilon) - x.ln() + alpha * (1 - 1 / alpha).ln()


def golden(function, low: Decimal, high: Decimal) -> Decimal:
    """The minimum of a unimodal function of ln x: slow, obvious, and unlike the bisection under test."""
    ratio = (Decimal(5).sqrt() - 1) / 2
    a, b = low.ln(), high.ln()
    for _ in range(130):
        left, right = b - ratio * (b - a), a + ratio * (b - a)
        if function(left.exp()) < function(right.exp()):
            b = right
        else:
            a = left
    return function(((a + b) / 2).exp())


def exact_epsilon(rho: Fraction, delta: float) -> Decimal:
    with localcontext(prec=60):
        log_inverse = -Decimal(delta).ln()
        r = Decimal(rho.numerator) / Decimal(rho.denominator)

        def epsilon_at(x: Decimal) -> Decimal:
            return (log_inverse + exact_log_delta(x, rho, Decimal(0))) / x

        return max(Decimal(0), golden(epsilon_at, Decimal("1e-9"), 2 * (log_inverse / r).sqrt() + 1))


@pytest.mark.parametrize(("rho", "epsilon"), [(Fraction(1), 7.77), (Fraction(1, 10), 2.14), (Fraction(1, 1000), 0.183)])
def test_known_values_at_delta_one_in_a_million(rho, epsilon):
    assert epsilon_of(rho, 1e-6) == pytest.approx(epsilon, rel=3e-3)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_above_the_exact_value_and_close_to_it(rho, delta):
    exact, found = exact_epsilon(rho, delta), Decimal(epsilon_of(rho, delta))
    assert found >= exact
    # The terms that cancel are at most about ln(1/δ)/x + 1 large; 1e-11 of that is far above the margin.
    assert found <= exact * (1 + Decimal("1e-11")) + Decimal("1e-13")


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 3), Fraction(2), Fraction(50)])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0, 20.0, 300.0])
def test_delta_is_above_the_exact_value_and_close_to_it(rho, epsilon):
    with localcontext(prec=60):
        high = Decimal(epsilon) * rho.denominator / rho.numerator + 10 * Decimal(rho.denominator)
        exact = golden(lambda x: exact_log_delta(x, rho, Decimal(epsilon)), Decimal("1e-40"), high).exp()
        found = Decimal(delta_of(rho, epsilon))
        assert found >= min(exact, Decimal(1))
        # Relative accuracy of δ is the absolute accuracy of ln δ, which is large when δ is tiny.
        assert found <= exact * (1 + Decimal("1e-8")) or found == Decimal(math.ulp(0.0))


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 8), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_dp_accounting_agrees(rho, delta):
    rdp = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    orders = 1 + np.geomspace(0.02, 1e7, 40_000)
    theirs, _ = rdp.compute_epsilon(orders, orders * float(rho), delta)
    ours = epsilon_of(rho, delta)
    # Their grid of orders can only be worse, by the square of its step.
    assert theirs * (1 - 1e-6) <= ours <= theirs * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0, 40.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-3])
def test_opendp_agrees(scale, delta):
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    gaussian = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale)
    theirs = dp.c.make_zCDP_to_approxDP(gaussian).map(1).epsilon(delta)
    rho = 1 / (2 * Fraction(scale) ** 2)
    assert epsilon_of(rho, delta) == pytest.approx(theirs, rel=1e-6)


@given(
    st.fractions(min_value=Fraction(1, 10**12), max_value=10**4),
    st.floats(1e-30, 0.999),
)
def test_extremes_neither_overflow_nor_raise(rho, delta):
    epsilon = epsilon_of(rho, delta)
    assert 0 <= epsilon < math.inf
    assert 0 <= epsilon <= float(rho) + 2 * math.sqrt(float(rho) * -math.log(delta)) * (1 + 1e-9) + 1e-12
    assert delta_of(rho, epsilon) <= delta * (1 + 1e-6)
    assert delta_of(rho, epsilon * 0.99) >= delta * (1 - 1e-9) or epsilon == 0


@given(
    st.floats(1e-12, 1e4),
    st.floats(1.001, 100.0),
    st.floats(1e-30, 0.9),
    st.floats(0.01, 0.999),
)
def test_more_rho_or_less_delta_is_never_a_smaller_epsilon(rho, more, delta, less):
    assert epsilon_of(Fraction(rho), delta) <= epsilon_of(Fraction(rho * more), delta)
    assert epsilon_of(Fraction(rho), delta) <= epsilon_of(Fraction(rho), delta * less)
    assert delta_of(Fraction(rho), 1.0) <= delta_of(Fraction(rho * more), 1.0)


@given(st.floats(1e-6, 1e4), st.floats(1e-30, 0.999))
def test_rho_of_is_the_largest_that_keeps_the_promise(epsilon, delta):
    rho = rho_of(epsilon, delta)
    assert rho > 0
    assert epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho * (1 + Fraction(1, 10**10)), delta) > epsilon
    digits = Decimal(rho.numerator) / Decimal(rho.denominator)
    assert len(digits.normalize().as_tuple().digits) <= 12
    assert Fraction(digits) == rho


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-30, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("rho", [Fraction(1, 10**400), Fraction(1, 10**30), Fraction(1), Fraction(10**12)])
def test_the_ends_of_the_float_range_are_ordinary(rho, delta):
    assert 0 <= epsilon_of(rho, delta) < math.inf
    assert 0 < delta_of(rho, 0.0) <= 1
    assert 0 < delta_of(rho, 1e9) < (1e-300 if rho <= 1 else 2)
    assert rho_of(1e-9, delta) > 0
    assert rho_of(1e9, delta) > 0


def test_spending_nothing_costs_nothing():
    assert epsilon_of(Fraction(0), 1e-6) == 0
    assert delta_of(Fraction(0), 1.0) == 0


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, math.nan, math.inf])
def test_delta_must_lie_between_zero_and_one(delta):
    for call in (lambda: epsilon_of(Fraction(1), delta), lambda: rho_of(1.0, delta)):
        with pytest.raises(ArgumentError) as refusal:
            call()
        assert refusal.value.argument == "delta"


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf])
def test_epsilon_must_be_finite_and_not_negative(epsilon):
    for call in (lambda: delta_of(Fraction(1), epsilon), lambda: rho_of(epsilon, 1e-6)):
        with pytest.raises(ArgumentError) as refusal:
            call()
        assert refusal.value.argument == "epsilon"


@pytest.mark.parametrize("rho", [Fraction(-1), Fraction(10**400)])
def test_rho_must_not_be_negative_or_absurd(rho):
    for call in (lambda: epsilon_of(rho, 1e-6), lambda: delta_of(rho, 1.0)):
        with pytest.raises(ArgumentError) as refusal:
            call()
        assert refusal.value.argument == "rho"
