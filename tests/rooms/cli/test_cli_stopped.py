"""Ctrl-C at any moment is told as such: `stopped`, what was spent, exit code 130."""

import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from told import said

import plandp
from plandp.stopping import stops_stay_stops

MEAN = ["mean", "survey.csv", "--bounds", "0:100", "--rho", "1/8"]

STOPPED_AT_IMPORT = """
import os, signal, sys
import plandp_command

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop())
sys.argv = ["plandp", "check", "--n", "100", "--d", "1", "--bounds", "0:1", "--rho", "1"]
sys.exit(plandp_command.main())
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savetxt("survey.csv", np.random.default_rng(3).normal(50, 5, (100, 2)), delimiter=",", header="a,b", comments="")


def turned_into_another(*_: Any, **__: Any) -> None:
    """What Numba makes of Ctrl-C while it compiles."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    except KeyboardInterrupt:
        pass
    raise RuntimeError("the compiler has stopped")


@pytest.mark.parametrize("module", ["plandp", "numpy", "plandp.cli.wording"])
def test_while_plandp_is_imported(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_AT_IMPORT.format(module=module)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "plandp: stopped; nothing was read or spent\n"


def test_the_command_of_the_package_begins_there() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"plandp": "plandp_command:main"}


@pytest.mark.parametrize(
    ("place", "told", "spent"),
    [
        ("plandp.cli.mean.asked_bounds", "nothing of dataset 'survey-{place}' was read or spent", 0),
        ("plandp.curator.open_rows", "nothing of dataset 'survey-{place}' was read or spent", 0),
        ("plandp.spending.Spending.paid", "rho = 1/8 of dataset 'survey-{place}' stays spent", "1/8"),
        ("plandp.cli.release_output.release_text", "rho = 1/8 of dataset 'survey-{place}' is spent, and the", "1/8"),
    ],
)
def test_whatever_it_was_turned_into(
    place: str, told: str, spent: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlalchemy")
    ledger, dataset = plandp.Ledger("budget.sqlite"), f"survey-{place}"
    ledger.register(dataset, rho=1)
    with monkeypatch.context() as patched:
        patched.setattr(place, turned_into_another)
        code, out, err = said([*MEAN, "--ledger", "budget.sqlite", "--dataset", dataset], capfd)
    assert (code, out) == (130, "")
    assert err.startswith("plandp: stopped; " + told.format(place=place))
    assert err.count("\n") == 1
    assert ledger.status(dataset).spent == Fraction(spent)


def test_without_a_ledger(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("plandp.curator.open_rows", turned_into_another)
        assert said(MEAN, capfd) == (130, "", "plandp: stopped; nothing was released\n")
    with monkeypatch.context() as patched:  # it may have been shown in part
        patched.setattr("plandp.cli.release_output.release_text", turned_into_another)
        assert said(MEAN, capfd) == (130, "", "plandp: stopped\n")


def test_before_the_arguments_are_read(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("plandp.cli.mean.add_to", turned_into_another)
    assert said(MEAN, capfd) == (130, "", "plandp: stopped; nothing was read or spent\n")


def test_in_python_it_is_a_keyboard_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.curator.open_rows", turned_into_another)
    with pytest.raises(KeyboardInterrupt) as stopped:
        plandp.mean(np.zeros((9, 1)), bounds=(0, 1), rho=1)
    assert stopped.value.__suppress_context__  # what it was turned into is not shown


def test_errors_without_ctrl_c_stay_what_they_are() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="itself"), stops_stay_stops():
        raise RuntimeError("itself")
    assert signal.getsignal(signal.SIGINT) is before


def test_what_holds_a_release_is_not_replaced() -> None:
    def failed() -> None:
        try:
            turned_into_another()
        except RuntimeError:
            raise plandp.LedgerUnavailable("holds it") from None

    with pytest.raises(plandp.LedgerUnavailable), stops_stay_stops():
        failed()


def test_a_stop_that_a_callback_swallowed_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    import ctypes

    @ctypes.CFUNCTYPE(None)
    def stopped_inside() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    hook = sys.unraisablehook

    def run() -> None:
        stopped_inside()
        time.sleep(5)
        raise AssertionError("the stop did not come again")

    with pytest.raises(KeyboardInterrupt), stops_stay_stops():
        run()
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""
