"""`plandp reproduce` from its names to the page: tables, figures, files, and the same results again."""

import csv
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from small_scale import SMALL

from plandp.cli.main import main
from plandp_lab.reproduce import command
from plandp_lab.reproduce.command import chosen_scale
from plandp_lab.reproduce.exhibits import Exhibit, all_exhibits
from plandp_lab.reproduce.journal import Journal
from plandp_lab.reproduce.scale import FULL, QUICK, Scale

NAMES = ("settings", "gaussian", "binary", "kosarak", "noise-shapes", "variance", "no-scaling-gaussian")


def some_exhibits(scale: Scale, data: Path | None) -> tuple[Exhibit, ...]:
    return tuple(exhibit for exhibit in all_exhibits(scale, data) if exhibit.name in NAMES)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "QUICK", SMALL)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One small run of some of everything, as if it were all: the folder of results, and that of documents."""
    folder = tmp_path_factory.mktemp("reproduce")
    (folder / "docs").mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "QUICK", SMALL)
        patched.setattr(command, "all_exhibits", some_exhibits)
        asked = ["--quick", "--processes", "1", "--out", str(folder / "out"), "--write-docs", str(folder / "docs")]
        assert main(["reproduce", "all", *asked]) == 0
    return folder / "out", folder / "docs"


def test_the_page_has_every_exhibit_with_figure_tables_and_verdicts(run: tuple[Path, Path]) -> None:
    out, docs = run
    text = (docs / "reproduction.md").read_text()
    assert text == (out / "reproduction.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "What it comes to",
        "Settings",
        "Gaussian data",
        "Binary data: synthetic, Kosarak, POS",
        "Kosarak",
        "Shape of the noise for different stretches",
        "Variance estimators",
        "Gaussian data without scaling",
    ]
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert [Path(name).stem for name in pictures] == ["gaussian", "binary", "noise-shapes", "no-scaling-gaussian"]
    for name in pictures:
        assert "<svg" in (docs / name).read_text()
        assert (out / name).with_suffix(".png").stat().st_size > 10_000
    judged = "Gaussian B: PLAN below IOME for α > 1 [at most 1 times iome as published, error to the true mean]: plan: "
    assert judged in text
    assert "Kosarak: left out, since no --data directory was given" in text
    for line in re.findall(r"^\| .* \|$", text, re.MULTILINE):
        assert line.count("|") > 4
    assert str(out) not in text
    assert "plandp reproduce all --quick --write-docs docs" in text
    assert text.startswith("# The paper, reproduced\n\n<!--")
    assert "Every figure and table of" in text
    assert "3.75 times the ρ that they state" not in text  # none of their cells was measured


@pytest.mark.usefixtures("small")
def test_a_part_is_called_a_part_and_never_replaces_the_page_of_all(
    run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = run
    before = (docs / "reproduction.md").read_bytes()
    arguments = ["--quick", "--out", str(out), "--write-docs", str(docs)]
    assert main(["reproduce", "noise-shapes,variance", *arguments]) == 2
    assert "--write-docs: goes with all only" in capsys.readouterr().err
    assert (docs / "reproduction.md").read_bytes() == before
    assert main(["reproduce", "noise-shapes,variance", *arguments[:3]]) == 0
    assert "with those asked for, are in" in capsys.readouterr().out
    text = (out / "reproduction.md").read_text()
    assert "Every figure and table" not in text
    assert "authors published: Shape of the noise for different stretches; Variance estimators." in text
    assert "What it comes to" not in text
    assert "Scale: small, 2 runs a cell. 40 results with plandp" in text  # the other exhibits' results do not count
    assert main(["reproduce", "noise-shapes", "--runs", "1", *arguments[:3]]) == 0
    assert "1 run a cell. Nothing on this page was measured." in (out / "reproduction.md").read_text()


def test_results_are_in_csv_and_parquet_with_seeds_settings_and_versions(run: tuple[Path, Path]) -> None:
    out, _ = run
    with (out / "results.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(out / "results.parquet")
    assert table.num_rows == len(lines) > 100
    assert table.column("error").to_pylist() == [float(line["error"]) for line in lines]
    wanted = {"cell", "entrant", "run", "n", "d", "rho", "rho_spent", "bound", "table_seed", "noise_seed", "plandp"}
    assert wanted | {"source", "numpy", "python", "seconds", "measure"} <= set(lines[0])


def test_every_private_method_spends_exactly_the_budget_of_its_line(run: tuple[Path, Path]) -> None:
    records = Journal(run[0] / "runs.journal").read().records
    spent = {record["entrant"]: record["rho_spent"] for record in records if record["rho"] == "1"}
    assert spent.pop("plan-classic, spending as their code") == "15/4"
    assert spent.pop("oracle") is spent.pop("sampling error") is None
    assert set(spent.values()) == {"1"}
    assert {"plan", "plan-classic", "iome", "iome as published", "mahalanobis", "coinpress, told σ", "gaussian"} <= set(
        spent
    )


@pytest.mark.usefixtures("small")
def test_what_is_measured_is_not_measured_again(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    before = (run[0] / "runs.journal").read_bytes()
    assert main(["reproduce", "variance", "--quick", "--out", str(run[0])]) == 0
    printed = capsys.readouterr()
    assert (run[0] / "runs.journal").read_bytes() == before
    assert "pairs, k=4, Wilson–Hilferty: more accurate than the direct quantile .75 " in printed.out
    assert "left" not in printed.err  # no progress bar, nothing to do


def test_every_figure_and_table_of_the_paper_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [exhibit.name for exhibit in all_exhibits(FULL, None)]
    assert len(names) == 16


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nonsense"], "LIST: there is no 'nonsense'; name one or more of illustration, settings,"),
        (["figure-1"], "or all; --list says where each is in the paper"),
        ([], "LIST: give names"),
        (["variance", "--runs", "0"], "--runs: must be 1 or more"),
        (["variance", "--processes", "0"], "--processes: must be 1 or more"),
        (["variance", "--data", "no such folder"], "--data: 'no such folder' is not a directory"),
        (["variance", "--write-docs", "no such folder"], "--write-docs: 'no such folder' is not a directory"),
        (["variance", "--write-docs", "."], "--write-docs: goes with all only"),
        (["all,settings"], "LIST: all goes alone; name one or more of"),
        (["settings,"], "LIST: there is an empty name; name one or more of"),
        (["--list", "settings"], "LIST: --list tells all names and takes none"),
    ],
)
def test_what_cannot_be_done_is_told(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/folder"])
def test_results_cannot_go_into_a_file(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("kept")
    assert main(["reproduce", "settings", "--out", place]) == 2
    assert f"--out: {place!r} is not a directory and cannot be made one" in capsys.readouterr().err
    assert Path("file").read_text() == "kept"


@pytest.mark.parametrize("held", ["nonsense", "", "dense", "objects"])
def test_a_broken_data_file_is_named(
    held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if held in ("dense", "objects"):
        np.savez("pos.npz", rows=np.array([{}]) if held == "objects" else np.ones((2, 2)))
    else:
        Path("pos.npz").write_text(held)
    assert main(["reproduce", "settings", "--data", "."]) == 2
    assert "--data: 'pos.npz' in it is not a sparse matrix of numbers" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pos.npz"]


def test_a_number_of_runs_takes_the_place_of_the_papers() -> None:
    assert chosen_scale(quick=False, runs=None) == FULL
    assert chosen_scale(quick=True, runs=None) == QUICK
    scale = chosen_scale(quick=False, runs=7)
    assert (scale.runs, scale.real_runs, scale.real_iome_runs, scale.variance_runs) == (7, 7, 2, 7)
    assert scale.dims == FULL.dims
