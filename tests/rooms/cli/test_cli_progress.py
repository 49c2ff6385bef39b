"""Bars of `plandp mean`: on a terminal unless told otherwise, elsewhere only when asked for, never in the output."""

import io
import json
import sys
from pathlib import Path

import pytest

from plandp.cli.main import main


class Stream(io.StringIO):
    """Standard error as a terminal, or as a file."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "options", "shown"),
    [
        (True, [], True),
        (True, ["--no-progress"], False),
        (False, [], False),
        (False, ["--progress"], True),
    ],
)
def test_who_sees_a_bar(
    terminal: bool,
    options: list[str],
    shown: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50)
    errors = Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", errors)
    assert main(["mean", str(tmp_path / "t.csv"), "--bounds", "0:10", "--rho", "1", "--json", *options]) == 0
    assert ("reading rows" in errors.getvalue()) == shown
    assert json.loads(capsys.readouterr().out)["labels"] == ["a", "b"]
