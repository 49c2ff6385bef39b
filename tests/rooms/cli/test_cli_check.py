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
    bounds = {"age": (0, 120), "income": (0, 1e6)}
    expected = plandp.check(n=5000, bounds=bounds, rho="1/8", error_scale="bounds")
    assert capsys.readouterr().out == f"{expected}\n"


@pytest.mark.parametrize(("n", "d"), [("1e4", "2e1"), ("1.0e+4", "20.0"), ("10000.", "20"), ("10_000", "20")])
def test_whole_numbers_may_be_written_as_people_write_them(n, d, capsys):
    assert main(["check", "--n", n, "--d", d, "--bounds", "0:100", "--rho", "0.1"]) == 0
    assert capsys.readouterr().out == f"{plandp.check(n=10_000, d=20, bounds=(0, 100), rho=0.1)}\n"


def test_epsilon_may_be_a_fraction(capsys):
    outs = []
    for epsilon in ("1/2", "0.5"):
        assert (
            main(["check", "--n", "1e4", "--d", "2", "--bounds", "0:1", "--epsilon", epsilon, "--delta", "1e-6"]) == 0
        )
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]


def test_json_is_all_there_is_on_standard_output(capsys):
    assert main([*ASKED, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["feasible"] is True
    assert printed.err == ""


def test_not_feasible_is_an_answer_not_an_error(capsys):
    assert main(["check", "--n", "20", "--d", "20", "--bounds", "0:100", "--rho", "0.1"]) == 0
    assert "NOT FEASIBLE" in capsys.readouterr().out


@pytest.mark.parametrize("bound", ["50", "1e6"])
def test_a_check_of_counts_says_loudly_what_values_it_assumes(bound, capsys):
    asked = ["check", "--n", "1e5", "--d", "3", "--kind", "nonnegative", "--bounds", f"0:{bound}", "--rho", "1"]
    assert main(asked) == 0
    assert "VALUES OF A TENTH OF THEIR BOUND" in (assumed := capsys.readouterr().out)
    assert "give spread (--spread): each item's root mean square" in assumed
    assert main([*asked, "--spread", "0.2"]) == 0
    assert "TENTH" not in capsys.readouterr().out


def test_counts_are_asked_for_the_most_that_one_person_can_have(capsys):
    assert main(["check", "--n", "100", "--d", "3", "--kind", "nonnegative", "--rho", "1"]) == 2
    assert capsys.readouterr().err == (
        "plandp: --bounds: say how much of an item one person can have at most; more counts as that. Pass --bounds "
        "0:50, say. Bounds are public knowledge, never read from the data\n"
    )


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
        ([*without("--n"), "--n", "1.5"], "plandp: --n: '1.5' is not a whole number"),
        ([*without("--n"), "--n", "many"], "plandp: --n: 'many' is not a whole number"),
        ([*without("--n"), "--n", "inf"], "plandp: --n: 'inf' is not a whole number"),
        ([*without("--n"), "--n", "1e16"], "plandp: --n: must be the number of rows, a whole number from 1 to 1e+15"),
        ([*without("--n"), "--n", "1e999999999"], "plandp: --n: '1e999999999' is not a whole number of at most 18"),
        ([*without("--n"), "--n", "-5"], "plandp: --n: must be the number of rows"),
        ([*without("--d"), "--d", "2.5"], "plandp: --d: '2.5' is not a whole number"),
        (
            ["check", "--n", "9", "--bounds-file", "wrong.csv", "--rho", "1"],
            "plandp: --bounds-file: column 'age': the low end must",
        ),
        ([*ASKED, "--error-norm", "two"], "plandp: --error-norm: 'two' is not a number"),
        ([*without("--rho"), "--epsilon", "1", "--delta", "1"], "plandp: --delta: must be a number strictly between"),
        ([*without("--rho"), "--epsilon", "x", "--delta", "1e-6"], "plandp: --epsilon: must be a number from"),
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
def test_wrong_options_are_named(arguments, begin, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.csv").write_text("column,low,high\nage,5,1\n")
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
    lines = EXAMPLES.replace("\\\n", "").splitlines()
    commands = [line.split()[1:] for line in lines if line.startswith("  plandp check ")]
    assert len(commands) == 5
    for command in commands:
        assert main(command) == 0, command
    assert capsys.readouterr().out


def test_items_need_no_bounds_and_counts_do(capsys):
    assert main(["check", "--n", "5000", "--d", "30", "--kind", "binary", "--rho", "1"]) == 0
    assert "kind binary" in capsys.readouterr().out
    assert main(["check", "--n", "5000", "--d", "30", "--kind", "nonnegative", "--rho", "1"]) == 2
    assert "--bounds" in capsys.readouterr().err
    assert main(["check", "--n", "5000", "--d", "30", "--kind", "sparse", "--rho", "1"]) == 2
    assert "--kind: must be one of" in capsys.readouterr().err
