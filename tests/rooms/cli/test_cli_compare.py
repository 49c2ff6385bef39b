"""`plandp compare`: the same words as the function, in text, JSON and pictures."""

import inspect
import json

import numpy as np
import pytest

import plandp
from plandp.cli.compare import EXAMPLES
from plandp.cli.main import main

ASKED = ["compare", "--n", "10000", "--d", "20", "--bounds", "0:100", "--rho", "0.1"]
TABLE = np.random.default_rng(0).normal(40, 10, (400, 2)).round(1)


def without(option):
    place = ASKED.index(option)
    return ASKED[:place] + ASKED[place + 2 :]


@pytest.fixture
def public_csv(tmp_path):
    path = tmp_path / "public.csv"
    path.write_text("\n".join(["a,b", *(f"{a},{b}" for a, b in TABLE.tolist()), ""]))
    return path


def test_it_prints_what_the_function_says(capsys):
    assert main(ASKED) == 0
    assert capsys.readouterr().out == f"{plandp.compare(n=10_000, d=20, bounds=(0, 100), rho=0.1)}\n"


def test_every_option_reaches_the_function(capsys, public_csv):
    options = [
        *("--n", "5e3", "--bounds", "a=0:10,b=-5:5", "--epsilon", "1", "--delta", "1e-6", "--d", "2"),
        *("--methods", "unscaled, plan", "--error-norm", "1", "--error-scale", "a=2,b=1", "--spread", "b=1,a=2"),
        *("--smallest-spread", "0.01", "--kind", "real"),
    ]
    assert main(["compare", *options, "--json"]) == 0
    expected = plandp.compare(
        n=5000,
        d=2,
        bounds={"a": (0, 10), "b": (-5, 5)},
        epsilon=1,
        delta=1e-6,
        methods=["unscaled", "plan"],
        error_norm=1,
        error_scale=[2, 1],
        spread=[2, 1],
        smallest_spread=0.01,
    )
    assert plandp.Comparison.from_json(capsys.readouterr().out) == expected
    measured = ["--public-data", str(public_csv), "--bounds", "0:100", "--rho", "1/2", "--runs", "2"]
    others = ["--methods", "plan", "--spread-shape", "a=1,b=2"]
    assert main(["compare", *measured, *others, "--json"]) == 0
    expected = plandp.compare(
        public_data=TABLE, bounds=(0, 100), rho="1/2", runs=2, methods=["plan"], spread_shape=[1, 2]
    )
    assert plandp.Comparison.from_json(capsys.readouterr().out) == expected
    items = ["--kind", "binary", "--n", "900", "--d", "7", "--rho", "2", "--spread-shape", "zipf:2"]
    assert main(["compare", *items, "--json"]) == 0
    expected = plandp.compare(kind="binary", n=900, d=7, rho=2, spread_shape="zipf:2")
    assert plandp.Comparison.from_json(capsys.readouterr().out) == expected
    given = [option for option in (*options, *measured, *others) if option.startswith("--")]
    named = {option.removeprefix("--").replace("-", "_") for option in given}
    assert named | {"progress"} == set(inspect.signature(plandp.compare).parameters)


@pytest.mark.parametrize("shape", ["equal", "one-large", "zipf:1.5", "3", "1,2,3"])
def test_shapes(shape, capsys):
    assert main(["compare", "--n", "1e4", "--d", "3", "--bounds", "0:100", "--rho", "1", "--spread-shape", shape]) == 0
    asked = shape if shape[0].isalpha() else [float(part) for part in shape.split(",")] if "," in shape else 3.0
    expected = plandp.compare(n=10_000, d=3, bounds=(0, 100), rho=1, spread_shape=asked)
    assert capsys.readouterr().out == f"{expected}\n"


def test_columns_of_an_array_are_called_by_their_numbers(tmp_path, capsys):
    np.save(tmp_path / "public.npy", TABLE)
    named = [
        "--bounds",
        "1=0:100,0=0:90",
        "--spread-shape",
        "0=1,1=2",
        "--rho",
        "1",
        "--methods",
        "plan",
        "--runs",
        "1",
    ]
    others = ["--rho", "1", "--methods", "plan", "--runs", "1"]
    assert main(["compare", "--public-data", str(tmp_path / "public.npy"), *named, *others]) == 0
    bounds, shape = {1: (0, 100), 0: (0, 90)}, {0: 1, 1: 2}
    expected = plandp.compare(public_data=TABLE, bounds=bounds, rho=1, methods=["plan"], runs=1, spread_shape=shape)
    assert capsys.readouterr().out == f"{expected}\n"


def test_json_is_all_there_is_on_standard_output(capsys):
    assert main([*ASKED, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["recommended"] == "plan"
    assert printed.err == ""


def test_a_picture_is_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "methods.png"
    assert main([*ASKED, "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == [picture.name]
    assert capsys.readouterr().out.startswith("Comparison: take plan")


@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        (without("--n"), "plandp: --n: is missing"),
        ([*without("--n"), "--n", "1.5"], "plandp: --n: '1.5' is not a whole number"),
        (without("--d"), "plandp: --d: is missing"),
        (without("--bounds"), "plandp: --bounds: "),
        (without("--rho"), "plandp: --rho: is missing"),
        ([*ASKED, "--spread-shape", "steep"], "plandp: --spread-shape: must be 'equal'"),
        ([*ASKED, "--spread-shape", "1,x"], "plandp: --spread-shape: 'x' is not a number"),
        ([*ASKED, "--spread-shape", ""], "plandp: --spread-shape: '' is not a number"),
        ([*ASKED, "--spread", "1", "--spread-shape", "equal"], "plandp: --spread-shape: "),
        ([*ASKED, "--methods", "plan,best"], "plandp: --methods: must be some of 'plan', "),
        (
            [*ASKED, "--methods", "plan,plan"],
            "plandp: --methods: 'plan' is there more than once; leave it out the second time\n",
        ),
        ([*ASKED, "--methods", "diffprivlib"], "plandp: --methods: 'diffprivlib' is measured on public data only"),
        ([*ASKED, "--error-norm", "two"], "plandp: --error-norm: 'two' is not a number"),
        ([*ASKED, "--runs", "0"], "plandp: --runs: must be a whole number"),
        ([*ASKED, "--runs", "5"], "plandp: --runs: is how often methods are run on public data; leave it out"),
        (
            ["compare", "--kind", "binary", "--n", "900", "--d", "7", "--rho", "2", "--spread-shape", "2.0"],
            "plandp: --spread-shape: must be at most 1",
        ),
        ([*ASKED, "--runs", "few"], "plandp: --runs: 'few' is not a whole number"),
        ([*ASKED, "--plot", "methods.txt"], "plandp: --plot: "),
        ([*ASKED, "--public-data", "public.csv"], "plandp: --n: must not be given together with public data"),
        ([*without("--n")[:1], "--public-data", "no.csv", *ASKED[5:]], "plandp: --public-data: there is no file"),
    ],
)
def test_wrong_options_are_named(arguments, begin, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(begin)
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_the_help_says_plainly_what_is_not_private(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert "NOTHING IS PRIVATE" in capsys.readouterr().out
    assert "plandp compare --public-data" in EXAMPLES
