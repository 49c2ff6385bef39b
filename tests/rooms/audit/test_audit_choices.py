"""The audit sees choices of the exponential mechanism: nothing in the library as it is, and these planted mistakes."""

from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest

import plandp
from plandp import curator
from plandp.audit import noise_law
from plandp.audit.choices import choice_divergence, side_by_side
from plandp.audit.mechanisms import attacks, paid_and_lost
from plandp.audit.neighbours import Tally, attack
from plandp.audit.watching import SCRIPTS
from plandp.audit.worst_tables import Stage
from plandp.mechanisms import quantiles
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.quantiles import ExponentialMechanism
from plandp.mechanisms.ranked import HeldKeys
from plandp.methods import GAUSSIAN, Estimator
from plandp.noise import exponential_choice, meter
from plandp.noise.exponential_choice import Candidates
from plandp.noise.meter import MeteredNoise

RHO = Fraction(1, 2)
LARGEST_RATE = exponential_choice.largest_rate


def median_mean(rows: Any, design: Any, noise: MeteredNoise) -> Any:
    """A method that chooses medians, draws public coins, and then adds up by what is left."""
    low, high = design.columns.low, design.columns.high
    cells = np.full(design.d, 1000.0)
    lattice = Lattice(low=low, high=high, step=(high - low) / cells, cells=cells)
    half = design.split.sum / 2
    center = ExponentialMechanism()(HeldKeys.of_rows(rows, lattice, None), 0.5, noise, rho=half, step="center")
    signs = noise.public_signs(design.d)  # the same on all tables, however many bits the choices took
    rest = replace(design, split=replace(design.split, sum=half))
    estimate = GAUSSIAN.run(rows, rest, noise)
    return replace(estimate, mean=np.clip(estimate.mean + 1e-9 * center * signs, low, high))


METHOD = Estimator(name="medians", plan=GAUSSIAN.plan, run=median_mean)


def release(table: Any) -> Any:
    return curator.mean(table, bounds=(-1, 1), rho=RHO, method=METHOD)


OTHERS = np.random.default_rng(131).uniform(-1, 1, (11, 3))
ROWS = {"low": -1.0, "high": 1.0, "nan": np.nan, "inf": np.inf, "middle": 0.1}
STAGE = Stage(
    name="medians",
    release=release,
    tables=tuple(np.vstack([np.full(3, value), OTHERS]) for value in ROWS.values()),
    rows=tuple(ROWS),
    alone=(),
    together=None,
)


def kinds(number: int = 0) -> set[str]:
    tally = Tally()
    attack(STAGE, number, RHO, tally)
    return {problem.kind for problem in tally.problems.values()}


@pytest.mark.parametrize("number", range(len(SCRIPTS)), ids=[name for name, _ in SCRIPTS])
def test_nothing_is_found_whatever_is_answered(number: int) -> None:
    assert kinds(number) == set()


def test_penalties_are_attacked_to_their_sensitivity() -> None:
    tally = Tally()
    attack(STAGE, 1, RHO, tally)
    assert tally.furthest["center"] == 1


def half_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        quantiles.ExponentialMechanism,
        "__call__",
        lambda self, ranked, share, noise, **terms: EM(self, ranked, share, Told(noise), **terms),
    )


EM = quantiles.ExponentialMechanism.__call__


class Told:
    """A door that is told half of every sensitivity of choices."""

    def __init__(self, door: MeteredNoise) -> None:
        self.door = door

    def choose(self, candidates: Any, *, sensitivity: int, **terms: Any) -> Any:
        return self.door.choose(candidates, sensitivity=sensitivity // 2, **terms)


def a_rate_3_percent_too_large(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "largest_rate", lambda **terms: LARGEST_RATE(**terms) * Fraction(103, 100))


def choices_at_half_their_cost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "Payment", lambda **terms: PAYMENT(**{**terms, "rho": terms["rho"] / 2}))


PAYMENT = meter.Payment


def a_grid_from_the_data(patch: pytest.MonkeyPatch) -> None:
    """Only cells between the least and the largest value can be chosen."""

    def within(keys: Any, cells: int, wanted: int) -> Candidates:
        all_cells = DISTANCES(keys, cells, wanted)
        widths = all_cells.widths.copy()
        widths[[0, -1]] = 0
        return Candidates(penalties=all_cells.penalties, widths=widths)

    patch.setattr(quantiles, "rank_distances", within)


DISTANCES = quantiles.rank_distances


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (half_the_sensitivity, "sensitivity"),
        (a_rate_3_percent_too_large, "wrong noise"),
        (choices_at_half_their_cost, "accounting"),
        (a_grid_from_the_data, "values decide what is asked"),
    ],
)
def test_mistakes_are_found_in_whole_releases(plant: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert kind in kinds()


def lost() -> tuple[Fraction, list[str]]:
    found = [paid_and_lost(each, RHO) for each in attacks(0) if each.mechanism.startswith("quantile")]
    return max(share for share, _ in found), [problem for _, problems in found for problem in problems]


def test_quantiles_lose_what_they_pay() -> None:
    share, problems = lost()
    assert problems == []
    assert 1 - Fraction(1, 2**50) < share <= 1


@pytest.mark.parametrize("plant", [half_the_sensitivity, a_rate_3_percent_too_large])
def test_mistakes_are_found_in_the_mechanism_alone(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    share, problems = lost()
    assert share > 1.06
    assert problems


def test_the_law_of_choices_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """False alarm 1e-6 per cell and 71 cells; a rate of 1.2 times what is due shows in 4,000 choices."""
    seeds, open_door = count(132), meter.open_door
    monkeypatch.setattr(meter, "open_door", lambda reserved: open_door(reserved=reserved, testing_seed=next(seeds)))

    def least() -> float:
        cells = noise_law.choice_cells()
        cells.add(noise_law.choices(2_000), noise_law.choices(2_000))
        return float(cells.p_values().min())

    assert least() > 1e-6
    monkeypatch.setattr(meter, "largest_rate", lambda **terms: LARGEST_RATE(**terms) * Fraction(6, 5))
    assert least() < 1e-6
    monkeypatch.setattr(meter, "largest_rate", LARGEST_RATE)
    monkeypatch.setattr(meter, "draw_choice", lambda candidates, rate, bits: 5)
    assert least() < 1e-6


def test_steps_are_laid_over_each_other() -> None:
    one = Candidates(penalties=np.array([9, 5, 1, 0]), widths=np.array([0, 3, 0, 4]))
    other = Candidates(penalties=np.array([5, 2]), widths=np.array([1, 6]))
    first, second, widths = side_by_side(one, other)
    assert (first.tolist(), second.tolist(), widths.tolist()) == ([5, 5, 0], [5, 2, 2], [1, 2, 4])
    # two points, penalties 0 and 2 against 2 and 0, at rate 1/2: the losses are ±1
    there, back = (Candidates(penalties=np.array(each), widths=np.array([1, 1])) for each in ([0, 2], [2, 0]))
    p = 1 / (1 + np.exp(-1.0))
    expected = np.log(p * (p / (1 - p)) + (1 - p) * ((1 - p) / p))
    assert choice_divergence([there], [back], Fraction(1, 2), 2.0) == pytest.approx(expected)


def test_the_receipt_says_what_was_chosen() -> None:
    made = plandp.mean(np.zeros((12, 3)), bounds=(-1, 1), rho=RHO, method=METHOD, testing_seed=1)
    assert "chosen by the exponential mechanism: center" in repr(made.receipt)
    again = type(made.receipt).from_dict(made.receipt.to_dict())
    assert again == made.receipt
    assert [payment.mechanism for payment in again.payments] == ["exponential mechanism", "discrete Gaussian"]
