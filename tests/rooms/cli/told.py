"""What a command tells its user, and what it must never tell."""

import pytest

from plandp.cli.main import main

CANARY = "canary48151623"


def said(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """The exit code, standard output and standard error; a cell that must not show, or a traceback, is a failure."""
    code = main(arguments)
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err
    assert "Traceback" not in shown.err
    return code, shown.out, shown.err
