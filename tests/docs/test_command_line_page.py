"""The page on the command line tells the truth: its commands run and print what it shows."""

import argparse
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse
from test_documents import _FENCE, ROOT, repeatable_bits, same  # noqa: F401  # a fixture

from plandp.cli import audit, check, compare, events, ledger, mean, reproduce, show
from plandp.cli.main import main

PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def commands() -> Iterator[tuple[str, str, bool]]:
    """Every command of the page, what it prints, and whether the numbers in that vary."""
    for fence in _FENCE.finditer(PAGE):
        info, body = fence[1].split(), fence[2]
        if info[0] == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                lines = part.splitlines(keepends=True)
                end = next(place for place, line in enumerate(lines) if not line.endswith("\\\n")) + 1
                yield "".join(lines[:end]).replace("\\\n", ""), "".join(lines[end:]), info[1:] == ["numbers-vary"]


def make_survey() -> None:
    rng = np.random.default_rng(0)
    people = zip(rng.normal(41, 12, 20_000), rng.lognormal(10.3, 0.5, 20_000), rng.gamma(2, 15, 20_000), strict=True)
    lines = [
        f"p{place},{age:.0f},{income:.0f}," + (f"{commute:.1f}" if place % 50 else "")
        for place, (age, income, commute) in enumerate(people)
    ]
    Path("survey.csv").write_text("\n".join(["name,age,income,commute", *lines, ""]))
    Path("bounds.csv").write_text("column,low,high\nage,0,120\nincome,0,1000000\ncommute,0,600\n")


def make_visits() -> None:
    rng = np.random.default_rng(0)
    pages = rng.choice(["home", "search", "help", "old page"], 60_000, p=[0.6, 0.3, 0.05, 0.05])
    visits = zip(rng.integers(0, 9_000, 60_000), pages, rng.gamma(2, 30, 60_000), strict=True)
    lines = [
        (f"u{user}" if place % 50 != 2 else "") + f",{page},{seconds:.1f}"
        for place, (user, page, seconds) in enumerate(visits)
    ]
    Path("visits.csv").write_text("\n".join(["user,page,seconds", *lines, ""]))
    Path("pages.txt").write_text("home\nsearch\nhelp\n")


def make_baskets() -> None:
    rng = np.random.default_rng(1)
    buyer = np.repeat(np.arange(10_000), rng.poisson(6, 10_000))
    weight = 1 / np.arange(5, 1005)
    product = rng.choice(1_000, len(buyer), p=weight / weight.sum())
    purchases = scipy.sparse.coo_array((np.ones(len(buyer)), (buyer, product)), shape=(10_000, 1_000))
    scipy.sparse.save_npz("baskets.npz", purchases)


@pytest.mark.usefixtures("repeatable_bits")
def test_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_survey()
    make_visits()
    make_baskets()
    seen = list(commands())
    assert len(seen) >= 5
    for command, shown, vary in seen:
        name, *arguments = shlex.split(command)
        if name == "plandp":
            main(arguments)
            printed = "".join(capsys.readouterr())
        else:
            printed = subprocess.run([name, *arguments], capture_output=True, text=True, check=True).stdout
        if shown.endswith("...\n"):  # only the beginning is shown
            shown = shown.removesuffix("...\n")
            printed = printed[: [place.end() for place in re.finditer(", ", printed)][shown.count(", ") - 1]]
        assert same(printed, shown, numbers_vary=vary), printed
    assert Path("means.svg").exists()


@pytest.mark.parametrize("command", [check, compare, mean, events, show, ledger, audit, reproduce])
def test_the_page_names_every_option(command: ModuleType) -> None:
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    command.add_to(subparsers)
    (options,) = subparsers.choices.values()
    for option in every_option(options):
        assert option in ("-h", "--help") or re.search(rf"`{option}[` ]", PAGE), option


def every_option(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command and of all its parts."""
    for action in parser._actions:
        yield from action.option_strings
        for part in (action.choices or {}).values() if isinstance(action, argparse._SubParsersAction) else ():
            yield from every_option(part)
