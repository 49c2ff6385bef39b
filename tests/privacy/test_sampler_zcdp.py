"""The noise that the door asks for keeps its promise: Rényi divergence at most rho · alpha for every alpha.

Summed with 60 digits over all of the support that matters, for two queries at the stated distance.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from silent_sampler import SilentSampler

from plandp.noise.bits import SeededBits
from plandp.noise.meter import MeteredNoise

ALPHAS = [
    Decimal("1.01"),
    Decimal("1.5"),
    Decimal(2),
    Decimal("2.5"),
    Decimal(5),
    Decimal(32),
    Decimal("100.5"),
]
ROUNDING = Decimal(10) ** -40
CASES = [
    (shift, rho) for shift in (1, 2, 3) for rho in (Fraction(1, 100), Fraction(1, 8), Fraction(1, 2), Fraction(7, 5))
]


def asked_sigma2(shift: int, rho: Fraction) -> Fraction:
    """What the door really asks of the sampler for a query that moves by `shift`."""
    sampler = SilentSampler()
    door = MeteredNoise(reserved=rho, sampler=sampler, coins=SeededBits(0))
    door.release(np.zeros(1, np.int64), squared_sensitivity=shift**2, rho=rho, step="test")
    return sampler.asked[0]


def excess(sigma2: Fraction, shift: int, rho: Fraction, alpha: Decimal) -> Decimal:
    """D_alpha(N_Z(0, sigma2) ‖ N_Z(shift, sigma2)) - rho · alpha, with 60 digits."""
    with localcontext(prec=60):
        twice = 2 * Decimal(sigma2.numerator) / Decimal(sigma2.denominator)
        # The summand peaks at (1 - alpha) · shift; 20 standard deviations both ways leave less than 1e-80.
        reach = int(20 * float(sigma2) ** 0.5) + 20
        peak = int((1 - alpha) * shift)
        total = sum(((-Decimal(x * x) / twice).exp() for x in range(-reach, reach + 1)), Decimal(0))
        powered = sum(
            (
                ((-alpha * x * x - (1 - alpha) * (x - shift) ** 2) / twice).exp()
                for x in range(peak - reach, peak + reach + 1)
            ),
            Decimal(0),
        )
        return (powered / total).ln() / (alpha - 1) - alpha * rho.numerator / rho.denominator


@pytest.mark.parametrize(("shift", "rho"), CASES)
def test_divergence_is_within_the_promise(shift: int, rho: Fraction) -> None:
    sigma2 = asked_sigma2(shift, rho)
    for alpha in ALPHAS:
        assert excess(sigma2, shift, rho, alpha) <= ROUNDING


@pytest.mark.parametrize(("shift", "rho"), CASES)
def test_three_percent_less_noise_breaks_the_promise(shift: int, rho: Fraction) -> None:
    sigma2 = asked_sigma2(shift, rho) * Fraction(97, 100)
    assert all(excess(sigma2, shift, rho, alpha) > ROUNDING for alpha in ALPHAS if alpha == int(alpha))


def test_no_noise_is_wasted() -> None:
    # At integer alpha the bound is met with equality, so the door could not ask for less.
    for shift, rho in CASES:
        assert abs(excess(asked_sigma2(shift, rho), shift, rho, Decimal(2))) < ROUNDING
