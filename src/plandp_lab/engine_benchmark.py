"""`python -m plandp_lab.engine_benchmark`: the same Parquet files, read by one process, by Dask and by Spark."""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import numpy as np
import psutil  # type: ignore[import-untyped]  # without types
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyarrow import parquet
from tqdm import tqdm

import plandp
from plandp.terms.text_table import align

FILES = 8
BOUND, SMALLEST_SPREAD = 20.0, 0.5  # 14 rounds for the centre
HALF, WHOLE = "half", "whole"
ARRAYS = "arrays-"  # in front of the name of a folder
HEADINGS = "engine", "wall", "CPU", "times the wall", "times the CPU", "ns CPU per value and pass"


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to hold the files: an engine, its worker processes, and whether a row is one cell."""

    engine: str
    workers: int = 1
    arrays: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        if self.engine == "one process":
            return self.engine
        kept = ", rows in one array column" if self.arrays else ""
        return f"{self.engine}, {self.workers} worker{'s' if self.workers > 1 else ''}{kept}"


WAYS = (
    Way(engine="one process"),
    Way(engine="Dask"),
    Way(engine="Dask", workers=2),
    Way(engine="Spark"),
    Way(engine="Spark", workers=2),
    Way(engine="Spark", workers=2, arrays=True),
)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Wall and CPU seconds of one release, all processes of the engine included, and what was released."""

    wall: float
    cpu: float
    bits: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, measure all ways in turns, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.engine_benchmark", description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--engines", default="Dask,Spark", help="those to be measured beside one process")
    parser.add_argument("--serve", type=json.loads, metavar="WAY", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.serve is not None:
        serve(Way(**asked.serve), asked.folder, sys.stdout)
        return
    ways = [way for way in WAYS if way.engine in ("one process", *asked.engines.split(","))]
    with TemporaryDirectory() as folder:
        write_files(Path(folder), rows=asked.rows, columns=asked.columns)
        shape = f"{asked.rows:,} × {asked.columns:,} in {FILES} Parquet files"
        print(f"{shape}; plan, rho=1, rows numbered by a column, a core for every worker, warm;")
        print(f"medians of {asked.repeats} interleaved repeats.")
        print("Per value and pass: method='gaussian', all of the files less half of them.")
        print("\n".join(align(table(ways, Path(folder), values=asked.rows * asked.columns, repeats=asked.repeats))))


def write_files(folder: Path, *, rows: int, columns: int) -> None:
    """Write the table with its row numbers: as columns, the first half of the files of it, and rows as arrays."""
    rng = np.random.default_rng(0)
    for part in (HALF, WHOLE):
        (folder / part).mkdir()
        (folder / (ARRAYS + part)).mkdir()
    for number in range(FILES):
        begin, end = rows * number // FILES, rows * (number + 1) // FILES
        values = rng.standard_normal((end - begin, columns))
        numbers = pa.array(np.arange(begin, end))
        by_column = {f"c{place}": values[:, place] for place in range(columns)}
        by_row = {"x": pa.FixedSizeListArray.from_arrays(values.ravel(), columns)}
        for kind, held in (("", by_column), (ARRAYS, by_row)):
            file = folder / (kind + WHOLE) / f"{number}.parquet"
            parquet.write_table(pa.table({**held, "number": numbers}), file)
            if number < FILES // 2:
                os.link(file, folder / (kind + HALF) / file.name)


def table(ways: Sequence[Way], folder: Path, *, values: int, repeats: int) -> list[tuple[str, ...]]:
    """Measure all ways in turns, so that a busy moment of the machine meets all of them."""
    asked = ("plan", WHOLE), ("gaussian", WHOLE), ("gaussian", HALF)
    costs: dict[tuple[Way, str, str], list[Cost]] = {}
    with ExitStack() as running:
        servers = {way: running.enter_context(started(way, folder)) for way in ways}
        for turn in tqdm(range(repeats + 1), desc="turns", leave=False):
            for method, part in asked:
                for way, ask in servers.items():
                    cost = ask(method, part)
                    if turn:  # the first is to warm up
                        costs.setdefault((way, method, part), []).append(cost)
    for method, part in asked:
        found = {
            cost.bits for (_, own, files), each in costs.items() if (own, files) == (method, part) for cost in each
        }
        assert len(found) == 1, f"{method} of {part} differs between engines"
    lines: list[tuple[str, ...]] = [HEADINGS]
    base = costs[ways[0], "plan", WHOLE]
    for way in ways:
        own = costs[way, "plan", WHOLE]
        wall, cpu = (median(getattr(cost, what) for cost in own) for what in ("wall", "cpu"))
        slope = f"{_slope(costs, way) / (values / 2) * 1e9:.0f}"
        ratios = (
            f"{median(a.wall / b.wall for a, b in zip(own, base, strict=True)):.1f}",
            f"{median(a.cpu / b.cpu for a, b in zip(own, base, strict=True)):.1f}",
        )
        lines.append((way.name, f"{wall:.1f} s", f"{cpu:.1f} s", *ratios, slope))
    return lines


def _slope(costs: dict[tuple[Way, str, str], list[Cost]], way: Way) -> float:
    """CPU seconds that the second half of the files takes: what does not grow with the rows is not in it."""
    whole, half = costs[way, "gaussian", WHOLE], costs[way, "gaussian", HALF]
    return median(a.cpu - b.cpu for a, b in zip(whole, half, strict=True))


@contextmanager
def started(way: Way, folder: Path) -> Iterator[Callable[[str, str], Cost]]:
    """Start a process for this way, which releases when it is asked to."""
    asked = json.dumps({"engine": way.engine, "workers": way.workers, "arrays": way.arrays})
    command = [sys.executable, "-m", "plandp_lab.engine_benchmark", "--serve", asked, "--folder", str(folder)]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        writer, reader = process.stdin, process.stdout

        def ask(method: str, part: str) -> Cost:
            print(method, part, file=writer, flush=True)
            return Cost(**json.loads(reader.readline()))

        yield ask
        writer.close()


def serve(way: Way, folder: Path, answers: TextIO) -> None:
    """Start the engine, then release and say what it cost, as often as asked."""
    warnings.simplefilter("ignore")
    _keep_to_cores(way.workers)
    with opened(way) as open_files:
        for line in sys.stdin:
            method, part = line.split()
            data = open_files(folder / (ARRAYS + part if way.arrays else part))
            begin, worked = time.perf_counter(), cpu_of_all()
            release = plandp.mean(
                data,
                bounds=(-BOUND, BOUND),
                columns=None if not way.arrays else range(_width(folder)),
                rho=1,
                smallest_spread=SMALLEST_SPREAD,
                method=method,
                row_index="number",
                testing_seed=1,
            )
            cost = {"wall": time.perf_counter() - begin, "cpu": cpu_of_all() - worked}
            bits = hashlib.sha256(release.estimate.tobytes()).hexdigest()
            print(json.dumps({**cost, "bits": bits}), file=answers, flush=True)


@contextmanager
def opened(way: Way) -> Iterator[Callable[[Path], Any]]:
    """Start an engine with so many workers; what is yielded opens the files of a folder."""
    if way.engine == "Dask":
        from dask.dataframe import read_parquet
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=way.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster),
        ):
            yield read_parquet
    elif way.engine == "Spark":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{way.workers}]").config("spark.driver.memory", "2g")
        session = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
        yield lambda folder: session.read.parquet(str(folder))
        session.stop()
    else:
        yield lambda folder: str(folder / "*.parquet")


def cpu_of_all() -> float:
    """CPU seconds of this process and all that it started, those that ended included."""
    own = psutil.Process()
    return float(sum(sum(each.cpu_times()[:4]) for each in (own, *own.children(recursive=True))))


def _keep_to_cores(count: int) -> None:
    """As many cores as workers, for all that the engine starts: else one worker's engine has all cores to itself."""
    if hasattr(os, "sched_setaffinity"):  # on Linux
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def _width(folder: Path) -> int:
    names: list[str] = parquet.read_schema(folder / WHOLE / "0.parquet").names
    return len(names) - 1


if __name__ == "__main__":
    main()
