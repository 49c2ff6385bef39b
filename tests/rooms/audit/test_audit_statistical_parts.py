"""Statistical parts of the audit: silent about the library as it is, loud about these mistakes.

On the correct library each part may raise a false alarm with the probability that its plan allows (1e-6 here).
"""

import os
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import plandp
from plandp.audit import targets
from plandp.audit.black_box import BlackBox, Target
from plandp.audit.forks import Forks
from plandp.audit.noise_law import VARIANCES, NoiseLaw
from plandp.audit.plan import AuditPlan
from plandp.noise import bits, discrete_gaussian, sampler
from plandp.noise.meter import MeteredNoise

PLAN = AuditPlan(method="gaussian", rho=Fraction(1, 2), seconds=0.0, false_alarm=1e-6)


def black_box(*wanted: str, runs: int = 0) -> BlackBox:
    """The part with some of its targets, and more runs than little time would allow."""

    def few(plan: AuditPlan) -> tuple[Target, ...]:
        everything = (*targets.mechanism_targets(plan), *targets.release_targets(plan))
        return tuple(_longer(target, runs) for target in everything if target.name in wanted)

    return BlackBox(name="black box", targets=few, what="all")


def _longer(target: Target, runs: int) -> Target:
    fewest = max(target.fewest, runs)
    return Target(name=target.name, sample=target.sample, fewest=fewest, most=fewest)


# --- from outside


def test_the_door_is_told_to_seven_tenths_and_not_above_its_claim() -> None:
    finding = black_box("the door alone").run(PLAN)
    assert not finding.broken
    share = float(finding.found.split("rho >= ")[1].split(",")[0]) / 0.5
    assert 0.7 < share < 1
    assert "epsilon >= " in finding.detail
    assert "epsilon <= 5.222 at delta 1e-06" in finding.claim
    assert finding.false_alarm == 1e-6


def test_an_epsilon_that_is_understated_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.audit.black_box.epsilon_of", lambda rho, delta: 0.25)
    finding = black_box("the door alone").run(PLAN)
    assert finding.broken
    assert finding.found.startswith("BROKEN: the door alone rho >= 0.")
    assert "epsilon >= " in finding.found


def test_a_part_that_had_no_time_says_that_it_proves_nothing() -> None:
    finding = black_box("mean, gaussian").run(PLAN)
    assert not finding.broken
    assert finding.found == "nothing: 10 runs are too few to tell any loss (mean, gaussian: rho >= 0)"


def test_a_gaussian_release_is_bounded_from_outside() -> None:
    finding = black_box("mean, gaussian", "clipped sum", runs=1000).run(PLAN)
    assert not finding.broken
    assert all("rho >= 0." in line for line in finding.detail.splitlines())


def narrow_noise(patch: pytest.MonkeyPatch) -> None:
    draw = sampler.ExactSampler.draw
    patch.setattr(sampler.ExactSampler, "draw", lambda self, count, sigma2: draw(self, count, sigma2 / 3))


def no_noise(patch: pytest.MonkeyPatch) -> None:
    draw = sampler.ExactSampler.draw
    patch.setattr(sampler.ExactSampler, "draw", lambda self, count, sigma2: 0 * draw(self, count, sigma2))


def quarter_of_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    release = MeteredNoise.release

    def too_sure(self: Any, query: Any, *, squared_sensitivity: int, **terms: Any) -> Any:
        return release(self, query, squared_sensitivity=max(1, squared_sensitivity // 16), **terms)

    patch.setattr(MeteredNoise, "release", too_sure)


@pytest.mark.parametrize(
    ("plant", "target", "runs"),
    [
        (narrow_noise, "the door alone", 0),
        (quarter_of_the_sensitivity, "the door alone", 0),
        (quarter_of_the_sensitivity, "clipped sum", 0),
        (quarter_of_the_sensitivity, "item sum", 0),
        (quarter_of_the_sensitivity, "mean, gaussian", 300),
        (no_noise, "mean, gaussian", 100),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_too_little_noise_is_found_from_outside(
    plant: Callable[[pytest.MonkeyPatch], None], target: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    finding = black_box(target, runs=runs).run(PLAN)
    assert finding.broken
    assert finding.found.startswith(f"BROKEN: {target} rho >= ")


def test_a_release_that_raises_is_found_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(table: Any, **arguments: Any) -> Any:
        raise ValueError

    monkeypatch.setattr(plandp, "mean", broken)
    finding = black_box("mean, gaussian", runs=10).run(PLAN)
    assert finding.broken
    assert "raised ValueError" in finding.found


# --- the law of the noise


def test_the_noise_follows_its_law() -> None:
    finding = NoiseLaw().run(PLAN)
    assert not finding.broken, finding.detail
    assert finding.runs == 2 * sum(VARIANCES.values())
    assert "ns a draw" in finding.detail


def _changed(change: Callable[[Any, Fraction], Any]) -> Callable[..., Any]:
    draw = discrete_gaussian.draw_discrete_gaussian
    return lambda count, sigma2, source: change(draw(count, sigma2, source), sigma2)


def repeated(draws: Any, sigma2: Fraction) -> Any:
    draws[1::2] = draws[::2]
    return draws


def shared(draws: Any, sigma2: Fraction) -> Any:
    """Every draw of large noise starts with the same values, whoever asks."""
    if sigma2 > 1000:
        shared.known = getattr(shared, "known", {})
        draws = shared.known.setdefault((len(draws), sigma2), draws)
    return draws


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda draws, sigma2: (draws * 0.97).astype(np.int64), id="three percent narrower"),
        pytest.param(lambda draws, sigma2: draws & ~np.int64(1), id="lowest bit lost"),
        pytest.param(lambda draws, sigma2: np.abs(draws), id="no sign"),
        pytest.param(
            lambda draws, sigma2: np.clip(draws, -3 * float(sigma2) ** 0.5, None).astype(np.int64), id="no tail"
        ),
        pytest.param(lambda draws, sigma2: np.rint(draws * 1.0).astype(np.int64) + 1, id="not around zero"),
        repeated,
        shared,
    ],
)
def test_other_noise_is_found(change: Callable[[Any, Fraction], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "draw_discrete_gaussian", _changed(change))
    assert NoiseLaw().run(PLAN).broken


def test_uniform_noise_of_the_right_variance_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(95)

    def uniform(count: int, sigma2: Fraction, source: Any) -> Any:
        reach = min(float(sigma2) ** 0.5 * 3**0.5, 2.0**62)
        return np.rint(rng.uniform(-reach, reach, count)).astype(np.int64)

    monkeypatch.setattr(sampler, "draw_discrete_gaussian", uniform)
    assert NoiseLaw().run(PLAN).broken


# --- forks and threads


def test_forks_and_threads_draw_other_noise() -> None:
    finding = Forks().run(PLAN)
    assert not finding.broken, finding.found
    assert 0 < finding.false_alarm < 1e-8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_bits_that_a_fork_copies_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(5)
    monkeypatch.setattr(bits.OsBits, "take", lambda self, nbytes: source.randbytes(nbytes))
    finding = Forks().run(PLAN)
    assert finding.broken
    assert "process 0" in finding.found


def test_bits_that_threads_share_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits.OsBits, "take", lambda self, nbytes: random.Random(nbytes).randbytes(nbytes))
    finding = Forks().run(PLAN)
    assert finding.broken
    assert "thread 0" in finding.found
