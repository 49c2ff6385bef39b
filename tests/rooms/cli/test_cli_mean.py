"""`plandp mean` and `plandp show`: the release of the file, nothing else, and nothing lost that was paid for."""

import argparse
import errno
import inspect
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse
from told import CANARY, said

import plandp
from plandp.cli import mean as mean_command
from plandp.cli.bounds_file import read_bounds_file
from plandp.cli.main import main
from plandp.cli.values import read_bounds, read_numbers
from plandp.errors import ArgumentError
from plandp.report.table import show_estimate

CELLS = np.random.default_rng(2).normal([40, 30_000], [10, 5_000], size=(2_000, 2))
PUBLIC = ["--bounds", "age=0:120,income=-1e6:1e6", "--rho", "1/8"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with one survey in it: names, two columns of numbers, and dirt that must never show."""
    monkeypatch.chdir(tmp_path)
    lines = [f"p{place},{age},{income}" for place, (age, income) in enumerate(CELLS.tolist())]
    dirt = [f"{CANARY},{CANARY},{CANARY}", CANARY, f'"{CANARY}",1,2,3,{CANARY}', "", f"{CANARY},1_0,0x1{CANARY}"]
    Path("survey.csv").write_text("\n".join(["name,age,income", *lines, *dirt]) + "\n")
    Path("bounds.csv").write_text("column,low,high,why\nage,0,120,nobody is older\nincome,-1e6,1e6,generous\n")
    np.save("array.npy", CELLS)


def complaint(arguments: list[str], capfd: pytest.CaptureFixture[str], *, code: int = 2) -> str:
    got, out, err = said(arguments, capfd)
    assert got == code
    assert out == ""
    assert err.startswith("plandp: ")
    assert err.count("\n") == 1
    return err.removeprefix("plandp: ").rstrip("\n")


# ---- what is released


def test_a_table_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(["mean", "survey.csv", *PUBLIC, "--error-scale", "bounds"], capfd)
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    for name, truth in zip(("age", "income"), CELLS.mean(axis=0), strict=True):
        estimate, half_width, missing_as = map(float, rows[name])
        assert abs(missing_as - truth) < 0.2 * truth  # the centre, half a spread or less from the mean
        # 10 half widths are 19 standard deviations; clipping, and 5 rows of dirt in 2005, move less than one
        assert abs(estimate - truth) < 10 * half_width
        assert half_width < 0.02 * truth
    for text in ("± 95% noise", "Error to expect", "Receipt: rho = 0.125 (zCDP)", "n = 2005 is published exactly"):
        assert text in out
    assert "INSECURE" not in out


def test_json_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(["mean", "survey.csv", *PUBLIC, "--json"], capfd)
    assert (code, err) == (0, "")
    release = plandp.MeanRelease.from_json(out)
    assert json.loads(out)["labels"] == ["age", "income"]
    assert release.receipt.bounds == ((0, 120), (-1e6, 1e6))
    assert not release.receipt.insecure


class Asked(Exception):
    """What the command asked of `plandp.mean`, in place of a release."""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--bounds", "0:100"], {"bounds": (0, 100), "columns": None}),
        (["--bounds", "-5:-1"], {"bounds": (-5, -1)}),
        (["--bounds=-.5:1e3"], {"bounds": (-0.5, 1000)}),
        (["--bounds", "0:1,2:3"], {"bounds": [(0, 1), (2, 3)], "columns": None}),
        (["--bounds", "b=0:1, a=-2:3"], {"bounds": {"b": (0, 1), "a": (-2, 3)}, "columns": ["b", "a"]}),
        (["--bounds", "b=0:1,a=2:3", "--columns", "a"], {"bounds": {"a": (2, 3)}, "columns": ["a"]}),
        (["--bounds", "0:1", "--columns", "a, b"], {"columns": ["a", "b"]}),
        (["--bounds-file", "bounds.csv"], {"bounds": {"age": (0, 120), "income": (-1e6, 1e6)}}),
        (["--bounds-file", "bounds.csv"], {"columns": ["age", "income"]}),
        (["--bounds-file", "bounds.csv", "--columns", "income"], {"bounds": {"income": (-1e6, 1e6)}}),
        (["--missing", "-1"], {"missing": -1}),
        (["--missing", "a=0,b=1"], {"missing": {"a": 0, "b": 1}}),
        (["--error-scale", "bounds"], {"error_scale": "bounds"}),
        (["--error-scale", "1,2"], {"error_scale": [1, 2]}),
        (["--error-norm", "1"], {"error_norm": 1}),
        (["--spread", "3", "--smallest-spread", "1e-3"], {"spread": 3, "smallest_spread": 0.001}),
        (["--method", "gaussian", "--sampler", "opendp"], {"method": "gaussian", "sampler": "opendp"}),
        (["--threads", "2"], {"threads": 2}),
        (["--row-index", "name"], {"row_index": "name"}),
        (["--no-row-index"], {"row_index": False}),
        ([], {"row_index": None}),
        (["--progress"], {"progress": True}),
        (["--no-progress"], {"progress": False}),
        ([], {"missing": None, "error_norm": 2, "error_scale": None, "spread": None, "smallest_spread": None}),
        ([], {"method": "plan", "sampler": "exact", "progress": False, "epsilon": None, "delta": None}),
        ([], {"kind": "real", "refine": None}),
        (["--kind", "binary"], {"kind": "binary", "bounds": (0, 1)}),
        (["--kind", "nonnegative", "--refine", "combine, clamp"], {"refine": ["combine", "clamp"]}),
        (["--kind", "binary", "--refine", "none"], {"kind": "binary", "refine": []}),
    ],
)
def test_every_option_is_an_argument_of_mean(
    options: list[str], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def remember(data: object, **arguments: Any) -> None:
        asked.update(arguments, data=data)
        raise Asked

    monkeypatch.setattr(plandp, "mean", remember)
    if not any(option.startswith("--bounds") for option in options):
        options = [*options, "--bounds", "0:1"]
    assert main(["mean", "survey.csv", "--rho", "1/8", *options]) == 1
    assert asked["rho"] == "1/8"
    assert asked["data"] == Path("survey.csv")
    for name, value in expected.items():
        assert asked[name] == value, name


def test_every_argument_of_mean_is_an_option() -> None:
    # a seed is for tests in Python
    parser = argparse.ArgumentParser()
    mean_command.add_to(parser.add_subparsers())
    known = set(vars(parser.parse_args(["mean", "f.csv"])))
    assert set(inspect.signature(plandp.mean).parameters) - known == {"testing_seed"}


def test_epsilon_and_delta(capfd: pytest.CaptureFixture[str]) -> None:
    budget = ["--bounds", "age=0:120", "--epsilon", "1", "--delta", "1e-6"]
    _, out, _ = said(["mean", "survey.csv", *budget, "--json"], capfd)
    assert plandp.MeanRelease.from_json(out).receipt.epsilon(1e-6) == pytest.approx(1, rel=1e-3)


def test_columns_of_an_array_are_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    for options in (["--bounds", "-1e6:1e6", "--columns", "1"], ["--bounds", "1=-1e6:1e6"]):
        code, out, _ = said(["mean", "array.npy", "--rho", "1", *options, "--json"], capfd)
        assert code == 0
        assert plandp.MeanRelease.from_json(out).labels == (1,)


def test_places_of_the_only_column_are_numbers_too_where_lists_have_no_fixed_width(
    capfd: pytest.CaptureFixture[str],
) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.array(CELLS.tolist())}), "lists.parquet")
    for options in (["--bounds", "-1e6:1e6", "--columns", "0,1"], ["--bounds", "0=-1e6:1e6,1=-1e6:1e6"]):
        code, out, err = said(["mean", "lists.parquet", "--rho", "1", *options, "--json"], capfd)
        assert (code, err) == (0, "")
        assert json.loads(out)["labels"] == [0, 1]


def test_what_is_said_of_lists_and_row_numbers_is_in_options(capfd: pytest.CaptureFixture[str]) -> None:
    width = pyarrow.list_(pyarrow.float64(), 2)
    pyarrow.parquet.write_table(pyarrow.table({"x": CELLS.tolist(), "p": CELLS[:, 0]}), "lists.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.array(CELLS.tolist(), width)}), "fixed.parquet")
    public = ["--bounds", "0:100", "--rho", "1"]
    assert complaint(["mean", "lists.parquet", *public], capfd).endswith(
        "name the places that are read: --columns 'x[0],x[1]'"
    )
    assert complaint(["mean", "fixed.parquet", "--bounds", "x=0:100", "--rho", "1"], capfd) == (
        "--bounds: no column 'x' is released; if it holds lists, pass one pair for all columns, --columns x, "
        "--bounds 0:100, or name each place, 0 and so on"
    )
    for numbers in (["--row-index", "age"], ["--no-row-index"]):
        said = complaint(["mean", "survey.csv", *PUBLIC, "--method", "plan-classic", *numbers], capfd)
        assert said.endswith("goes by the position of a row; leave --row-index and --no-row-index out")
    said = complaint(["mean", "array.npy", "--kind", "binary", "--rho", "1", "--no-row-index"], capfd)
    assert said.startswith("--no-row-index: is for ")
    with pytest.raises(SystemExit):
        main(["mean", "survey.csv", *PUBLIC, "--row-index", "age", "--no-row-index"])


# ---- items: who has what


def baskets() -> scipy.sparse.csr_array:
    """2,000 people, 60 items; the later an item, the fewer have it: a fifth of them item 0, nobody item 59."""
    has = np.arange(2_000)[:, None] * np.sqrt(np.arange(2.0, 62)) % 1 < np.linspace(0.2, 0, 60)
    return scipy.sparse.csr_array(has[:, ::-1].astype(np.int8))  # the largest column is the last


def test_items_in_a_file_are_shown_by_popularity(capfd: pytest.CaptureFixture[str]) -> None:
    scipy.sparse.save_npz("baskets.npz", baskets())
    kept = ["--out", "r.json", "--plot", "m.svg"]
    code, out, err = said(["mean", "baskets.npz", "--kind", "binary", "--rho", "10", *kept], capfd)
    assert (code, err) == (0, "")
    release = plandp.MeanRelease.from_json(Path("r.json").read_text(encoding="utf-8"))
    assert (release.kind, release.refined) == ("binary", ("combine", "shrink", "clamp"))
    np.testing.assert_allclose(release.estimate, baskets().mean(axis=0), atol=0.02)
    lines = out.splitlines()
    assert lines[0].split() == ["item", "estimate", "expected", "error"]
    assert [int(line.split()[0]) for line in lines[1:21]] == np.argsort(-release.estimate, kind="stable")[:20].tolist()
    assert lines[21] == "  … and 40 more, none larger; all of them are in the JSON (--json, --out)"
    assert "What is not there counted as 0." in lines
    assert any(line.startswith("Refined by combine, shrink, clamp.") for line in lines)
    assert "missing as" not in out
    assert said(["show", "r.json", "--plot", "again.svg"], capfd) == (0, out, "")
    assert Path("again.svg").read_bytes() == Path("m.svg").read_bytes()


@pytest.mark.parametrize("kind", ["binary", "nonnegative"])
def test_a_csv_file_of_items_needs_bounds_for_counts_only(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [f"{person % 2},{person % 3},{CANARY}" for person in range(999)]
    Path("items.csv").write_text("\n".join(["milk,bread,name", *lines, ""]))
    options = ["mean", "items.csv", "--kind", kind, "--columns", "milk,bread", "--rho", "10", "--refine", "none"]
    if kind == "nonnegative":
        assert complaint(options, capfd).startswith("--bounds: say how much of an item one person can have at most")
        options += ["--bounds", "0:2"]
    code, out, _ = said([*options], capfd)
    assert code == 0
    milk, bread = column(out, "milk"), column(out, "bread")
    assert milk[0] == pytest.approx(0.5, abs=0.05)
    assert bread[0] == pytest.approx(2 / 3 if kind == "binary" else 1, abs=0.08)
    assert "± 95%" in out
    assert "Refined" not in out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--kind", "magic"], "--kind: must be one of 'real', 'binary', 'nonnegative'"),
        (["--bounds", "0:1"], "FILE: the file 'baskets.npz' holds a sparse matrix"),
        (["--bounds", "0:2", "--kind", "binary"], "--bounds: --kind 'binary' lies within (0, 1)"),
        (
            ["--bounds=-1:2", "--kind", "nonnegative"],
            "--bounds: --kind 'nonnegative' begins at 0: give --bounds 0:HIGH",
        ),
        (["--kind", "binary", "--missing", "0"], "--missing: is for --kind 'real' only"),
        (
            ["--kind", "binary", "--method", "gaussian"],
            "--method: must be 'plan', 'plan-classic' or 'iome' with --kind 'binary'; leave it out",
        ),
        (
            ["--kind", "binary", "--refine", "magic"],
            "--refine: must name some of 'combine', 'shrink', 'clamp', or none of them: --refine none",
        ),
        (["--bounds", "0:1", "--refine", "none"], "--refine: is for --kind 'binary' and --kind 'nonnegative' only"),
        (["--kind", "binary", "--columns", "60"], "--columns: the data has no column 60"),
    ],
)
def test_errors_about_items_name_the_option(
    options: list[str], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scipy.sparse.save_npz("baskets.npz", baskets())
    assert complaint(["mean", "baskets.npz", "--rho", "1", *options], capfd).startswith(problem)


# ---- what is said of missing values


def column(out: str, name: str) -> list[float]:
    (line,) = (line for line in out.splitlines() if line.startswith(f"  {name} "))
    return [float(cell) for cell in line.split()[1:]]


def test_the_table_shows_what_a_missing_value_counted_as(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(["mean", "survey.csv", *PUBLIC, "--out", "r.json"], capfd)
    release = plandp.MeanRelease.from_json(Path("r.json").read_text(encoding="utf-8"))
    assert release.missing is None
    _, _, half_width = release.first_rows(1)[0]
    assert column(out, "age")[2] == float(show_estimate(release.center[0], half_width)[0])
    assert "Missing values counted as the released centres, in the last column." in out


def test_the_table_shows_the_values_of_missing(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(["mean", "survey.csv", *PUBLIC, "--missing", "age=7,income=-3", "--out", "r.json"], capfd)
    assert (column(out, "age")[2], column(out, "income")[2]) == (7, -3)
    assert "Missing values counted as the values asked for, in the last column." in out
    _, again, _ = said(["show", "r.json"], capfd)
    assert (column(again, "age")[2], column(again, "income")[2]) == (7, -3)


def test_a_column_of_text_shows_its_centre_and_the_note_that_every_csv_file_gets(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("yes.csv").write_text("age,smokes\n" + "41,true\n43,false\n" * 500)
    Path("one.csv").write_text("age,smokes\n" + "41,1\n43,0\n" * 500)
    Path("tabs.tsv").write_text("age\tsmokes\n" + "41\t1\n43\t0\n" * 500)
    np.save("one.npy", np.tile([[41.0, 1.0], [43.0, 0.0]], (500, 1)))
    noted = {}
    for name in ("yes.csv", "one.csv", "tabs.tsv", "one.npy"):
        code, out, err = said(["mean", name, "--bounds", "-100:100", "--rho", "1"], capfd)
        assert (code, err) == (0, "")
        noted[name] = mean_command.NOTE_ON_TEXT_FILES in out
        if name == "yes.csv":
            estimate, half_width, missing_as = column(out, "smokes")
            assert abs(estimate - missing_as) < 4 * half_width  # 8 standard deviations
    # It stands under every text file, whatever its cells are, and under no other.
    assert noted == {"yes.csv": True, "one.csv": True, "tabs.tsv": True, "one.npy": False}
    assert max(map(len, mean_command.NOTE_ON_TEXT_FILES.splitlines())) <= 80


def test_a_large_delta_is_told_in_table_and_json(capfd: pytest.CaptureFixture[str]) -> None:
    for delta, told in (("0.01", True), ("1e-6", False)):
        budget = ["--bounds", "age=0:120", "--epsilon", "1", "--delta", delta, "--method", "gaussian"]
        code, out, err = said(["mean", "survey.csv", *budget], capfd)
        assert (code, err) == (0, "")
        assert (f"Warning: delta = {delta} is above 1/n = 0.000499" in out) is told
        _, text, _ = said(["mean", "survey.csv", *budget, "--json"], capfd)
        assert bool(json.loads(text)["warnings"]) is told


# ---- what is kept


def test_out_keeps_the_release_and_show_shows_it(capfd: pytest.CaptureFixture[str]) -> None:
    code, table, _ = said(["mean", "survey.csv", *PUBLIC, "--out", "r.json", "--plot", "m.svg"], capfd)
    assert code == 0
    release = plandp.MeanRelease.from_json(Path("r.json").read_text(encoding="utf-8"))
    assert Path("m.svg").read_text(encoding="utf-8").startswith("<?xml")
    table = table.replace(f"{mean_command.NOTE_ON_TEXT_FILES}\n", "")  # from which file it came is not kept
    assert said(["show", "r.json"], capfd) == (0, table, "")
    assert said(["show", "r.json", "--json"], capfd) == (0, release.to_json() + "\n", "")
    assert said(["show", "r.json", "--plot", "again.png"], capfd) == (0, table, "")
    assert Path("again.png").read_bytes().startswith(b"\x89PNG")
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


UNWRITABLE = [
    (["--out", "survey.csv"], "--out: 'survey.csv' exists, and may hold a release"),
    (["--out", "."], "--out: '.' exists"),
    (["--out", "nowhere/r.json"], "--out: 'nowhere/r.json' cannot be written: No such file or directory"),
    (["--plot", "nowhere/m.svg"], "--plot: 'nowhere/m.svg' cannot be written: No such file or directory"),
    (["--plot", "m.gif"], "--plot: the file must end in .svg, .png, .pdf"),
    (["--plot", "folder.svg"], "--plot: 'folder.svg' is not a file"),
    (["--out", "r.svg", "--plot", "r.svg"], "--plot: must be another file than --out"),
]


@pytest.mark.parametrize(("options", "problem"), UNWRITABLE)
def test_what_cannot_be_written_is_found_before_anything_is_spent(
    options: list[str], problem: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("folder.svg").mkdir()
    before = sorted(Path().iterdir())

    def spend(*_: object, **__: object) -> None:
        pytest.fail("something was spent")

    monkeypatch.setattr(plandp, "mean", spend)
    assert complaint(["mean", "survey.csv", *PUBLIC, *options], capfd).startswith(problem)
    assert sorted(Path().iterdir()) == before


def test_without_matplotlib_no_budget_is_spent_on_a_picture(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(plandp, "mean", lambda *_, **__: pytest.fail("something was spent"))
    message = complaint(["mean", "survey.csv", *PUBLIC, "--plot", "m.svg"], capfd, code=1)
    assert "pip install 'plandp[plot]'" in message


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_release_that_cannot_be_kept_is_printed(
    step: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    code, out, err = said(["mean", "survey.csv", *PUBLIC, "--out", "r.json"], capfd)
    assert (code, err) == (1, "plandp: [Errno 28] No space left on device\n")
    assert plandp.MeanRelease.from_json(out).labels == ("age", "income")
    assert not Path("r.json").exists()
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


class FullOutput(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_a_release_that_cannot_be_shown_is_lost_unless_it_is_kept(
    how: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "plandp: standard output cannot be written (No space left on device): the release is "
    monkeypatch.setattr(sys, "stdout", FullOutput())
    assert main(["mean", "survey.csv", *PUBLIC, *how]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"{told}lost, though its budget is spent; --out keeps")
    assert main(["mean", "survey.csv", *PUBLIC, *how, "--out", "r.json"]) == 1
    assert capsys.readouterr().err == f"{told}in 'r.json'\n"
    assert plandp.MeanRelease.from_json(Path("r.json").read_text()).labels == ("age", "income")


def test_an_old_picture_stays_until_the_new_one_is_whole(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("m.svg").write_text("old")

    def fail(_: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(plandp.MeanRelease, "plot", fail)
    code, out, err = said(["mean", "survey.csv", *PUBLIC, "--plot", "m.svg"], capfd)
    assert code == 1
    assert "Receipt" in out  # the release is shown, although the picture failed
    assert err.startswith("plandp: unexpected RuntimeError in test_cli_mean, line ")
    assert Path("m.svg").read_text() == "old"


def test_a_reader_that_stops_early_gets_the_files_all_the_same() -> None:
    shut, pipe = os.pipe()
    os.close(shut)
    command = f"import sys; from plandp.cli.main import main; sys.exit(main({['mean', 'survey.csv', *PUBLIC]!r} + "
    command += "['--out', 'r.json', '--plot', 'm.svg']))"
    done = subprocess.run([sys.executable, "-c", command], stdout=pipe, stderr=subprocess.PIPE, check=False)
    os.close(pipe)
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path("r.json").exists()
    assert Path("m.svg").exists()


# ---- what is refused

ONLY_IN_PYTHON = (
    "Fraction",
    "Decimal",
    "Estimator",
    "plandp.",
    "MeanRelease",
    "to_json",
    "noise_std",
    "receipt.",
    "=[",
)
COMMA_IN_A_NAME = (
    "--bounds: name every column or none, as in a=0:1,b=0:2; a name that holds a comma fits only into --bounds-file"
)
TEXT_IN_PARQUET = (
    "FILE: column 'age' has dtype string, which is not numeric; select columns with --columns A,B or convert it"
)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["survey.csv", "--rho", "1"], "--bounds: say between which values each column can lie, with --bounds 0:100"),
        (
            ["survey.csv", *PUBLIC, "--bounds-file", "bounds.csv"],
            "--bounds: must not be given together with --bounds-file",
        ),
        (["survey.csv", "--bounds", "0:1"], "--rho: is missing; give --rho 0.5, or --epsilon 1 --delta 1e-6"),
        (["survey.csv", "--bounds", "0:1", "--rho", "0"], "--rho: must be a number from 1e-12"),
        (["survey.csv", "--bounds", "0:1", "--rho", "x"], "--rho: must be a number from 1e-12"),
        (
            ["survey.csv", "--bounds", "0:1", "--epsilon", "1"],
            "--delta: is missing; give --epsilon and --delta together",
        ),
        (
            ["survey.csv", "--bounds", "0:1", "--rho", "1", "--epsilon", "1"],
            "--epsilon: must not be given together with --rho; give --rho, or --epsilon and --delta",
        ),
        (["survey.csv", "--bounds", "1:0", "--rho", "1"], "--bounds: column 'name': the low end must be below"),
        (["survey.csv", "--bounds", "1", "--rho", "1"], "--bounds: '1' is not a pair low:high"),
        (["survey.csv", "--bounds", "0:x", "--rho", "1"], "--bounds: 'x' is not a number"),
        (["survey.csv", "--bounds", "age=0:1,0:2", "--rho", "1"], "--bounds: name every column or none"),
        (["survey.csv", "--bounds", "age=0:1,age=0:2", "--rho", "1"], "--bounds: a column occurs more than once"),
        (["survey.csv", "--bounds", "0:1,0:2", "--rho", "1"], "--bounds: 2 pairs for 3 columns"),
        (["survey.csv", "--bounds", "zzz=0:1", "--rho", "1"], "--bounds: the data has no column 'zzz'; its columns"),
        (
            ["survey.csv", "--bounds-file", "other.csv", "--rho", "1"],
            "--bounds-file: the data has no column 'zzz'; its",
        ),
        (["survey.csv", "--bounds", "a,b=0:1,c=0:2", "--rho", "1"], COMMA_IN_A_NAME),
        (["survey.csv", *PUBLIC, "--missing", "age=0,1"], "--missing: name every column or none, as in a=1,b=2"),
        (["survey.csv", *PUBLIC, "--delta", "1e-6"], "--delta: belongs to --epsilon; with --rho leave it out"),
        (["survey.csv", "--bounds", "0:1", "--epsilon", "1", "--delta", "1"], "--delta: must be a number strictly"),
        (["survey.csv", "--bounds", "0:1", "--epsilon", "x", "--delta", "1e-6"], "--epsilon: must be a number from"),
        (["text.parquet", "--bounds", "0:1", "--rho", "1"], TEXT_IN_PARQUET),
        (["survey.csv", *PUBLIC, "--columns", "age,zzz"], "--columns: the data has no column 'zzz'"),
        (["survey.csv", *PUBLIC, "--columns", "age,name"], "--bounds: column 'name' is not named"),
        (["survey.csv", *PUBLIC, "--missing", "-1"], "--missing: column 'age': -1.0 is outside the bounds"),
        (["survey.csv", *PUBLIC, "--missing", "x"], "--missing: 'x' is not a number"),
        (["survey.csv", *PUBLIC, "--error-scale", "0"], "--error-scale: column 'age': 0.0 is not above zero"),
        (["survey.csv", *PUBLIC, "--error-norm", "0.5"], "--error-norm: must be a finite number"),
        (["survey.csv", *PUBLIC, "--smallest-spread", "1e9"], "--smallest-spread: column 'age'"),
        (["survey.csv", *PUBLIC, "--method", "magic"], "--method: must be one of 'plan'"),
        (["survey.csv", *PUBLIC, "--sampler", "magic"], "--sampler: "),
        (["survey.csv", *PUBLIC, "--threads", "0"], "--threads: "),
        (["survey.csv", *PUBLIC, "--threads", "two"], "--threads: "),
        (["nothing.csv", *PUBLIC], "FILE: there is no file 'nothing.csv'"),
        ([".", *PUBLIC], "FILE: all files must end alike"),
        (["empty.csv", *PUBLIC], "FILE: the file 'empty.csv' is empty"),
        (["header.csv", *PUBLIC], "FILE: a table of 0 rows × 2 columns has no mean"),
        (["broken.parquet", *PUBLIC], "FILE: the file 'broken.parquet' is cut off, damaged"),
        (["survey.csv", "--bounds-file", "no.csv", "--rho", "1"], "--bounds-file: 'no.csv' cannot be read: No such"),
        (["survey.csv", "--bounds-file", "wrong.csv", "--rho", "1"], "--bounds-file: column 'age': the low end"),
        (["survey.csv", "--bounds-file", "array.npy", "--rho", "1"], "--bounds-file: "),
    ],
)
def test_errors_are_one_line_and_name_the_option(
    options: list[str], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("empty.csv").touch()
    Path("header.csv").write_text("age,income\n")
    Path("broken.parquet").write_text(f"PAR1{CANARY}" * 9)
    Path("wrong.csv").write_text("column,low,high\nage,5,1\n")
    Path("other.csv").write_text("column,low,high\nzzz,1,5\n")
    pyarrow.parquet.write_table(pyarrow.table({"age": ["old"]}), "text.parquet")
    message = complaint(["mean", *options, "--out", "r.json"], capfd)
    assert message.startswith(problem)
    assert not [word for word in ONLY_IN_PYTHON if word in message]
    assert not Path("r.json").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "must name the columns column,low,high"),
        (b"column,low\nage,1\n", "must name the columns column,low,high"),
        (b"column,low,high\n", "names no column"),
        (b"column,low,high\nage,1\n", "line 2, 'age,1', must have 3 cells"),
        (b"column,low,high\nage,1,x\n", "line 2, 'age,1,x': 'x' is not a number"),
        (b"column,low,high\n\n\nage,,2\n", "line 4, 'age,,2': '' is not a number"),
        (b'note,column,low,high\n"two\nlines",b,1,2\n,age,1,2,3\n', "line 4, ',age,1,2,3', must have 4 cells"),
        (b"column,low,high\nage,1,2\nage,1,2\n", "line 3, 'age,1,2': the column 'age' occurs more than once"),
        (b"column,low,high\n\xff,1,2\n", "not a CSV file in UTF-8"),
        (b'column,low,high\n"age,1,2\n', "not a CSV file in UTF-8"),
    ],
)
def test_a_bounds_file_is_public_and_read_strictly(text: bytes, problem: str) -> None:
    Path("b.csv").write_bytes(text)
    with pytest.raises(ArgumentError, match=problem) as caught:
        read_bounds_file(Path("b.csv"))
    assert caught.value.argument == "bounds_file"


def test_a_bounds_file_from_a_spreadsheet() -> None:
    Path("b.csv").write_bytes('\ufeffhigh, column ,low\r\n5,"a,b=c",-1\r\n\r\n'.encode())
    assert read_bounds_file(Path("b.csv")) == {"a,b=c": (-1, 5)}


def test_names_may_hold_an_equals_sign() -> None:
    assert read_bounds("a=b=0:1") == {"a=b": (0, 1)}
    assert read_numbers("missing", "1e-3") == 0.001


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (CANARY, "'r.json' is not a release, or not of this version; name a file that `plandp mean --out` wrote"),
        ("[]", "'r.json' is not a release"),
        ('{"schema": "plandp/mean-release/1"}', "'r.json' is not a release"),
        ('{"schema": "other"}', "'r.json' is not a release, or not of this version"),
        (None, "'r.json' cannot be read: No such file"),
    ],
)
def test_show_refuses_what_is_not_a_release(text: str | None, problem: str, capfd: pytest.CaptureFixture[str]) -> None:
    if text is not None:
        Path("r.json").write_text(text)
    assert complaint(["show", "r.json"], capfd).startswith(f"FILE: {problem}")


def test_show_refuses_bytes_and_folders(capfd: pytest.CaptureFixture[str]) -> None:
    Path("r.json").write_bytes(b"\xff\xfe")
    assert "is not UTF-8" in complaint(["show", "r.json"], capfd)
    assert "cannot be read: Is a directory" in complaint(["show", "."], capfd)


# ---- what is said otherwise


def test_an_unexpected_error_tells_its_place_and_no_data(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(plandp, "mean", fail)
    message = complaint(["mean", "survey.csv", *PUBLIC], capfd, code=1)
    assert message.startswith("unexpected ValueError in test_cli_mean, line ")


def test_ctrl_c_is_one_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plandp, "mean", stop)
    assert (
        complaint(["mean", "survey.csv", *PUBLIC, "--out", "r.json"], capfd, code=130)
        == "stopped; nothing was released"
    )
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("command", ["mean", "show"])
def test_help_has_examples_and_exit_codes(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    out = capfd.readouterr().out
    assert f"plandp {command} " in out.partition("examples:")[2]
    assert "exit codes: 0 done; 1 failed; 2 wrong usage" in out


def test_bars_are_shown_when_asked_for_and_not_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(["mean", "survey.csv", *PUBLIC, "--json", "--progress"], capfd)
    assert code == 0
    assert "reading" in err
    json.loads(out)


def test_files_that_differ_in_one_row_say_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    """All but the numbers: exit code, standard error, and the lines of the table."""
    shapes = set()
    for row in ("1,2,3", "", CANARY, "a,,", '"1","2","x\ny"', "9" * 200_000, ",,,,", "a,1e999,-1e999", "x,nan,\0"):
        lines = Path("survey.csv").read_text().splitlines()[:500]
        Path("one.csv").write_text("\n".join([*lines, row, ""]))
        code, out, err = said(["mean", "one.csv", *PUBLIC, "--method", "gaussian"], capfd)
        shapes.add((code, err, tuple(line.partition(" = ")[0][:6] for line in out.splitlines())))
        n = [line for line in out.splitlines() if line.startswith("n = ")]
        assert n == ["n = 500 is published exactly; d = 2"]
    assert len(shapes) == 1


# ---- several files


def test_several_files_are_one_table(capfd: pytest.CaptureFixture[str]) -> None:
    Path("years").mkdir()
    for name, part in zip("ab", np.split(CELLS, 2), strict=True):
        np.save(f"years/{name}.npy", part)
    public = ["--bounds", "0=0:120,1=-1e6:1e6", "--rho", "1/8", "--json"]
    for files in (["years"], ["years/*.npy"], ["years/a.npy", "years/b.npy"]):
        code, out, err = said(["mean", *files, *public], capfd)
        assert (code, err) == (0, "")
        assert json.loads(out)["receipt"]["n"] == 2_000
        assert json.loads(out)["labels"] == [0, 1]
    assert complaint(["mean", "years/a.npy", "survey.csv", *PUBLIC], capfd).startswith("FILE: all files must end alike")
    assert complaint(["mean", "years/*.csv", *PUBLIC], capfd).startswith("FILE: no file matches the pattern")


def test_a_column_of_lists_has_numbers_for_names(capfd: pytest.CaptureFixture[str]) -> None:
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(CELLS.ravel()), 2)
    pyarrow.parquet.write_table(pyarrow.table({"x": lists}), "lists.parquet")
    arguments = ["mean", "lists.parquet", "--bounds", "-1e6:1e6", "--rho", "1/8", "--columns", "1", "--json"]
    code, out, _ = said(arguments, capfd)
    assert code == 0
    assert json.loads(out)["labels"] == [1]


def test_every_text_file_among_several_has_its_note(capfd: pytest.CaptureFixture[str]) -> None:
    Path("texts").mkdir()
    Path("texts/a.csv").write_text("age\n1\n2\n")
    _, out, _ = said(["mean", "texts", "--bounds", "0:120", "--rho", "1"], capfd)
    assert mean_command.NOTE_ON_TEXT_FILES.splitlines()[0] in out
