"""No loop reads behind the end of an array, however far ahead it asks memory for what comes next."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="pages are guarded by other calls there")
def test_loops_read_nothing_behind_their_arrays() -> None:
    # in a process of its own, which the system stops where it does
    run = Path(__file__).with_name("guarded_run.py")
    done = subprocess.run([sys.executable, run], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "all within\n"), done.stderr
