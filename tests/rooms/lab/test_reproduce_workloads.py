"""The paper's tables are what it says they are, and data sets are those that they claim to be."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from plandp_lab.reproduce.entrants import EMPIRICAL_MEAN, TRUE_MEAN
from plandp_lab.reproduce.panels import binary_panel, panel_a, panel_c, set_panel
from plandp_lab.reproduce.published import Place, in_the_text, published, rerun
from plandp_lab.reproduce.scale import FULL
from plandp_lab.reproduce.stored_sets import Found, KnownSet, find_set
from plandp_lab.reproduce.workloads import (
    binary_rows,
    case_a,
    case_b,
    case_c,
    correlated_a,
    correlated_c,
    distance,
    sample_of,
)

SMALL_SET = (
    KnownSet(title="Toy", file="toy", n=6, d=4, entries=7),
    KnownSet(title="Toy, SUBSET", file="toy_part", n=3, d=4, entries=4, subset="half of its rows"),
)


def save(path: Path, rows: int, ones: int) -> None:
    full = np.zeros(rows * 4)
    full[:ones] = 1
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(full.reshape(rows, 4)))


def test_gaussian_cases_are_those_of_the_published_files() -> None:
    assert (case_a(16).n, case_a(16).bound) == (4000, 100.0)
    assert (case_b(2.0).d, case_b(2.0).n) == (512, 10_000)
    assert case_c(64).bound == 50 * 64 * 8  # M = 50·d·√(max σ), σ = d/i
    np.testing.assert_allclose(case_c(4).spread, [4, 2, 4 / 3, 1])


def test_correlations_of_c_are_a_half_and_its_spreads_those_of_c() -> None:
    rows = sample_of(correlated_c(16), 0).rows
    assert isinstance(rows, np.ndarray)
    correlation = np.corrcoef(rows.T)
    # 10,000 rows: each has a standard error of .0075, so a true .5 is off by .05 once in 10¹⁰ times
    assert abs(correlation[np.triu_indices(16, 1)] - 0.5).max() < 0.05
    np.testing.assert_allclose(rows.std(axis=0), case_c(16).spread, rtol=0.05)
    np.testing.assert_allclose(rows.mean(axis=0), 10.0, atol=6 * 16 / 100)


def test_the_covariance_of_a_is_identity_and_a_triangle_times_its_transpose() -> None:
    rows = sample_of(correlated_a(16), 0).rows
    assert isinstance(rows, np.ndarray)
    covariance = np.cov(rows.T)
    assert covariance.min() > -0.1  # 4,000 rows: standard error .016 off the diagonal
    # Λ has 15 entries in its first row, none in its last, uniform up to 1/4: Σ_11 - 1 is about 15/48
    assert 1.1 < covariance[0, 0] < 1.6
    assert 0.85 < covariance[-1, -1] < 1.15


def test_a_run_has_the_same_table_at_every_budget_and_others_have_other_tables() -> None:
    first, again, other = (sample_of(case_a(4, n=50), run) for run in (0, 0, 1))
    np.testing.assert_array_equal(first.rows, again.rows)  # type: ignore[arg-type]
    assert not np.array_equal(first.rows, other.rows)  # type: ignore[arg-type]
    assert first.truth is not None
    assert first.sampling == distance(first.empirical, first.truth, binary=False)


def test_binary_errors_are_half_of_l1() -> None:
    sample = sample_of(binary_rows(8, 0.5, n=64), 0)
    assert sample.truth is not None
    np.testing.assert_allclose(sample.truth, [0.5] * 4 + [0.01] * 4)
    assert sample.sampling == pytest.approx(np.abs(sample.empirical - sample.truth).sum() / 2)


def test_a_data_set_is_taken_only_with_its_rows_columns_and_ones(tmp_path: Path) -> None:
    assert find_set(SMALL_SET, None) == "Toy: left out, since no --data directory was given"
    assert "holds no toy.npz or toy_part.npz" in str(find_set(SMALL_SET, tmp_path))
    save(tmp_path / "toy.npz", 6, 8)
    assert "8 ones, not 6, 4 and 7" in str(find_set(SMALL_SET, tmp_path))
    save(tmp_path / "toy_part.npz", 3, 4)
    found = find_set(SMALL_SET, tmp_path)
    assert isinstance(found, Found)
    assert found.known.subset
    assert set_panel(FULL, found, "b").note.startswith("Toy, SUBSET: half of its rows. Nothing is published for it")
    save(tmp_path / "toy.npz", 6, 7)  # the whole set before its subset
    found = find_set(SMALL_SET, tmp_path)
    assert isinstance(found, Found)
    assert found.known.title == "Toy"


def test_published_figures_are_found_at_their_places() -> None:
    place = Place(experiment="gaussianA", n=4000, d=64, rho="1", x="64")
    figure = published(place, "PLAN")
    assert figure is not None
    assert (figure.median, figure.runs) == (0.135408, 50)
    again = rerun(place, "IOME")
    assert again is not None
    assert again.median == 0.03092
    text = Place(experiment="gaussianC'", n=10_000, d=1024, rho="0.125", x="1024")
    assert getattr(in_the_text(text, "PLAN"), "median", None) == 9.40
    assert published(text, "PLAN") is None


def test_every_gaussian_and_binary_cell_of_the_paper_has_its_published_median() -> None:
    for panel in (panel_a(FULL), panel_c(FULL), *(binary_panel(FULL, d, "a") for d in FULL.binary_dims)):
        for point in panel.points:
            assert panel.theirs(point, "PLAN", TRUE_MEAN) is not None, point
            assert panel.theirs(point, "IOME", TRUE_MEAN) is not None, point
    known = [panel_c(FULL).theirs(point, "PLAN", EMPIRICAL_MEAN) for point in panel_c(FULL).points]
    assert sum(figure is not None for figure in known) == 6  # where the authors' code was run again
