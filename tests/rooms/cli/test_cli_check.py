"""`plandp check`: the same words as the function, in text, JSON and pictures."""

import inspect
import json

import pytest

import plandp
from plandp.cli.check import EXAMPLES
from plandp.cli.main import main

ASKED = ["check", "--n", "10000", "--d", "20", "--bounds", "0:100", "--rho", "0.1"]


def without(option):
    place = ASKED.index(option)
    return ASKED[:place] + ASKED[place + 2 :]


def test_it_prints_what_the_function_says(capsys):
    assert main(ASKED) == 0
    assert capsys.readouterr().out == f"{plandp.check(n=10_000, d=20, bounds=(0, 100), rho=0.1)}\n"


def test_every_option_reaches_the_function(capsys):
    options = [
        *("--n", "5000", "--bounds", "a=0:10,b=-5:5", "--epsilon", "1", "--delta", "1e-6", "--kind", "real"),
        *("--method", "unscaled", "--error-norm", "1", "--error-scale", "a=2,b=1", "--spread", "b=1,a=2"),
        *("--smallest-spread", "0.01", "--d", "2"),
    ]
    assert main(["check", *options, "--json"]) == 0
    expected = plandp.check(
        n=5000,
        d=2,
        bounds={"a": (0, 10), "b": (-5, 5)},
        epsilon=1,
        delta=1e-6,
        method="unscaled",
        error_norm=1,
        error_scale=[2, 1],
        spread=[2, 1],
        smallest_spread=0.01,
    )
    assert json.loads(capsys.readouterr().out) == json.loads(expected.to_json())
    named = {option.removeprefix("--").replace("-", "_") for option in options if option.startswith("--")} | {"rho"}
    assert named == set(inspect.signature(plandp.check).parameters)


def test_bounds_from_a_file_and_error_scale_by_bounds(tmp_path, capsys):
    file = tmp_path / "bounds.csv"
    file.write_text("column,low,high\nage,0,120\nincome,0,1e6\n")
    assert main(["check", "--n", "5000", "--bounds-file", str(file), "--rho", "1/8", "--error-scale", "bounds"]) == 0
    expected = plandp.check(n=5000, bounds=[(0, 120), (0, 1e6)], rho="1/8", error_scale="bounds")
    assert capsys.readouterr().out == f"{expected}\n"


def test_json_is_all_there_is_on_standard_output(capsys):
    assert main([*ASKED, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["feasible"] is True
    assert printed.err == ""


def test_not_feasible_is_an_answer_not_an_error(capsys):
    assert main(["check", "--n", "20", "--d", "20", "--bounds", "0:100", "--rho", "0.1"]) == 0
    assert "NOT FEASIBLE" in capsys.readouterr().out


@pytest.mark.parametrize(("suffix", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_picture_is_drawn(tmp_path, suffix, begin, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"outlook.{suffix}"
    assert main([*ASKED, "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(begin)
    assert [path.name for path in tmp_path.iterdir()] == [picture.name]
    assert "Check: feasible" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        ([*without("--n"), "--n", "0"], "plandp: --n: "),
        (without("--d"), "plandp: --d: "),
        ([*without("--d"), "--d", "3", "--bounds", "0:1,0:2"], "plandp: --d: "),
        (without("--bounds"), "plandp: --bounds: "),
        ([*ASKED, "--bounds", "5"], "plandp: --bounds: "),
        (without("--rho"), "plandp: --rho: "),
        ([*ASKED, "--spread", "much"], "plandp: --spread: "),
        ([*ASKED, "--error-norm", "0"], "plandp: --error-norm: "),
        ([*ASKED, "--plot", "outlook.txt"], "plandp: --plot: "),
        ([*ASKED, "--method", "best"], "plandp: --method: "),
        ([*ASKED, "--kind", "images"], "plandp: --kind: "),
    ],
)
def test_wrong_options_are_named(arguments, begin, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(begin)
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_the_number_of_rows_is_required(capsys):
    with pytest.raises(SystemExit) as caught:
        main(without("--n"))
    assert caught.value.code == 2
    assert "--n" in capsys.readouterr().err


def test_the_examples_of_the_help_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bounds.csv").write_text("column,low,high\nage,0,120\nincome,0,1e6\n")
    commands = [line.split()[1:] for line in EXAMPLES.splitlines() if line.startswith("  plandp check ")]
    assert len(commands) == 4
    for command in commands:
        assert main(command) == 0, command
    assert capsys.readouterr().out
