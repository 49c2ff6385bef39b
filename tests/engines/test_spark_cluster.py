"""Spark on a cluster of two executor processes, one of which is killed: the same bits as in memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine_table import COLUMNS, FRAME, QUICK, bits
from java_runtime import find_java

import plandp


@pytest.mark.long
def test_a_killed_executor_changes_nothing(parquet_files: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    home = tmp_path / "java"
    home.mkdir()
    environment = os.environ | {"JAVA_HOME": str(find_java(home)), "PYSPARK_PYTHON": sys.executable}
    script = Path(__file__).with_name("spark_cluster_run.py")
    run = subprocess.run(
        [sys.executable, str(script), str(parquet_files), str(tmp_path)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    said = json.loads(run.stdout.splitlines()[-1])
    expected = [bits(plandp.mean(FRAME, columns=COLUMNS, row_index=number, **QUICK)) for number in (False, "number")]
    assert said["bits"] == [[part.hex() for part in each] for each in expected]
    assert said["read"] > 3 * said["parts"]  # counted, picked again after the kill, folded
