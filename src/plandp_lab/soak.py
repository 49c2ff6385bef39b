"""`python -m plandp_lab.soak --releases 10000`: many releases in one process leave no memory, file or thread behind."""

import argparse
import gc
import os
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse

import plandp
from plandp.terms.text_table import align

WARM_UP = 0.4  # of all releases: modules, compiled loops and caches come in at first
MOST_BLOCKS = 1500
"""Blocks of Python's memory that may be held more at the end than after the warm-up; a release alone has hundreds."""

MOST_TRACED = 1_000_000
"""Bytes that Python may hold more after the last tenth of the releases than before, by tracemalloc."""

MOST_RESIDENT = 24 * 2**20
"""The same for the whole process; allocators of native code keep some of what they had."""

Release = Callable[[], object]


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    releases: int
    blocks: int
    resident: int
    files: int
    threads: int


@dataclass(frozen=True)
class Soaked:
    """What a process held after the warm-up, at nine times between and at the end, and what the last tenth left."""

    seen: list[Held]
    traced: int

    def growth(self) -> list[str]:
        """Return what grew too much, in words; nothing if nothing leaks."""
        # The least of the last three: what one release holds for a while is no growth.
        first, last = self.seen[0], self.seen[-3:]
        # Less the largest step: a loop that rare noise calls for is compiled once, however late; a leak goes on.
        once = max(after.blocks - before.blocks for before, after in pairwise(self.seen))
        more_blocks = min(held.blocks for held in last) - first.blocks - max(once, 0)
        found = {
            "blocks of Python's memory": (more_blocks, MOST_BLOCKS),
            "bytes of Python's memory": (self.traced, MOST_TRACED),
            "bytes of the process": (min(held.resident for held in last) - first.resident, MOST_RESIDENT),
            "open files": (min(held.files for held in last) - first.files, 0),
            "threads": (min(held.threads for held in last) - first.threads, 0),
        }
        return [f"{name}: {more:,} more, over {most:,}" for name, (more, most) in found.items() if more > most]


def soak(releases: int, kinds: list[Release]) -> Soaked:
    """Make releases of each kind in turn, and look what the process holds."""
    marks = [round(releases * (WARM_UP + (1 - WARM_UP) * tenth / 10)) for tenth in range(11)]
    seen: list[Held] = []
    begun = 0
    gc.collect()
    gc.freeze()  # what is there already need not be looked through at every mark
    try:
        for number, release in enumerate(islice(cycle(kinds), releases), start=1):
            release()
            if number in marks:
                seen.append(_held(number))
            if number == marks[-4]:
                tracemalloc.start(1)  # now, since it makes everything twice as slow
            if number == (marks[-4] + releases) // 2:  # when caches of a fixed size have been filled anew, and traced
                begun = _traced()
        return Soaked(seen, _traced() - begun)
    finally:
        tracemalloc.stop()
        gc.unfreeze()


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@contextmanager
def every_kind() -> Iterator[list[Release]]:
    """Hand over releases of all kinds and methods, from files and with a ledger, and calls that are refused."""
    with TemporaryDirectory() as name:
        yield _kinds(Path(name))


def _kinds(folder: Path) -> list[Release]:
    import pandas
    import polars
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyarrow import parquet

    table = np.linspace([0.0, 9.0], [9.0, 1.0], 40)
    named = {"a": table[:, 0], "b": table[:, 1]}
    events = pandas.DataFrame({"user": [1, 1, 2, 3] * 10, "page": ["x", "y", "x", "z"] * 10})
    frame, sparse = pandas.DataFrame(named), scipy.sparse.csr_array(table > 5)
    frame.to_csv(folder / "table.csv", index=False)
    events.to_csv(folder / "events.csv", index=False)
    parquet.write_table(pyarrow.table(named), folder / "table.parquet")
    np.save(folder / "table.npy", table)
    scipy.sparse.save_npz(folder / "table.npz", sparse)
    ledger = plandp.Ledger(folder / "budget.sqlite")
    ledger.register("soak", rho=10**5)

    def quick(data: object) -> Release:
        return lambda: plandp.mean(data, bounds=(0, 10), rho=1, method="gaussian")

    def of_events(data: object) -> Release:
        return lambda: plandp.mean_of_events(data, person="user", item="page", items=["x", "y"], people=9, rho=1)

    def refused() -> None:
        try:
            plandp.mean(frame, bounds={"c": (0, 1)}, rho=1)
        except plandp.ArgumentError:
            return
        raise AssertionError

    kept = plandp.mean(table, kind="binary", rho=1).to_json()
    return [
        lambda: plandp.mean(table, bounds=(0, 10), rho=1),
        lambda: plandp.mean(table, bounds=(0, 10), epsilon=1, delta=1e-6, method="unscaled"),
        lambda: plandp.mean(sparse, kind="binary", rho=1),
        lambda: plandp.mean(folder / "table.npz", kind="nonnegative", bounds=(0, 2), rho=1),
        of_events(events),
        of_events(folder / "events.csv"),
        *(quick(data) for data in (table, table.tolist(), frame, polars.DataFrame(named), pyarrow.table(named))),
        *(quick(folder / name) for name in ("table.csv", "table.parquet", "table.npy")),
        lambda: plandp.mean(table, bounds=(0, 10), rho=1, method="gaussian", ledger=ledger, dataset="soak"),
        lambda: plandp.mean(
            table, bounds=(0, 10), rho=1, method="gaussian", ledger=folder / "budget.sqlite", dataset="soak"
        ),
        refused,
        lambda: repr(plandp.MeanRelease.from_json(kept)),
        lambda: plandp.check(n=1000, d=3, bounds=(0, 10), rho=1, method="gaussian"),
        lambda: plandp.mean(table, bounds=(0, 10), rho=1, method="gaussian", testing_seed=1).to_pandas(),
    ]


def _held(releases: int) -> Held:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Held(
        releases=releases,
        blocks=sys.getallocatedblocks(),
        resident=pages * os.sysconf("SC_PAGE_SIZE"),
        files=len(os.listdir("/proc/self/fd")),
        threads=threading.active_count(),
    )


def main() -> int:
    """Print what the process held on the way; the exit code is 1 if anything grew."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.soak", description=__doc__)
    parser.add_argument("--releases", type=int, default=10_000)
    asked = parser.parse_args()
    begun = time.perf_counter()
    with every_kind() as kinds:
        soaked = soak(asked.releases, kinds)
    head = ("releases", "blocks of Python", "process, MiB", "open files", "threads")
    rows = [
        (
            f"{held.releases:,}",
            f"{held.blocks:,}",
            f"{held.resident / 2**20:,.1f}",
            str(held.files),
            str(held.threads),
        )
        for held in soaked.seen
    ]
    print(*align([head, *rows]), sep="\n")
    print(f"tracemalloc: {soaked.traced:,} bytes more after the last tenth than before")
    print(f"{len(kinds)} kinds of releases in turn, {time.perf_counter() - begun:.0f} s")
    found = soaked.growth()
    print("\n".join(found) or "nothing grew")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
