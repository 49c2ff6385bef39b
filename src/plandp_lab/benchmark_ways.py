"""The same release from other containers, with two threads, and without a compiler, beside float64 in rows."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plandp_lab.gauge import cpu_seconds_of, seconds_of
from plandp_lab.gaussian_release import gaussian_table, release

RHO = 1.0
PIECE = 16_384  # rows
LONGER = 4, 16  # times as many rows for threads, which share the passes over rows and nothing else
# in a process of its own, since what is compiled stays compiled; a line on its input asks for one more
WITHOUT_COMPILER = """
import sys
sys.modules["numba"] = None
from plandp_lab.gauge import cpu_seconds_of
from plandp_lab.gaussian_release import gaussian_table, release
table = gaussian_table({n}, {d})
release(table, {rho})
for _ in sys.stdin:
    print(cpu_seconds_of(lambda: release(table, {rho})), flush=True)
"""
FIRST_CALL = """
from plandp_lab.gauge import cpu_seconds_of
from plandp_lab.gaussian_release import gaussian_table, release
table = gaussian_table(20_000, 64)
print(cpu_seconds_of(lambda: release(table, 1.0)))
"""


MIXED = "pandas frame of several types"


@dataclass(frozen=True, kw_only=True)
class WayCost:
    """The median of one way, and how many times that of float64 in rows: CPU time, of threads the time that passed."""

    name: str
    seconds: float
    times: float
    required: str


def way_costs(n: int, d: int, *, repeats: int) -> list[WayCost]:
    """Time all ways in turns; those with threads against one thread on longer tables."""
    table = gaussian_table(n, d)
    ways: dict[str, Callable[[], object]] = {
        "float64 in rows": partial(release, table, RHO),
        "float32": partial(release, table.astype(np.float32), RHO),
        "columns (F order)": partial(release, np.asfortranarray(table), RHO),
        "pandas frame": partial(release, pd.DataFrame(table), RHO, d=d),
        MIXED: partial(release, _mixed_frame(table), RHO, d=d),
    }
    found = _medians(ways, cpu_seconds_of, repeats)
    first = found["float64 in rows"]
    required = {name: "" if name in ("float64 in rows", MIXED) else "at most 1.5" for name in found}
    costs = [
        WayCost(name=name, seconds=seconds, times=seconds / first, required=required[name])
        for name, seconds in found.items()
    ]
    costs.append(_without_compiler(table, repeats))
    for times in LONGER:
        costs += _by_threads(gaussian_table(times * n, d), repeats)
    return costs


def _mixed_frame(table: NDArray[np.float64]) -> pd.DataFrame:
    """Integers, floats, flags and float32 in turn."""
    kinds = np.int64, np.float64, np.bool_, np.float32
    columns = (np.rint(column).clip(0) if place % 4 == 2 else column for place, column in enumerate(table.T))
    return pd.DataFrame({place: column.astype(kinds[place % 4]) for place, column in enumerate(columns)})


def _without_compiler(table: NDArray[np.float64], repeats: int) -> WayCost:
    """A release without Numba, in turns with one that has it."""
    n, d = table.shape
    code = WITHOUT_COMPILER.format(n=n, d=d, rho=RHO)
    with subprocess.Popen(
        [sys.executable, "-c", code], text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin
        assert other.stdout
        turns = []
        for _ in range(repeats):
            own = cpu_seconds_of(partial(release, table, RHO))
            other.stdin.write("again\n")
            turns.append((own, float(other.stdout.readline())))
        other.stdin.close()
    compiled, without = (median(seconds) for seconds in zip(*turns, strict=True))
    return WayCost(name="without Numba", seconds=without, times=without / compiled, required="at most 4")


def _by_threads(table: NDArray[np.float64], repeats: int) -> list[WayCost]:
    """One thread and two, by the time that passed; and plain sums, which show what the machine's memory has for two."""
    ways = {f"threads={t}": partial(release, table, RHO, threads=t) for t in (1, 2)}
    plain = {f"plain sums, threads={t}": partial(plain_sums, table, threads=t) for t in (1, 2)}
    passed = _medians({**ways, **plain}, seconds_of, repeats)
    required = {"threads=2": "at most 0.625 on a quiet machine"}
    return [
        WayCost(
            name=f"{len(table):,} rows, {name}",
            seconds=seconds,
            times=seconds / passed[f"{name[:-1]}1"],
            required=required.get(name, ""),
        )
        for name, seconds in passed.items()
    ]


def plain_sums(table: NDArray[np.float64], *, threads: int) -> NDArray[np.float64]:
    """The sums of all columns, by so many threads; in pieces, as NumPy adds up long tables no faster."""
    starts = range(0, len(table), PIECE)

    def part(first: int) -> NDArray[np.float64]:
        return np.asarray(
            sum((table[at : at + PIECE].sum(axis=0) for at in starts[first::threads]), np.zeros(table.shape[1]))
        )

    with ThreadPoolExecutor(threads) as pool:
        return np.asarray(sum(pool.map(part, range(threads))))


def first_call_seconds() -> tuple[float, float]:
    """The CPU time of the first release in a new installation, and then in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        new, kept = (float(_told(FIRST_CALL, NUMBA_CACHE_DIR=folder)) for _ in range(2))
    return new, kept


def _medians(
    ways: Mapping[str, Callable[[], object]], gauge: Callable[[Callable[[], object]], float], repeats: int
) -> dict[str, float]:
    for run in ways.values():
        run()
    seconds = [{name: gauge(run) for name, run in ways.items()} for _ in range(repeats)]
    return {name: median(turn[name] for turn in seconds) for name in ways}


def _told(code: str, **environment: str) -> str:
    asked = [sys.executable, "-c", code]
    return subprocess.run(asked, check=True, capture_output=True, text=True, env=os.environ | environment).stdout
