"""The command line: any words in any order, on files of every kind; it answers 0, 1 or 2 and never with a traceback."""

import os
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from plandp.cli.main import main
from plandp_lab.fuzz.canary import leaks
from plandp_lab.fuzz.files import EVENTS, TABLES, damage, valid_events, valid_table
from plandp_lab.fuzz.texts import changed_release, kept_releases
from plandp_lab.fuzz.values import SPECIAL_TEXTS, Draw, one_in, valid_texts
from plandp_lab.fuzz.watch import Broken, watched

_VALUES: dict[str, tuple[str, ...]] = {
    "--bounds": (
        "0:100",
        "-5:5",
        "age=0:1,income=0:2",
        "0:1,0:2",
        "1:0",
        "0:",
        ":",
        "a=b",
        "0:inf",
        "nan:1",
        "age=0:1,0:1",
    ),
    "--bounds-file": ("bounds.csv", "wrong_bounds.csv", "nowhere.csv", "."),
    "--spread": ("1", "0.5,1", "age=1", "x"),
    "--smallest-spread": ("0.01", "0"),
    "--rho": ("0.5", "1/8", "0", "1/0", "1e999999999", "x", "-1"),
    "--epsilon": ("1", "0", "nan"),
    "--delta": ("1e-6", "2", "0.5"),
    "--error-norm": ("1", "2", "0.5", "inf", "1e400"),
    "--error-scale": ("bounds", "1", "0", "age=1"),
    "--method": ("gaussian", "gaussian", "plan", "unscaled", "plan-classic", "iome", "coinpress", "best"),
    "--kind": ("real", "binary", "nonnegative", "x"),
    "--columns": ("age", "age,income", "0", "0,1", "", "height", "٣"),
    "--missing": ("0", "1,2", "age=1", "nan"),
    "--refine": ("none", "clamp", "combine,shrink", "x"),
    "--sampler": ("exact", "opendp", "x"),
    "--out": ("new.json", "folder/new.json", ".", "release.json"),
    "--person": ("user", "page", "x", ""),
    "--item": ("page", "user", "x"),
    "--items-file": ("items.txt", "wrong_items.txt", "nowhere.txt", "."),
    "--people": ("5", "1e2", "0", "1e999999999", "x", "-3"),
    "--measure": ("presence", "count", "amount", "x"),
    "--n": ("100", "1e6", "0", "1e999999999", "x"),
    "--d": ("2", "5", "0", "x"),
}
_FLAGS = ("--json", "--progress", "--no-progress", "--help", "--version", "--", "-x", "--bound", "--rho=", "-1:5")
_USUAL = {
    "mean": ["--bounds", "--rho", "--method"],
    "events": ["--person", "--item", "--items-file", "--people", "--rho"],
    "check": ["--n", "--d", "--bounds", "--rho"],
    "show": [],
}


def command_lines(draw: Draw) -> str:
    """Run one command in a folder of its own."""
    with TemporaryDirectory() as folder:
        arguments = _arguments(draw, Path(folder))
        before = Path.cwd()
        os.chdir(folder)
        try:
            outcome = watched(partial(_run, arguments))
        finally:
            os.chdir(before)
        left = [name for name in os.listdir(folder) if name.endswith(".part")]
    told = "\n".join(map(str, outcome.shown))
    if outcome.kind not in ("exit 0", "exit 1", "exit 2") or "Traceback" in told or "unexpected" in told:
        raise Broken(f"{arguments} ended with {outcome.kind}: {told}")
    if left:
        raise Broken(f"{arguments} left {left}")
    return outcome.kind


def _run(arguments: list[str]) -> None:
    raise SystemExit(main(arguments))


def _arguments(draw: Draw, folder: Path) -> list[str]:
    command = draw(st.sampled_from(["mean", "mean", "events", "check", "show", "show"]))
    words = [command]
    for option in _USUAL[command]:
        if not one_in(draw, 12):
            words += [option, draw(_value(option)) if one_in(draw, 6) else _VALUES[option][0]]
    for option in draw(st.lists(st.sampled_from(sorted(_VALUES)), max_size=2)) if one_in(draw, 2) else ():
        words += [option, draw(_value(option))]
    words += draw(st.lists(st.sampled_from(_FLAGS), max_size=1))
    if command != "check":
        words.insert(1, _file(draw, command, folder))
    if one_in(draw, 20):
        words = draw(st.permutations(words))
    if one_in(draw, 20):
        words = draw(st.lists(st.one_of(st.sampled_from([*_FLAGS, *_VALUES, *_USUAL]), valid_texts), max_size=6))
    # what is typed is public, and may be shown again: no canary
    return [word for word in words if word != "demo" and "\x00" not in word and not leaks(word)]


def _value(option: str) -> st.SearchStrategy[str]:
    plain = [text for text in SPECIAL_TEXTS if text.isprintable() and not leaks(text) and "/" not in text]
    return st.one_of(st.sampled_from(_VALUES[option]), st.sampled_from(_VALUES[option]), st.sampled_from(plain))


def _file(draw: Draw, command: str, folder: Path) -> str:
    (folder / "folder").mkdir()
    (folder / "bounds.csv").write_text("column,low,high\nage,0,100\nincome,0,5\n")
    (folder / "wrong_bounds.csv").write_bytes(draw(damage(b"column,low,high\nage,0,100\nincome,0,5\n")))
    (folder / "items.txt").write_text("home\nhelp\n7\n")
    (folder / "wrong_items.txt").write_bytes(draw(damage("home\r\nhelp\nä\n".encode())))
    (folder / "release.json").write_text(kept_releases()[0])
    if one_in(draw, 20):
        return str(
            draw(
                st.sampled_from(["nowhere.csv", "folder", "", "items.txt", "a" * 300 + ".csv", "-.csv", "release.json"])
            )
        )
    if command == "show":
        content: Any = (
            changed_release(draw).encode("utf-8", "replace") if draw(st.booleans()) else kept_releases()[1].encode()
        )
        suffix = ".json"
    else:
        suffix = draw(st.sampled_from(TABLES if command == "mean" else EVENTS))
        content = valid_table(draw, suffix)[0] if command == "mean" else valid_events(draw, suffix)[0]
        if one_in(draw, 5):
            content = draw(damage(content))
        if leaks(content.partition(b"\n")[0].decode("latin-1")) and suffix in (".csv", ".tsv"):
            content = b"age,income\n1,2\n"
    (folder / f"table{suffix}").write_bytes(content)
    return f"table{suffix}"
