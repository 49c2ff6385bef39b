"""The documents tell the truth: their examples run, their outputs are right, their links lead somewhere."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import shake_256
from itertools import count
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import plandp
from plandp.noise.bits import OsBits
from plandp.terms import budget
from plandp.theory import guards

ROOT = Path(__file__).parents[2]
EXECUTED = (
    "README.md",
    "docs/compare.md",
    "docs/dask.md",
    "docs/guide.md",
    "docs/larger-than-memory.md",
    "docs/motivating-example.md",
    "docs/theory.md",
)
WITH_SPARK = ("docs/spark.md",)
"""Executed by tests/engines/test_spark.py, where there is a session."""
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix() for pattern in ("*.md", "docs/**/*.md") for path in ROOT.glob(pattern)
)
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"-?\d[\d.]*(e[+-]?\d+)?")


@dataclass(frozen=True)
class Example:
    code: str
    line: int
    shown: str | None
    numbers_vary: bool


def examples(text: str) -> Iterator[Example]:
    """Every python block, with the text block right behind it as the output it must print."""
    blocks = [(match[1].split(), match[2], match.start(), match.end()) for match in _FENCE.finditer(text)]
    for place, (info, body, start, end) in enumerate(blocks):
        if info[:1] != ["python"]:
            continue
        shown, vary = None, False
        if place + 1 < len(blocks):
            next_info, next_body, next_start, _ = blocks[place + 1]
            if next_info[:1] == ["text"] and not text[end:next_start].strip():
                shown, vary = next_body, next_info[1:] == ["numbers-vary"]
        yield Example(code=body, line=text[:start].count("\n") + 2, shown=shown, numbers_vary=vary)


def same(printed: str, shown: str, *, numbers_vary: bool) -> bool:
    if not numbers_vary:
        return printed == shown
    masked = [re.sub(r"\s+", " ", _NUMBER.sub("#", text)).strip() for text in (printed, shown)]
    return masked[0] == masked[1]


def run(document: str) -> None:
    """Run all examples of a document in one namespace and compare what they print."""
    namespace: dict[str, object] = {"__name__": "document"}
    for example in examples((ROOT / document).read_text(encoding="utf-8")):
        printed = io.StringIO()
        code = compile("\n" * (example.line - 1) + example.code, document, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if example.shown is not None:
            assert same(printed.getvalue(), example.shown, numbers_vary=example.numbers_vary), (
                f"{document}:{example.line} prints\n{printed.getvalue()}\nbut shows\n{example.shown}"
            )


@pytest.fixture
def repeatable_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The documents use secure noise; here it is the same on every run, so that no test fails by chance."""
    index = count()
    monkeypatch.setattr(OsBits, "take", lambda _, nbytes: shake_256(f"documents {next(index)}".encode()).digest(nbytes))


@pytest.mark.usefixtures("repeatable_bits")
@pytest.mark.parametrize("document", EXECUTED)
def test_examples_run_and_print_what_they_show(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for what they write
    run(document)


def test_every_example_with_python_is_executed() -> None:
    for document in DOCUMENTS:
        if document not in (*EXECUTED, *WITH_SPARK):
            assert not list(examples((ROOT / document).read_text(encoding="utf-8"))), document


def test_the_comparison_sees_wrong_words_and_wrong_numbers() -> None:
    assert not same("rho = 1\n", "rho = 2\n", numbers_vary=False)
    assert same("  age  41.2  ± 0.1\n", "  age  4.12e+01 ± 0.25\n", numbers_vary=True)
    assert not same("  age  41.2\n", "  wage  41.2\n", numbers_vary=True)
    assert not same("  age  41.2\nwarning: lost\n", "  age  41.2\n", numbers_vary=True)


@pytest.mark.usefixtures("repeatable_bits")
def test_examples_in_docstrings_are_right() -> None:
    attempted = 0
    for module in pkgutil.walk_packages(plandp.__path__, "plandp."):
        found = doctest.testmod(importlib.import_module(module.name))
        assert found.failed == 0, module.name
        attempted += found.attempted
    assert attempted > 0


@pytest.mark.usefixtures("repeatable_bits")
@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_example_scripts_run(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
    assert capsys.readouterr().out


def test_pictures_can_be_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / "docs" / "pictures" / "make_pictures.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in script.parent.glob("*.svg")}
    for name in drawn:
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<?xml")


def anchors(text: str) -> set[str]:
    """The names of a document's headings, made as the usual Markdown renderers make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", _FENCE.sub("", text)):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), f"{document} links to {target}"
        if anchor:
            assert anchor in anchors(found.read_text(encoding="utf-8")), f"{document} links to {target}"


def test_every_document_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "docs").glob("**/*.md"):
        name = path.relative_to(ROOT / "docs").as_posix()
        assert name == "README.md" or f"]({name})" in index or f"]({name.split('/')[0]})" in index, name


def test_the_guide_explains_every_argument() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    headings = " ".join(re.findall(r"^### (.+)$", guide, re.MULTILINE)).replace(",", " ").split()
    for name in inspect.signature(plandp.mean).parameters:
        assert name in {*headings, "data", "columns"}, name
        assert f"`{name}" in guide or name in headings, name


def test_the_guide_explains_every_argument_of_events() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    of_events = guide.partition("\n## Events\n")[2].partition("\n## ")[0]
    of_mean, theirs = (set(inspect.signature(way).parameters) for way in (plandp.mean, plandp.mean_of_events))
    shared, _, rest = of_events.partition("\nOf the arguments of ")[2].partition("There is no ")
    assert set(re.findall(r"`([a-z_]+)`", shared)) == (of_mean & theirs) - {"bounds"}  # which the table has
    assert {name for name in of_mean if f"`{name}`" in rest.partition("\n\n")[0]} == of_mean - theirs - {"data"}
    for name in theirs - of_mean:
        assert f"`{name}`" in of_events, name


def test_the_guide_explains_every_public_name_of_a_release() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    named = {"error_norm", "error_scale", "first_rows"}  # arguments given back, and a part of repr
    for name in {*plandp.MeanRelease.__dataclass_fields__, *vars(plandp.MeanRelease)} - named:
        assert name.startswith("_") or f"release.{name}" in guide or f"MeanRelease.{name}" in guide, name


def every_warning() -> list[str]:
    """The texts that guard rails and budget return, read from their source; numbers and names in them are 7."""
    returned = [
        node.value
        for source in (guards, budget)
        for node in ast.walk(ast.parse(inspect.getsource(source)))
        if isinstance(node, ast.Return)
    ]
    elements = [element for value in returned if isinstance(value, ast.Tuple) for element in value.elts]
    texts = [element for element in elements if isinstance(element, ast.Constant | ast.JoinedStr)]
    return ["".join(str(part.value) for part in _parts(text)) for text in texts]


def _parts(text: ast.expr) -> list[ast.Constant]:
    pieces = text.values if isinstance(text, ast.JoinedStr) else [text]
    return [piece if isinstance(piece, ast.Constant) else ast.Constant("7") for piece in pieces]


def test_the_guide_explains_every_warning() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    bold = re.findall(r"^\* \*\*(.+?)\.\*\*", guide, re.MULTILINE)
    explained = [re.compile(re.escape(text).replace("…", ".+")) for text in bold]
    warnings = every_warning()
    assert len(warnings) >= 5
    for warning in warnings:
        assert any(pattern.match(warning) for pattern in explained), warning


def test_make_targets_in_the_documents_exist() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE):
            assert target in targets, f"{document}: make {target}"


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    exact = [
        re.fullmatch(r"([A-Za-z0-9_.-]+)==([A-Za-z0-9_.+!-]+)", line) for line in lines if not line.startswith("#")
    ]
    assert all(exact), "every line of the lock is name==version: no hosts, no paths, no options"
    return {re.sub(r"[-_.]+", "-", match[1]).lower(): match[2] for match in exact if match}


def test_the_lock_pins_what_the_project_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"], *(r for e in extras for r in e)]
    pinned = pins()
    for requirement in map(Requirement, asked):
        if requirement.name != "plandp":
            assert requirement.specifier.contains(pinned[requirement.name], prereleases=True), requirement


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == project["version"]
