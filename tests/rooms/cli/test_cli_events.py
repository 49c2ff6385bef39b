"""`plandp events`: its options are the arguments of mean_of_events, and errors name the options."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from told import CANARY, said

import plandp
from plandp.cli.main import main

PUBLIC = ["--person", "user", "--item", "page", "--items-file", "pages.txt", "--people", "400", "--rho", "1"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    visits = [
        f"p{person},{page},{person % 7}" for person in range(300) for page in ("home", "search")[: 1 + person % 2]
    ]
    dirt = [f"{CANARY},{CANARY},{CANARY}", CANARY, f",{CANARY},1", f"{CANARY},,", "", f'"{CANARY}"']
    Path("visits.csv").write_text("\n".join(["user,page,time", *visits, *dirt]) + "\n")
    Path("pages.txt").write_text("home\nsearch\nnobody\n")


def test_shares_of_people(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(["events", "visits.csv", *PUBLIC, "--json"], capfd)
    assert (code, err) == (0, "")
    release = plandp.MeanRelease.from_json(out)
    assert release.labels == ("home", "search", "nobody")
    # 400 people, rho = 1: the noise of a share is below .01, and 15 of them are never met
    for estimate, truth in zip(release.estimate, (300 / 400, 150 / 400, 0), strict=True):
        assert abs(estimate - truth) < 0.15
    assert release.receipt.n == 400
    assert release.receipt.privacy_unit == "person"
    assert json.loads(out)["receipt"]["privacy_unit"] == "person"


def test_a_table_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(
        ["events", "visits.csv", *PUBLIC, "--measure", "time", "--bounds", "0:10", "--out", "release.json"], capfd
    )
    assert (code, err) == (0, "")
    for text in ("home", "search", "privacy unit: person", "Receipt: rho = 1 (zCDP)", "n = 400 is published exactly"):
        assert text in out
    assert "missing" not in out.lower()
    assert said(["show", "release.json"], capfd)[:2] == (0, out)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"person": "user", "item": "page", "items": ["home", "search", "nobody"], "people": 400, "rho": "1"}),
        ([], {"measure": "presence", "bounds": None, "error_norm": 1, "error_scale": None, "sampler": "exact"}),
        ([], {"epsilon": None, "delta": None, "progress": False}),
        (["--people", "1e6"], {"people": 10**6}),
        ([], {"refine": None}),
        (["--refine", "combine, clamp"], {"refine": ["combine", "clamp"]}),
        (["--refine", "none"], {"refine": []}),
        (["--measure", "count", "--bounds", "0:50"], {"measure": "count", "bounds": (0, 50)}),
        (["--measure", "time", "--bounds", "0:1,0:2,0:3"], {"measure": "time", "bounds": [(0, 1), (0, 2), (0, 3)]}),
        (["--error-norm", "2", "--error-scale", "bounds"], {"error_norm": 2, "error_scale": "bounds"}),
        (["--error-scale", "1,2,3"], {"error_scale": [1, 2, 3]}),
        (["--sampler", "opendp", "--progress"], {"sampler": "opendp", "progress": True}),
    ],
)
def test_every_option_is_an_argument(
    options: list[str], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    class Asked(Exception):
        pass

    def remember(table: object, **arguments: Any) -> None:
        asked.update(arguments, table=table)
        raise Asked

    signature = inspect.signature(plandp.mean_of_events)
    monkeypatch.setattr(plandp, "mean_of_events", remember)
    assert main(["events", "visits.csv", *PUBLIC, *options]) == 1
    assert asked["table"] == Path("visits.csv")
    assert {name: asked[name] for name in expected} == expected
    assert set(asked) == set(signature.parameters) - {"testing_seed"}


NAMES = "name one that it has. The first line of a CSV or TSV file must name the columns"
COLUMNS = "its columns are 'user', 'page', 'time'"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--people", "0"],
            "--people: must be the public number of people, a whole number from 1 to 1e10, not 0 (int); it is "
            "never counted from the table",
        ),
        (
            ["--bounds", "0:5"],
            "--bounds: --measure 'presence' lies within (0, 1); leave --bounds out, or use --measure 'count'",
        ),
        (["--measure", "count", "--bounds", "1:5"], "--bounds: --measure 'count' begins at 0: give --bounds 0:HIGH"),
        (["--delta", "1e-6"], "--delta: belongs to --epsilon; with --rho leave it out"),
        (["--people", "many"], "--people: 'many' is not a whole number of at most 18 digits; write 10000 or 1e4"),
        (["--person", "usr"], f"--person: the table has no column 'usr'; {COLUMNS}"),
        (["--person", "usr", "--item", "pge"], f"--person: the table has no column 'usr'; {NAMES}"),
        (["--item", "user"], "--item: 'user' is the column of the person already; name another"),
        (["--items-file", "none.txt"], "--items-file: 'none.txt' cannot be read: No such file or directory"),
        (
            ["--items-file", "./visits.csv"],
            "--items-file: is the file of events; name a file with the public list of items",
        ),
        (
            ["--items-file", "twice.txt"],
            "--items-file: line 2 is line 1 again; write each item once: the file is a list of items, not of events",
        ),
        (
            ["--measure", "clicks", "--bounds", "0:1"],
            f"--measure: the table has no column 'clicks'; {COLUMNS}",
        ),
    ],
)
def test_errors_name_the_option(options: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("twice.txt").write_text("a\na\n")
    code, out, err = said(["events", "visits.csv", *PUBLIC, *options], capfd)
    assert (code, out, err) == (2, "", f"plandp: {message}\n")


def test_a_file_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(["events", "nowhere.csv", *PUBLIC], capfd)
    assert (code, err) == (2, "plandp: FILE: there is no file 'nowhere.csv'\n")


def test_a_count_needs_bounds(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(["events", "visits.csv", *PUBLIC, "--measure", "count"], capfd)
    assert code == 2
    assert err.startswith("plandp: --bounds: ")


def test_bounds_are_asked_for_as_they_are_typed(tmp_path, capsys):
    (tmp_path / "e.csv").write_text("u,p,s\n1,a,2\n")
    (tmp_path / "i.txt").write_text("a\n")
    asked = ["events", str(tmp_path / "e.csv"), "--person", "u", "--item", "p", "--items-file", str(tmp_path / "i.txt")]
    assert main([*asked, "--people", "5", "--measure", "s", "--rho", "1"]) == 2
    assert "--bounds 0:50" in capsys.readouterr().err
