"""The sparse accuracy command: its figures are what they say, marks are set when they should be, and files may lack."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import plandp
from plandp_lab import item_cells
from plandp_lab.item_cells import ALL, NOT_SHRUNK, REAL_SETS, SYNTHETIC, ItemCell, RealSet, Subject, find_subjects
from plandp_lab.item_measure import ItemRun, ItemSummary, Stated, measure
from plandp_lab.item_oracle import CLIPPED, ItemOracle, item_error
from plandp_lab.item_tables import Baskets, ItemTable, TwoPopularities, read_sets
from plandp_lab.sparse_accuracy import HEADINGS, main, page

SMALL = Baskets(n=300, d=40, entries=1_500, least=2, longest=20, popularity=1.0, tail=1.5)
STATED = Stated(to_forecast=0.9, off=4.0, held=0.75)
LINE = ItemCell(rho="1", error_norm=1)


def summary_of(plan, *, oracle=1.0, zeros=9.0, **changed):
    runs = [ItemRun(plan=error, oracle=np.array([oracle, 2 * oracle]), zeros=zeros, stated=STATED) for error in plan]
    return ItemSummary.of("table", replace(LINE, **changed), runs)


@pytest.mark.parametrize(
    ("error", "changed", "marks"),
    [
        (1.05, {"prototype": 1.0}, ()),
        (1.06, {"prototype": 1.0}, ("over PLAN-B+ x1.05",)),
        (0.50, {"authors": 1.0, "halved": True}, ()),
        (0.51, {"authors": 1.0, "halved": True}, ("over authors x0.5",)),
        (0.51, {"authors": 1.0}, ()),
        (1.10, {"error_norm": 2}, ()),
        (1.11, {"error_norm": 2}, ("over oracle x1.1",)),
        (5.00, {"error_norm": 1}, ()),
        (9.00, {}, ()),
        (9.01, {}, ("worse than zeros",)),
        (9.01, {"prototype": 1.0, "held_to": False}, ()),
        (9.01, {"prototype": 1.0, "error_norm": 2}, ("over PLAN-B+ x1.05", "over oracle x1.1", "worse than zeros")),
    ],
)
def test_a_line_is_marked_when_it_does_not_reach_something(error, changed, marks):
    assert summary_of([error] * 3, **changed).marks == marks


def test_a_summary_is_of_medians_and_the_oracle_takes_its_best_radius():
    runs = [
        ItemRun(plan=plan, oracle=np.array(oracle), zeros=8.0, stated=replace(STATED, held=plan / 8))
        for plan, oracle in ((1, (3, 2)), (2, (9, 4)), (6, (1, 3)))
    ]
    found = ItemSummary.of("table", replace(LINE, prototype=4.0, authors=8.0), runs)
    assert (found.runs, found.plan, found.worst, found.oracle) == (3, 2.0, 3.0, 3.0)
    assert (found.to_prototype, found.to_authors, found.to_zeros) == (0.5, 0.25, 0.25)
    assert (found.stated.to_forecast, found.stated.off, found.stated.held) == (0.9, 4.0, 0.375)


def test_every_line_of_the_table_is_there_once_with_what_it_is_held_to():
    lines = [
        (subject.name, cell.rho, cell.error_norm, cell.refine)
        for subject in REAL_SETS + SYNTHETIC
        for cell in subject.cells
    ]
    assert len(set(lines)) == len(lines)
    known = [cell for subject in REAL_SETS + SYNTHETIC for cell in subject.cells if cell.prototype is not None]
    assert len(known) == 3 * 3 + 4
    assert all(cell.error_norm == 1 and cell.authors is not None for cell in known)
    assert sum(cell.halved for cell in known) == 9
    assert [cell.refine for cell in known[9:]] == [NOT_SHRUNK] * 4  # two-valued means: no gain by shrinking is claimed
    assert all(not cell.held_to for subject in REAL_SETS[3:] for cell in subject.cells)
    assert ("baskets n=7000 d=290000", "0.001", 1, ALL) in lines


def test_without_a_directory_all_real_sets_are_skipped_and_said_to_be(tmp_path):
    for directory, why in (
        (None, "no --data directory given"),
        (tmp_path, "has no fimi_retail.npz"),
        (tmp_path / "none", "has no"),
    ):
        subjects, skipped = find_subjects(directory)
        assert [subject.name for subject in subjects] == [subject.name for subject in SYNTHETIC]
        assert len(skipped) == len(REAL_SETS)
        assert why in skipped[0]


def test_a_file_is_measured_only_if_it_is_the_set_that_figures_are_known_of(tmp_path):
    rows = SMALL.draw(np.random.default_rng(0)).rows
    known = RealSet(name="known", n=300, d=40, entries=rows.nnz, cells=(LINE,))
    sp.save_npz(tmp_path / "known.npz", sp.csr_matrix(rows.astype(np.uint8)))
    subject = known.subject(tmp_path)
    assert isinstance(subject, Subject)
    assert np.array_equal(subject.table(np.random.default_rng(0)).rows.toarray(), rows.toarray())
    assert "is not the set with 301 rows" in replace(known, n=301).subject(tmp_path)
    assert "skipped" in replace(known, entries=rows.nnz - 1).subject(tmp_path)


def test_values_of_a_file_are_ones(tmp_path):
    sp.save_npz(tmp_path / "sets.npz", sp.csr_matrix(np.array([[0, 7], [3, 1]], np.uint8)))
    assert np.array_equal(read_sets(tmp_path / "sets.npz").mean, [0.5, 1.0])


def test_baskets_have_the_size_asked_for_and_no_item_twice():
    table = SMALL.draw(np.random.default_rng(0))
    lengths = np.diff(table.rows.indptr)
    assert table.rows.has_canonical_format
    assert set(table.rows.data) == {1.0}
    assert lengths.min() >= 2
    assert lengths.max() <= 20
    assert table.rows.nnz == pytest.approx(1_500, rel=0.05)
    assert np.argmax(table.mean) == 0  # Zipf's first
    assert np.allclose(table.mean, table.rows.toarray().mean(axis=0))


def test_counts_are_whole_and_within_their_bound():
    table = replace(SMALL, counted=3.0).draw(np.random.default_rng(0))
    assert set(table.rows.data) == {1.0, 2.0, 3.0}
    assert (table.high, table.binary) == (3.0, False)


def test_binary_is_measured_against_the_chances():
    table = TwoPopularities(n=2_000, d=8, popular=0.25).draw(np.random.default_rng(0))
    assert table.mean.tolist() == [0.5] * 2 + [0.01] * 6
    # 4.5 standard deviations: eight columns in 10⁴ false alarms at most
    assert np.allclose(table.rows.toarray().mean(axis=0), table.mean, atol=4.5 * 0.5 / 2_000**0.5)


@pytest.mark.parametrize(("error_norm", "expected"), [(1, 0.3), (2, (0.04 + 0.16) ** 0.5)])
def test_the_error_is_half_the_sum_or_the_root_of_squares_after_clamping(error_norm, expected):
    table = ItemTable(rows=sp.csr_array((1, 3)), mean=np.array([0.2, 0.4, 0.0]))
    assert item_error(np.array([0.0, 0.8, -5.0]), table, error_norm) == pytest.approx(expected)


def test_the_oracle_has_the_noise_it_should():
    # Nothing is clipped or clamped: error² is radius²·Σs²/(ρn²) on average, s = .5^(1/4), radius² = 16/√.5.  300 runs
    # of 32 draws know it to 1.5%; sensitivity 2·radius in place of √2·radius would double it.
    rng = np.random.default_rng(0)
    rows = sp.csr_array(np.repeat(np.stack([np.arange(32) < 16, np.arange(32) >= 16]), 200, axis=0).astype(float))
    oracle = ItemOracle.of(ItemTable.of(rows), 2)
    found = np.mean([oracle.errors(0.5, rng)[0] ** 2 for _ in range(300)])
    assert found == pytest.approx(16 / 0.5**0.5 * 32 * 0.5**0.5 / (0.5 * 400**2), rel=0.07)


def test_the_oracle_clips_as_many_rows_as_it_says():
    lengths = np.arange(1, 41)
    rows = sp.csr_array((np.arange(40) < lengths[:, None]).astype(float))
    oracle = ItemOracle.of(ItemTable.of(rows), 1)
    kept = oracle.clipped.sum(axis=1) * 40
    assert kept[CLIPPED.index(3)] < lengths.sum()
    assert np.all(np.diff(kept) <= 0)
    assert np.all(np.diff(oracle.noise_std[:, 0]) <= 0)
    stretch = np.maximum(ItemTable.of(rows).mean, 0.5 / 40) ** (1 / 3)
    norms = np.sqrt((rows.toarray() ** 2 / stretch**2).sum(axis=1))
    assert np.allclose(oracle.noise_std[0], np.sort(norms)[40 - 1 - 3] * stretch / 40)


def test_the_oracle_of_counts_knows_second_moments():
    rows = sp.csr_array(np.array([[4.0, 1.0], [0.0, 1.0]] * 8))
    table = replace(ItemTable.of(rows), high=50.0, binary=False)
    ratio = np.divide(*ItemOracle.of(table, 2).noise_std[0])
    assert ratio == pytest.approx((8 / 1) ** 0.25)


def test_runs_are_repeatable_and_files_are_read_once():
    drawn = []

    def table(rng):
        drawn.append(rng)
        return SMALL.draw(rng)

    subject = Subject(name="small", table=table, cells=(LINE, replace(LINE, error_norm=2), replace(LINE, rho="0.1")))
    first, again = ([[run.plan for run in lines] for lines in measure(subject, 3)] for _ in range(2))
    assert first == again
    assert len({error for lines in first for error in lines}) == 9
    assert len(drawn) == 6
    drawn.clear()
    list(measure(replace(subject, fixed=True), 3))
    assert len(drawn) == 1


def test_what_a_line_says_is_what_plandp_is_asked_for(monkeypatch):
    asked, plain = [], plandp.mean
    monkeypatch.setattr(plandp, "mean", lambda rows, **given: asked.append(given) or plain(rows, **given))
    cells = LINE, replace(LINE, refine=NOT_SHRUNK, rho="0.1", error_norm=2)
    for table in (SMALL, replace(SMALL, counted=5.0)):
        list(measure(Subject(name="small", table=table.draw, cells=cells), 1))
    names = "kind", "bounds", "rho", "error_norm", "refine"
    assert [tuple(given[name] for name in names) for given in asked] == [
        ("binary", (0, 1), "1", 1, ALL),
        ("binary", (0, 1), "0.1", 2, NOT_SHRUNK),
        ("nonnegative", (0, 5), "1", 1, ALL),
        ("nonnegative", (0, 5), "0.1", 2, NOT_SHRUNK),
    ]
    assert len({given["testing_seed"] for given in asked}) == 4


def test_the_page_has_a_line_per_cell():
    text = page([summary_of([1.0, 2.5], prototype=0.5), summary_of([0.2], refine=NOT_SHRUNK)], runs=2)
    assert (
        "| table | 1 | l1/2 | on | 1.75 | 1.43 | 1 | 1.75 | 0.5 | 3.50 |  |  | 9 | 0.194 | 0.90 | 2.00 | 75% |"
        " over PLAN-B+ x1.05 |" in text
    )
    assert "| table | 1 | l1/2 | off | 0.2 |" in text
    assert "1 of 2 lines marked." in text
    assert all(line.count("|") == len(HEADINGS) + 1 for line in text.splitlines() if line.startswith("|"))


def test_the_command_prints_figures_of_counts_and_sets_and_what_was_skipped(monkeypatch, capsys):
    tables = {"sets": SMALL, "counts": replace(SMALL, counted=5.0)}
    small = tuple(Subject(name=name, table=table.draw, cells=(LINE,)) for name, table in tables.items())
    monkeypatch.setattr(item_cells, "SYNTHETIC", small)
    main(["--runs", "2"])
    printed = capsys.readouterr().out
    assert "| sets | 1 | l1/2 |" in printed
    assert "| counts | 1 | l1/2 |" in printed
    assert printed.count("skipped, no --data directory given") == len(REAL_SETS)
    with pytest.raises(SystemExit, match="no table has 'none'"):
        main(["--tables", "none"])


def test_the_command_runs_where_nothing_can_be_measured(tmp_path):
    command = [sys.executable, "-m", "plandp_lab.sparse_accuracy", "--tables", "msweb", "--data", str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 of 0 lines marked." in shown.stdout
    assert "msweb: skipped, the --data directory has no msweb.npz." in shown.stdout


def test_what_a_release_states_is_compared_with_the_mean():
    table = np.zeros((50, 30))
    table[:25, :10] = 1
    release = plandp.mean(table, kind="binary", rho=1, error_norm=1, testing_seed=1)
    off = Stated.of(release, release.estimate - 2 * release.error_std)
    assert off.off == pytest.approx(4.0)
    assert off.to_forecast == pytest.approx(2 * release.error_std.sum() / release.forecast.error)
    assert Stated.of(release, release.unrefined).held == 1.0
    assert Stated.of(release, release.unrefined + 9 * (release.noise_std + release.error_std)).held == 0.0
