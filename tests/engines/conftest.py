"""One cluster of each engine for all tests: two worker processes, started when the first test asks for it."""

import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_table import SHUFFLED
from java_runtime import find_java

import plandp
from plandp.data import dask_parts, spark_parts
from plandp.data.own_copy import own_copy, own_mark, run_if_same


class Sender:
    """Who sends functions to workers: this process, but for one of them, that comes from another source."""

    def __init__(self) -> None:
        self.sent, self.other_at = 0, -1

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        own = own_copy()
        by = replace(own, source="7" * 64) if self.sent == self.other_at else own
        self.sent += 1
        return partial(run_if_same, by, own_mark(), function)

    def refused(self, work: Callable[[], object], match: str, *, up_to: int | None = None) -> int:
        """See that the work is refused whichever of its (first) functions is of another source; return their number."""
        self.sent, self.other_at = 0, -1
        work()
        functions = self.sent
        for place in range(functions if up_to is None else up_to):
            self.sent, self.other_at = 0, place
            with pytest.raises(plandp.ArgumentError, match=match):
                work()
        return functions


@pytest.fixture
def sender(monkeypatch: pytest.MonkeyPatch) -> Sender:
    """What sends all functions of plandp to workers in this test."""
    made = Sender()
    for module in (dask_parts, spark_parts):
        monkeypatch.setattr(module, "for_same_copy", made)
    return made


@pytest.fixture
def altered_copy(tmp_path: Path) -> Path:
    """A folder with another source of plandp, to be found by workers."""
    folder = tmp_path / "altered"
    shutil.copytree(Path(plandp.__file__).parent, folder / "plandp", ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "plandp" / "errors.py").open("a") as file:
        file.write("# altered\n")
    return folder


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    """A client of two Dask worker processes; within `client.as_current()` Dask computes there."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark with two Python workers at a time; a task that fails is tried again."""
    pytest.importorskip("pyspark")
    os.environ["JAVA_HOME"] = str(find_java(tmp_path_factory.mktemp("java")))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark warns of pandas 3, and leaves files open
        from pyspark.sql import SparkSession

        handler = signal.getsignal(signal.SIGINT)
        session = spark_settings(SparkSession.builder.master("local[2,4]"), tmp_path_factory.mktemp("spark"))
        signal.signal(signal.SIGINT, handler)  # Spark takes it over, and other tests run in this process
    yield session
    session.stop()


def spark_settings(builder: Any, folder: Path) -> Any:
    """Return a session with small settings; nothing is written outside the folder."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def parquet_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shuffled table and its numbers, in three files of different length."""
    folder = tmp_path_factory.mktemp("table") / "table"
    folder.mkdir()
    for name, begin, end in (("a", 0, 1_000), ("b", 1_000, 5_500), ("c", 5_500, len(SHUFFLED))):
        SHUFFLED.iloc[begin:end].to_parquet(folder / f"{name}.parquet", index=False)
    return folder
