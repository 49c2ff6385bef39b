"""Planted mistakes in the mechanisms: the privacy tests must reject each of them, and accept the real code.

A mistake is a changed line of the real source, so this page also fails when such a line is rewritten.
"""

from fractions import Fraction
from typing import Any

import pytest
from neighbouring import worst_counts, worst_endless, worst_sum
from one_row_alone import company_shows
from planted import changed, in_numpy, with_loop
from test_mechanism_zcdp import ROUNDING, WORST, excess
from whole_runs import account_alarms, value_alarms

from plandp.kernels import lattice_keys
from plandp.kernels import norm_cells as cell_loop
from plandp.mechanisms import clipped_sum, lattice, lattice_counts, norm_cells, recentred, tail_cell
from plandp.mechanisms.recentred import Recentred
from plandp.noise import meter
from plandp.steps import center, radius, spread

RHOS = (Fraction(1), Fraction(6))
FACTOR = "squared_sensitivity = (2 if nonnegative else 4) * longest**2"
CHECK = "vectors[too_long] = 0"
BOTH_SIDES = ("2 * np.minimum(below, len(self.keys) - self.missing) + self.missing", "2 * (below + self.missing)")
BOUNDS = "np.ceil(edges / (step * 2.0**octave)).astype(np.int64) + slack"


def test_control_the_real_code_passes() -> None:
    assert worst_counts() <= 1
    assert worst_sum(nonnegative=False) <= 1
    assert worst_sum(nonnegative=True) <= 1
    assert company_shows() == []
    assert account_alarms() == []
    assert value_alarms() == []
    assert max(max(excess(name, rho).values()) for name in WORST for rho in RHOS) <= ROUNDING


# --- sensitivities


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param("squared_sensitivity=2 * len(query)", id="2d instead of 4d"),
        pytest.param("squared_sensitivity=4", id="d forgotten"),
        pytest.param("squared_sensitivity=max(1, 4 * len(query) * 95 // 100)", id="5% too small"),
    ],
)
def test_a_smaller_sensitivity_of_the_counts_is_rejected(replacement: str) -> None:
    assert worst_counts(changed(lattice_counts, ("squared_sensitivity=4 * len(query)", replacement))) > 1


def test_a_missing_value_that_counts_on_both_sides_is_rejected() -> None:
    both: Any = in_numpy(lattice_counts, BOTH_SIDES)
    both.write_block_keys = in_numpy(
        lattice, ("np.copyto(found, lattice.cells, where=lost)", "np.copyto(found, 0.0, where=lost)")
    ).write_block_keys
    assert worst_counts(both) > 1


@pytest.mark.parametrize(
    ("replacement", "nonnegative"),
    [
        pytest.param("squared_sensitivity = 2 * longest**2", False, id="√2·R where rows have signs"),
        pytest.param("squared_sensitivity = (4 if nonnegative else 2) * longest**2", False, id="the wrong way round"),
        pytest.param("squared_sensitivity = longest**2", True, id="R: add or remove"),
        pytest.param(FACTOR + " * 95 // 100", False, id="5% too small"),
        pytest.param(FACTOR + " * 95 // 100", True, id="5% too small, non-negative"),
    ],
)
def test_a_smaller_sensitivity_of_the_sum_is_rejected(replacement: str, nonnegative: bool) -> None:
    assert worst_sum(nonnegative=nonnegative, sums=changed(clipped_sum, (FACTOR, replacement))) > 1


def test_weights_rounded_up_are_rejected() -> None:
    assert (
        worst_sum(
            nonnegative=False,
            sums=changed(
                clipped_sum,
                ("longest // cells.bounds.astype(integers)", "-(-longest // cells.bounds.astype(integers))"),
            ),
        )
        > 1
    )


def test_rows_above_the_radius_that_are_not_shortened_are_rejected() -> None:
    shortened = "np.minimum(unclipped.astype(integers), longest // cells.bounds.astype(integers))"
    whole = changed(clipped_sum, (shortened, "unclipped"))
    assert worst_sum(nonnegative=False, sums=whole) > 1


def test_bounds_too_small_are_rejected_unless_the_integer_check_stands() -> None:
    short = (BOUNDS, f"({BOUNDS}) * 97 // 100")
    assert worst_sum(nonnegative=False, cells_module=in_numpy(norm_cells, short, (CHECK, "pass"))) > 1
    # With the check, rows are dropped instead and the promise holds: this is what the check is for.
    assert worst_sum(nonnegative=False, cells_module=in_numpy(norm_cells, short)) <= 1
    assert worst_sum(nonnegative=False, cells_module=changed(norm_cells, short)) <= 1


def test_a_longest_row_that_is_not_shortened_is_rejected() -> None:
    endless = ("np.where(norm > top, top / norm, 1.0)", "np.ones_like(norm)")
    assert worst_sum(nonnegative=False, cells_module=in_numpy(norm_cells, endless, (CHECK, "pass"))) > 1


def test_an_endless_row_that_is_not_dropped_is_rejected() -> None:
    assert worst_endless() <= 1
    assert worst_endless(in_numpy(norm_cells, ("y[unusable] = 0.0", "pass"))) > 1


# --- what a row adds


@pytest.mark.parametrize(
    "replacements",
    [
        pytest.param(
            (
                ("vectors = np.rint(y, out=y)", "vectors = y"),
                ("(gather @ vectors).astype(np.int64)", "gather @ vectors"),
                ("np.zeros(count + LINE // 8, kind)", "np.zeros(count + LINE // 8)"),
            ),
            id="sums of floats",
        ),
        pytest.param(
            (("top / norm, 1.0)", "top / norm, 1.0) * (1.0 + 1e-3 * (norm < norm.mean()))"),),
            id="a row is compared with its tile",
        ),
        pytest.param(
            (("counts[present] += in_cell[present]", "counts[present] += 1"),), id="rows of a tile counted once"
        ),
    ],
)
def test_rows_that_feel_their_company_are_rejected(replacements: tuple[tuple[str, str], ...]) -> None:
    assert company_shows(in_numpy(norm_cells, *replacements))


# --- the compiled loops, planted in their source and run as Python


UNCHECKED = "exact > squared_bounds[cell]", "False"
ROUGHLY = "norms[0], norms[1] = np.sqrt(total), np", "norms[0], norms[1] = 0.97 * np.sqrt(total), 0.97 * np"


def mistaken_cells(*replacements: tuple[str, str], bounds: str = BOUNDS) -> Any:
    """The mechanism around a mistaken loop."""
    return with_loop(changed(norm_cells, (BOUNDS, bounds)), changed(cell_loop, *replacements).add_up_cells)


def test_control_the_loops_pass_as_python() -> None:
    assert worst_sum(nonnegative=False, cells_module=mistaken_cells()) <= 1
    assert worst_endless(mistaken_cells()) <= 1
    assert company_shows(mistaken_cells()) == []


@pytest.mark.parametrize(
    ("replacements", "bounds"),
    [
        pytest.param((("if exact > squared_bounds[cell]:", "if False:"),), f"({BOUNDS}) * 97 // 100", id="no check"),
        pytest.param(
            (("if norms[r] > edges[last] else finer[cell]", "if False else finer[cell]"), UNCHECKED),
            BOUNDS,
            id="longest rows not shortened",
        ),
        pytest.param((("else finer[cell]", "else finer[0]"), UNCHECKED), BOUNDS, id="one step for all"),
        pytest.param(
            (("norms[r] * (1.0 + margin) < edges[cell]", "True"), ROUGHLY, UNCHECKED), BOUNDS, id="rough norms"
        ),
    ],
)
def test_a_loop_that_lets_long_rows_through_is_rejected(replacements: tuple[tuple[str, str], ...], bounds: str) -> None:
    assert worst_sum(nonnegative=False, cells_module=mistaken_cells(*replacements, bounds=bounds)) > 1


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("else finer[cell]", "else (1.0 + norms[0] * 1e-3) * finer[cell]", id="neighbour's norm"),
        pytest.param(
            "for r in range(rows):\n            row", "for r in range(TOGETHER):\n            row", id="old rows"
        ),
        pytest.param("counts[cell] += 1", "counts[cell] = 1", id="cells counted once"),
        pytest.param("b = (values[second + at]", "b = (values[first + at]", id="neighbour's values"),
        pytest.param("< reach and norms[1] * (1.0 + margin) < reach", "< reach", id="neighbour's box"),
    ],
)
def test_a_loop_in_which_rows_feel_their_company_is_rejected(line: str, replacement: str) -> None:
    assert company_shows(mistaken_cells((line, replacement)))


def test_a_loop_that_counts_missing_values_on_both_sides_is_rejected() -> None:
    loop = changed(lattice_keys, ("line[c] = key", "line[c] = 0 if key == cells[c] else key")).write_keys
    mutant: Any = in_numpy(lattice_counts, BOTH_SIDES)
    mutant.write_block_keys = with_loop(changed(lattice), loop).write_block_keys  # type: ignore[attr-defined]
    assert worst_counts(mutant) > 1


# --- noise and payments


@pytest.mark.parametrize("name", WORST)
def test_three_percent_less_noise_is_rejected(name: str) -> None:
    noise = "2 * rho.numerator)\n"
    weaker = changed(meter, (noise, "2 * rho.numerator) * Fraction(9409, 10000)\n"))
    assert all(max(excess(name, rho, weaker).values()) > 0.02 for rho in RHOS)


UNPAID = "noisy = noise.release(query, squared_sensitivity=4 * len(query), rho=rho, step=step)"


def test_a_draw_past_the_door_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    unpaid = changed(
        lattice_counts, (UNPAID, "noisy = query + noise._sampler.draw(query.size, 4 * len(query) / (2 * rho))")
    )
    monkeypatch.setattr(center, "private_counts_below", unpaid.private_counts_below)
    assert "draws and payments differ" in account_alarms()


def test_a_count_without_noise_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    unpaid = changed(lattice_counts, (UNPAID, "noisy = query"))
    monkeypatch.setattr(center, "private_counts_below", unpaid.private_counts_below)
    assert "the payments do not add up to the budget" in account_alarms()


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("rho = design.split.spread * share", "rho = design.split.spread * share * 2", id="paid twice"),
        pytest.param("rho = design.split.spread * share", "rho = design.split.spread", id="shares forgotten"),
        pytest.param("Fraction(13, 20))", "Fraction(12, 20))", id="shares do not add up"),
        pytest.param("design.split.spread_bound / len(SHARES)", "design.split.spread_bound", id="bound paid thrice"),
    ],
)
def test_a_spread_budget_paid_twice_or_forgotten_is_rejected(
    line: str, replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plandp.algorithm.private_spread", changed(spread, (line, replacement)).private_spread)
    assert account_alarms()


def test_shares_that_do_not_add_up_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = changed(tail_cell, ("Fraction(share, 20)", "Fraction(share, 18)"))
    monkeypatch.setattr(radius, "FINER_AND_FINER", mutant.FINER_AND_FINER)
    assert account_alarms()


# --- values that show


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param("y[np.isnan(y)] = 0.0", "assert not np.isnan(y).any()", id="a NaN raises"),
        pytest.param(
            "y[np.isnan(y)] = 0.0", "__import__('warnings').warn('NaN') if np.isnan(y).any() else 0", id="warns"
        ),
    ],
)
def test_values_that_show_are_rejected(line: str, replacement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant: Any = changed(recentred, (line, replacement)).Recentred.__call__
    monkeypatch.setattr(Recentred, "__call__", mutant)
    monkeypatch.setattr(norm_cells, "compiled", lambda _: None)
    assert value_alarms()
