"""The accuracy command: its figures are what they say, and every cell can be run."""

import json
import subprocess
import sys

import numpy as np
import pytest

from plandp_lab.accuracy import page
from plandp_lab.cells import Cell, all_cells, find_cells
from plandp_lab.measure import Summary, one_run
from plandp_lab.oracle import oracle_mean
from plandp_lab.tables import AWKWARD, draw, gaussian_a, skewed


def summary_of(errors, **changed):
    cell = Cell(**({"name": "A", "case": gaussian_a(4, 100), "rho": "1"} | changed))
    baselines = {"gaussian": 9.0, "unscaled": 4.0} if cell.compared else {}
    return Summary.of(cell, [{"oracle": 1.0, "plan": error} | baselines for error in errors])


def test_every_cell_of_the_table_is_there_once():
    labels = [cell.label for cell in all_cells()]
    assert len(set(labels)) == len(labels)
    assert sum(cell.reference is not None for cell in all_cells()) == 18 + 4 + 16
    assert sum(cell.compared for cell in all_cells()) == 2 * len(AWKWARD)
    assert {cell.case.n for cell in all_cells()} == {4000, 10_000, 100_000}


def test_cells_are_chosen_by_part_of_their_label_or_by_pattern():
    assert {cell.rho for cell in find_cells("zero-inflated 5%")} == {"1", "0.125"}
    assert [cell.name for cell in find_cells("t3*0.125")] == ["t3 n=10000 d=128"]
    assert find_cells("no such cell") == ()


def test_a_summary_marks_what_was_not_reached():
    fine = summary_of([1.0, 1.0, 1.1], reference=1.0, compared=True)
    assert (fine.marks, fine.to_oracle, fine.to_baseline) == ((), 1.0, 0.25)
    assert summary_of([1.06] * 3, reference=1.0).marks == ("over reference x1.05",)
    assert summary_of([1.0, 1.0, 2.1]).marks == ("bad run x2",)
    assert summary_of([5.1] * 3, compared=True).marks == ("over baseline x1.25",)
    assert summary_of([5.0] * 3, compared=True).marks == ()


def test_the_page_has_a_line_per_cell_and_says_what_was_public():
    text = page([summary_of([1.0, 2.5], compared=True, reference=0.5)], markdown=True)
    assert "| A rho=1 | 2 | 1.75 | 1.43 |" in text
    assert "smallest_spread=0.0625" in text
    assert "1 of 1 cells marked" in text


def test_a_run_is_repeatable_and_runs_differ():
    cell = Cell(name="small", case=skewed("t3", 4, 2, 500), rho="1", compared=True)
    first = one_run(cell, 0)
    assert first == one_run(cell, 0)
    assert set(first) == {"oracle", "plan", "gaussian", "unscaled"}
    assert first["plan"] != one_run(cell, 1)["plan"]


def test_baselines_are_run_as_often_as_asked_and_no_more():
    cell = Cell(name="small", case=skewed("t3", 4, 2, 500), rho="1", compared=True, times_runs=3)
    assert ["gaussian" in one_run(cell, run) for run in range(4)] == [True, False, False, True]


@pytest.mark.parametrize("family", ["gaussian", "0/1", *AWKWARD])
def test_every_family_can_be_drawn(family):
    table = draw(family, np.random.default_rng(0), 50, np.ones(20), 10.0)
    assert table.shape == (50, 20)
    assert np.all(np.isfinite(table))


def test_the_oracle_has_the_noise_it_should():
    # 300 oracles of a table whose norms hardly vary: error² is 2·radius²·d/(ρn²) on average, to 5% in 300 · 16 draws.
    rng = np.random.default_rng(0)
    table = np.sign(rng.standard_normal((400, 16)))
    errors = [np.sum((oracle_mean(table, 0.5, 2.0, rng) - table.mean(axis=0)) ** 2) for _ in range(300)]
    assert np.mean(errors) == pytest.approx(2 * 16 * 16 / (0.5 * 400**2), rel=0.15)


def test_the_command_prints_the_table_and_writes_the_figures(tmp_path):
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "plandp_lab.accuracy", "--quick", "--processes", "1", "--json", str(figures)]
    shown = subprocess.run([*command, "--cells", "A n=4000 d=64 rho=1"], capture_output=True, text=True, check=True)
    assert "A n=4000 d=64 rho=1 " in shown.stdout
    (written,) = json.loads(figures.read_text())
    assert written["runs"] == 2
    assert 0.01 < written["plan"] < 0.1  # a blow-up would be far outside
