"""A disk without room for compiled code stops no release: which loops are compiled follows from the rows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")  # not on Windows

# One row that holds NaN has a matrix copied and cleaned, by loops that its neighbour does not need.
RELEASES = """
import resource
import numpy as np, scipy.sparse
import plandp
clean = scipy.sparse.csr_array(np.eye(8))
unclean = clean.copy()
unclean.data[3] = np.nan
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
for matrix in (clean, unclean):
    print(plandp.mean(matrix, kind="binary", rho=1, testing_seed=1).receipt.rho)
"""


def test_no_room_for_compiled_code_stops_no_release(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", RELEASES], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["1", "1"], run.stderr
