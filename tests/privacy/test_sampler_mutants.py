"""Planted mistakes in the sampler and the door: the tests of the law must reject each of them.

A mistake is a changed line of the real source, so this page also fails when such a line is rewritten.
"""

import importlib.util
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from planted import changed, in_numpy, with_loop
from scipy.stats import chisquare

from plandp.kernels import proposals
from plandp.kernels.compiler import compiled
from plandp.noise import acceptance, discrete_gaussian, meter, staircase, wide_gaussian
from plandp.noise.bits import SeededBits
from plandp.noise.sampler import IntegerArray
from plandp.terms.payment import Payment


def load_law() -> ModuleType:
    path = Path(__file__).parents[1] / "statistics" / "discrete_gaussian_law.py"
    spec = importlib.util.spec_from_file_location("discrete_gaussian_law_for_mutants", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


law = load_law()
SMALL = [Fraction(9, 100), Fraction(1), Fraction(355, 113), Fraction(2500)]
LARGE = [Fraction(1 << 20), Fraction(1 << 80)]


def rejected(draw: Callable[[int, Fraction], IntegerArray], small: int, large: int) -> list[str]:
    """Names of the tests of the law that reject these draws at 1e-6, the level used on the real sampler."""
    alarms = []
    for sigma2 in SMALL:
        if law.small_chi2(draw(small, sigma2).astype(np.int64), sigma2) < 1e-6:
            alarms.append(f"chi2 {sigma2}")
    for sigma2 in LARGE:
        draws = draw(large, sigma2)
        if law.large_chi2(draws, sigma2, bins=50) < 1e-6:
            alarms.append(f"bins {sigma2}")
        if law.low_bits_chi2(draws) < 1e-6:
            alarms.append(f"low bits {sigma2}")
        alarms += [f"{name} {sigma2}" for name, z in law.moment_z(draws, sigma2).items() if abs(z) > 4.9]
    return alarms


def alarms_of(module: ModuleType) -> list[str]:
    return rejected(
        lambda count, sigma2: module.draw_discrete_gaussian(count, sigma2, SeededBits(81)), 100_000, 200_000
    )


def wide_alarms_of(module: ModuleType) -> list[str]:
    return rejected(lambda count, sigma2: module.draw_wide_gaussian(count, sigma2, SeededBits(82)), 8_000, 8_000)


def test_control_the_real_samplers_pass() -> None:
    assert alarms_of(discrete_gaussian) == []
    assert alarms_of(in_numpy(discrete_gaussian)) == []
    assert wide_alarms_of(wide_gaussian) == []


ZERO_TWICE = ("kept &= ~(negative & (magnitude == 0))", "kept = kept")
SIGN = "negative = (word & np.uint64(1 << SELECTOR_BITS)) != 0"


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param(*ZERO_TWICE, id="zero counted twice"),
        pytest.param(SIGN, "negative = (word >> np.uint64(56)) < np.uint64(118)", id="sign biased to 46%, from R"),
        pytest.param(SIGN, "negative = (word >> np.uint64(63)) != 0", id="sign is the first bit of R"),
        pytest.param("return magnitude[kept]", "return magnitude[kept] * 97 // 100", id="noise times 0.97"),
        pytest.param(
            "staircase = staircase_for(sigma2)",
            "staircase = staircase_for(sigma2 * 9409 / 10000)",
            id="sigma times 0.97",
        ),
        pytest.param(
            "astype(np.int64) & ((1 << width_bits) - 1)",
            "astype(np.int64) & ((1 << width_bits) - 2)",
            id="lowest bit lost",
        ),
        pytest.param("kept = surplus > _MARGIN", "kept = surplus > -1", id="everything kept"),
        pytest.param(
            "prefix = word >> np.uint64(SELECTOR_BITS + 1)",
            "prefix = (word >> np.uint64(SELECTOR_BITS + 2)) << np.uint64(1) >> np.uint64(1)",
            id="R only reaches one half",
        ),
    ],
)
def test_mistakes_in_the_batch_are_rejected(line: str, replacement: str) -> None:
    assert alarms_of(in_numpy(discrete_gaussian, (line, replacement)))


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("estimate *= envelope_ratios(staircase)[block]", "pass", id="envelope ignored"),
        pytest.param("/ (2 * staircase.sigma2.numerator)", "/ staircase.sigma2.numerator", id="half forgotten"),
        pytest.param("estimate *= exp_table()[step]", "estimate *= 1.0", id="table forgotten"),
    ],
)
def test_mistakes_in_the_estimate_are_rejected(line: str, replacement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = changed(acceptance, (line, replacement))
    monkeypatch.setattr(discrete_gaussian, "estimated_acceptance", mutant.estimated_acceptance)
    monkeypatch.setattr(discrete_gaussian, "compiled", lambda loop: None)
    assert alarms_of(discrete_gaussian)


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param(" and not (negative and magnitude == 0)", "", id="zero counted twice"),
        pytest.param("np.uint64(1 << selector_bits) != 0", "np.uint64(1 << 63) != 0", id="sign is the first bit of R"),
        pytest.param("-magnitude if negative else magnitude", "magnitude", id="no negative noise"),
        pytest.param("(1 << width_bits) - 1", "(1 << width_bits) - 2", id="lowest bit lost"),
        pytest.param("surplus > 0.0 and", "surplus > -1.0 and", id="everything kept"),
        pytest.param("np.uint64(selector_bits + 1)", "np.uint64(selector_bits + 2)", id="R only reaches one half"),
        pytest.param(" * envelope_ratios[block]", "", id="envelope ignored"),
        pytest.param("* exp_table[step]", "* 1.0", id="table forgotten"),
        pytest.param("* exponent_per_square", "* 1.06 * exponent_per_square", id="sigma times 0.97"),
    ],
)
def test_mistakes_in_the_compiled_loop_are_rejected(line: str, replacement: str) -> None:
    mutant = compiled.__wrapped__(changed(proposals, (line, replacement)).keep_proposals)
    assert alarms_of(with_loop(changed(discrete_gaussian), mutant))


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("a, b = magnitude * magnitude *", "a, b = magnitude * (magnitude + 1) *", id="wrong square"),
        pytest.param("2 * staircase.sigma2.numerator\n", "staircase.sigma2.numerator\n", id="half forgotten"),
        pytest.param("staircase.weights[block], 0", "staircase.weights[0], 0", id="envelope ignored"),
    ],
)
def test_mistakes_in_the_exact_verdict_are_rejected(
    line: str, replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = changed(acceptance, (line, replacement))
    monkeypatch.setattr(wide_gaussian, "kept_magnitude", mutant.kept_magnitude)
    assert wide_alarms_of(wide_gaussian)


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param(" or (negative and magnitude == 0)", "", id="zero counted twice"),
        pytest.param("-magnitude if negative", "magnitude if negative", id="no negative noise"),
        pytest.param(
            "uniform_integer(bits, staircase.width_bits)",
            "uniform_integer(bits, max(0, staircase.width_bits - 1))",
            id="half of each block",
        ),
    ],
)
def test_mistakes_in_the_wide_sampler_are_rejected(line: str, replacement: str) -> None:
    assert wide_alarms_of(changed(wide_gaussian, (line, replacement)))


def test_a_staircase_that_cuts_the_tail_short_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    # 361/4 = 9.5²; a tail from 1.5 sigma on breaks the envelope, and the draws show it.
    mutant = changed(staircase, ("reach = 361 * numerator", "reach = 9 * numerator"))
    monkeypatch.setattr(discrete_gaussian, "staircase_for", mutant.staircase_for)
    assert alarms_of(discrete_gaussian)


# --- the door


class Watcher:
    """A sampler that notes how many payments stood in the book at each draw."""

    name = "exact"
    insecure = True

    def __init__(self) -> None:
        self.door: meter.MeteredNoise | None = None
        self.standing: list[tuple[Payment, ...]] = []

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        assert self.door is not None
        self.standing.append(self.door.payments)
        return np.zeros(count, dtype=np.int64)


def unpaid_draws(module: ModuleType) -> int:
    """How many of 12 releases drew noise without a payment of their own standing before the draw."""
    watcher = Watcher()
    door = module.MeteredNoise(reserved=Fraction(1), sampler=watcher, coins=SeededBits(0))
    watcher.door = door
    unpaid = 0
    for i in range(12):
        before = len(door.payments)
        drawn = len(watcher.standing)
        query = np.zeros(i, dtype=np.object_ if i % 2 else np.int64)
        try:
            door.release(query, squared_sensitivity=1, rho=Fraction(1, 10), step=f"step {i}")
        except meter.BudgetExceeded:
            assert len(door.payments) == before
        if len(watcher.standing) > drawn:
            own = Payment(step=f"step {i}", rho=Fraction(1, 10), squared_sensitivity=1, values=i)
            unpaid += len(watcher.standing[-1]) != before + 1 or watcher.standing[-1][-1] != own
        unpaid += sum(payment.rho for payment in door.payments) > 1
    return unpaid


def test_no_draw_is_unpaid() -> None:
    assert unpaid_draws(meter) == 0


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("self._payments = (*self._payments, payment)", "pass", id="payment not written"),
        pytest.param("if spent > self._reserved:", "if False:", id="no refusal"),
        pytest.param("self._spent = spent", "pass", id="spending forgotten"),
    ],
)
def test_a_door_that_lets_noise_out_unpaid_is_caught(line: str, replacement: str) -> None:
    assert unpaid_draws(changed(meter, (line, replacement))) > 0


def coins_alarm(module: ModuleType) -> bool:
    """Whether a uniformity test at 1e-6 rejects the public coins for any of these ranges."""
    door = module.open_door(reserved=Fraction(1), testing_seed=83)
    counts = [np.bincount(door.public_integers(below=below, count=50_000), minlength=below) for below in (3, 100, 257)]
    return any(chisquare(count).pvalue < 1e-6 for count in counts)


def test_public_coins_by_remainder_are_rejected() -> None:
    assert not coins_alarm(meter)
    assert coins_alarm(changed(meter, ("kept = masked[masked < below]", "kept = (masked % below)")))
