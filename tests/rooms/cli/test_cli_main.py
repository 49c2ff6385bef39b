"""The command line: help, version, exit codes, and a demo that keeps its promises."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from plandp.cli.main import main
from plandp.cli.time_use import ACTIVITIES, MINUTES_A_DAY, NAMES, PEOPLE, time_use_table

RUN_DEMO = "import sys; from plandp.cli.main import main; sys.exit(main(['demo']))"


def _usage(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def test_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert _usage(["--version"]) == 0
    assert capsys.readouterr().out == f"plandp {version('plandp')}\n"


def test_help_names_every_command_and_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert _usage(["--help"]) == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    assert "plandp demo" in text
    assert "plandp.mean(" in text


def test_no_command_shows_the_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _usage(["--help"])
    asked_for = capsys.readouterr()
    assert _usage([]) == 0
    assert capsys.readouterr() == asked_for
    monkeypatch.setattr(sys, "argv", ["plandp"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr() == asked_for


@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        (["unknown"], "plandp: argument COMMAND: invalid choice: 'unknown'"),
        (["demo", "--seed", "1"], "plandp demo: unrecognized arguments: --seed;"),
        (["demo", "--seed\n"], "plandp demo: unrecognized arguments: --seed"),
        (
            ["events", "f.csv", "--items", "home,x"],
            "plandp events: unrecognized arguments: --items; did you mean --items-file?;",
        ),
        (["check", "--boundss=0:1"], "plandp check: unrecognized arguments: --boundss; did you mean --bounds"),
        (["mean", "f.csv", "--meth", "plan"], "plandp mean: unrecognized arguments: --meth; did you mean --method?;"),
        (["mean", "f.csv", "--error", "2"], "plandp mean: unrecognized arguments: --error; did you mean --error-norm"),
        (["ledger", "show", "b", "--pl", "x.svg"], "plandp ledger show: unrecognized arguments: --pl; did you mean"),
        (["--rho", "1"], "plandp: "),
        (["mean"], "plandp mean: the following arguments are required: FILE"),
        (["check"], "plandp check: the following arguments are required: --n"),
        (["mean", "f.csv", "--rho"], "plandp mean: argument --rho: expected one argument"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why_in_one_line(
    arguments: list[str], begin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _usage(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(begin)
    assert said.err.endswith(" --help shows how\n")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["mean"], ["check"], ["show"], ["demo"]])
def test_help_fits_a_terminal(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert _usage([*command, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_demo_tells_the_whole_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    story = capsys.readouterr().out

    truth = time_use_table().mean(axis=0)
    for name, mean in zip(NAMES, truth, strict=True):
        # name, true mean, private mean, half width of its interval
        row = re.search(rf"^  {name} +([\d.]+) +(-?[\d.]+) +± ([\d.]+)", story, re.MULTILINE)
        assert row is not None, name
        true, private, half = map(float, row.groups())
        assert true == pytest.approx(mean, abs=0.006)
        # 8 half widths are 15.7 standard deviations; clipping bias is far below one
        assert abs(private - mean) < 8 * half
    factor = re.search(r"^  gaussian +[\d.]+ +([\d.]+) ×", story, re.MULTILINE)
    assert factor is not None
    assert float(factor[1]) > 4  # 13 in most runs
    assert max(map(len, story.splitlines())) <= 80 or "Warning: " in story  # a warning is one line
    for said in ("Receipt: rho = 0.1 (zCDP)", "n = 5000 is published exactly", "Warning", "demo_output"):
        assert said in story
    assert "INSECURE" not in story
    picture = (tmp_path / "demo_output" / "time_use.svg").read_text(encoding="utf-8")
    assert picture.startswith("<?xml")
    assert "<!-- phone calls -->" in picture  # columns are named


def test_demo_noise_is_fresh_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stories = []
    for _ in range(2):
        main(["demo"])
        stories.append(capsys.readouterr().out)
    assert stories[0] != stories[1]


def test_demo_without_pandas_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert main(["demo"]) == 0
    assert "  sleep " in capsys.readouterr().out


def test_demo_without_matplotlib_says_how_to_get_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo"]) == 0
    assert "pip install 'plandp[plot]'" in capsys.readouterr().out
    assert not (tmp_path / "demo_output").exists()


def test_demo_in_a_folder_that_cannot_be_written_fails_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo_output").write_text("in the way")
    assert main(["demo"]) == 1
    assert capsys.readouterr().err.startswith("plandp: ")


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    shut, pipe = os.pipe()
    os.close(shut)
    done = subprocess.run(
        [sys.executable, "-c", RUN_DEMO], cwd=tmp_path, env={}, stdout=pipe, stderr=subprocess.PIPE, check=False
    )
    os.close(pipe)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_without_the_signs_still_gets_the_story(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN_DEMO],
        cwd=tmp_path,
        env={"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"true mean" in done.stdout


def test_the_demo_table_is_a_day_of_different_people() -> None:
    table = time_use_table()
    assert table.shape == (PEOPLE, len(ACTIVITIES))
    assert table.min() >= 0
    assert table.max() <= MINUTES_A_DAY
    assert np.array_equal(table, time_use_table())
    doing = (table > 0).mean(axis=0)
    assert doing == pytest.approx([share for _, share, *_ in ACTIVITIES], abs=0.01)
    assert len(np.unique(table, axis=0)) == PEOPLE
    assert np.abs(np.triu(np.corrcoef(table.T), 1)).max() < 0.1
    assert table.std(axis=0).max() > 50 * table.std(axis=0).min()
