"""IOME, CoinPress and Mahalanobis: every step moves as far as is stated and no further; mistakes that would show."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from neighbouring import AWKWARD, furthest, moved, rows_of
from planted import changed
from whole_runs import account_alarms

from plandp.baselines import coinpress as coinpress_module
from plandp.baselines import iome as iome_module
from plandp.mechanisms import ball_sum, clipped_sum, quantiles, rotated, viewed_keys
from plandp.methods import coinpress, find_estimator, iome
from plandp.steps.estimate import Estimate
from plandp.terms.columns import read_columns
from plandp.theory import coinpress as coinpress_theory
from plandp.theory.iome import rotated_reach

NEAR = Fraction(95, 100)
Run = Callable[..., Estimate]


def worst(method: object, run: Run | None = None, *, d: int = 3, rho: int = 10) -> dict[str, Fraction]:
    """Opposite corners of the box among ordinary rows: the largest ‖Δ‖² / stated squared sensitivity of every step."""
    found: dict[str, Fraction] = {}
    rng = np.random.default_rng(3)
    for far, other_end in ((-1.0, 1.0), (0.0, 1.0), (0.0, np.nan)):
        table = np.clip(rng.normal(0, 0.1, (400, d)), -1, 1)
        other = table.copy()
        table[0], other[0] = far, other_end
        columns = read_columns(labels=range(d), bounds=(-1, 1), smallest_spread=2.0**-5, spread=None)
        estimator = find_estimator(method)
        design = estimator.plan(n=400, columns=columns, rho=Fraction(rho), error_norm=2.0)

        def ask(rows: object, door: Any, run: Run = run or estimator.run, design: Any = design) -> None:
            run(rows_of(rows), design, door)

        for step, ratio in furthest(moved(ask, table, other)).items():
            found[step] = max(ratio, found.get(step, Fraction(0)))
    return found


@pytest.mark.parametrize(
    "method", ["iome", iome(steps=10, offset=1, radius_share=Fraction(1, 4)), iome(universe="published")]
)
@pytest.mark.parametrize("d", [1, 3, 8])
def test_every_step_of_iome_moves_as_far_as_stated(method: object, d: int) -> None:
    found = worst(method, d=d)
    assert set(found) == {"center", "radius", "sum"}
    assert found["radius"] == 1
    # Opposite rows are on opposite sides of every median, but not of every threshold of a search in a random basis.
    assert Fraction(d == 1) <= found["center"] <= 1
    assert found["center"] >= Fraction(1, 4)
    assert NEAR < found["sum"] <= 1


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_every_step_of_coinpress_moves_as_far_as_stated(steps: int) -> None:
    found = worst(coinpress(steps=steps, spread_share=0.05))
    assert set(found) == ({"center", "sum"} if steps > 1 else {"sum"})
    assert max(found.values()) <= 1
    # The first ball reaches beyond the box (a corner is at .84 of it), later ones lie within.
    assert found["sum"] > (NEAR if steps > 2 else Fraction(7, 10))
    assert steps < 3 or found["center"] > NEAR


def test_every_step_of_mahalanobis_moves_no_further_than_stated() -> None:
    found = worst("mahalanobis")
    assert set(found) == {"center", "spread bound", "spread", "radius", "sum"}
    assert max(found.values()) == 1
    assert found["sum"] > NEAR


@pytest.mark.parametrize("method", ["iome", "coinpress", "mahalanobis"])
def test_awkward_rows_move_no_further(method: str) -> None:
    rng = np.random.default_rng(4)
    columns = read_columns(labels=range(3), bounds=(-1, 1), smallest_spread=2.0**-5)
    estimator = find_estimator(method)
    design = estimator.plan(n=5, columns=columns, rho=Fraction(10**6), error_norm=2.0)

    def ask(rows: object, door: Any) -> None:
        estimator.run(rows_of(rows), design, door)

    for _ in range(12):
        table = rng.choice(AWKWARD, (5, 3))
        other = table.copy()
        other[2] = rng.choice(AWKWARD, 3)
        assert max(furthest(moved(ask, table, other)).values()) <= 1


def test_a_rotation_that_is_none_costs_accuracy_and_no_privacy(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only medians are looked for in the random basis: sum and radius do not trust it to keep lengths.
    wrong = changed(rotated, ("self.size ** (-0.5 * len(self.signs))", "self.size ** (0.5 * len(self.signs))"))
    monkeypatch.setattr(iome_module, "Rotation", wrong.Rotation)
    assert max(worst("iome").values()) <= 1


# --- planted mistakes


def iome_with(monkeypatch: pytest.MonkeyPatch, **parts: object) -> None:
    for name, part in parts.items():
        monkeypatch.setattr(iome_module, name, part)


def test_a_sensitivity_of_c_instead_of_2c_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = changed(clipped_sum, ("(2 if nonnegative else 4) * longest**2", "longest**2"))
    monkeypatch.setattr(ball_sum, "private_clipped_sum", wrong.private_clipped_sum)
    assert worst("iome")["sum"] > 3
    assert worst("coinpress")["center"] > 3


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("4 * len(lattice.cells) * ranked.copies**2", "4 * ranked.copies**2", id="columns forgotten"),
        pytest.param("4 * len(lattice.cells) * ranked.copies**2", "len(lattice.cells)", id="½ for 1, as published"),
    ],
)
def test_a_smaller_sensitivity_of_the_searches_is_rejected(
    line: str, replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    iome_with(monkeypatch, SEARCH=changed(quantiles, (line, replacement)).BinarySearch())
    found = worst("iome", d=8)
    assert max(found["center"], found["radius"]) > 1


def test_norms_that_enter_twice_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = changed(
        viewed_keys,
        (
            "return HeldKeys(lattice=lattice, held=LatticeKeys(keys=keys, missing=missing))",
            "return HeldKeys(lattice=lattice, held=LatticeKeys(keys=np.vstack([keys, keys]), missing=2 * missing))",
        ),
    )
    iome_with(monkeypatch, viewed_keys=wrong.viewed_keys)
    assert worst("iome")["radius"] == 4


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("design.split.center / early for", "design.split.center for", id="all of it for each step"),
        pytest.param(", design.split.sum)", ", design.split.rho)", id="all of it for the last"),
        pytest.param("for _ in range(early)", "for _ in range(early - 1)", id="a step forgotten"),
    ],
)
def test_a_budget_of_coinpress_that_does_not_add_up_is_rejected(
    line: str, replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant: Any = changed(coinpress_theory, (line, replacement))
    monkeypatch.setattr(coinpress_module, "coinpress_balls", mutant.coinpress_balls)
    assert account_alarms("coinpress")


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("rho=design.split.radius, step", "rho=2 * design.split.radius, step", id="paid twice"),
        pytest.param("rho=design.split.center, step", "rho=design.split.radius, step", id="another step's budget"),
        pytest.param("rho=design.split.sum, step", "rho=design.split.rho, step", id="all of it"),
    ],
)
def test_a_budget_of_iome_that_does_not_add_up_is_rejected(line: str, replacement: str) -> None:
    wrong = changed(iome_module, (line, replacement))
    assert account_alarms("iome", partial(wrong.iome_mean, offset=2.0, reach=rotated_reach))


def test_a_norm_that_depends_on_the_block_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    # A radius search on norms in units of the largest one of their block: one row moves all the others.
    class Relative:
        def __init__(self, *, view: Any) -> None:
            self.norms = iome_norms(view=view)

        def __call__(self, block: np.ndarray) -> np.ndarray:
            norms = self.norms(block)
            return norms / norms.max()

    iome_norms = iome_module.RowNorms
    iome_with(monkeypatch, RowNorms=Relative)
    assert worst("iome")["radius"] > 1
