"""`python -m plandp_lab.fuzz --cases 100000`: hostile input for every public entry, and a table of what was tried."""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

from plandp.terms.text_table import align
from plandp_lab.fuzz.batch import Tally, in_own_process
from plandp_lab.fuzz.targets import TARGETS, Target

PER_BATCH = 1000
PROMISES = """\
In every case: no exception but plandp's own, no traceback, no case over a minute; nothing unpickled, no process
started; no value of a cell in any message, warning, log line or in the errors behind an error; what was handed over
is unchanged.  Where a row or a person's events could be replaced: both tables were run, the second with the answers of
the noisy queries of the first, and everything that a caller sees was the same to the last bit."""


def main() -> int:
    """Run the cases and print what was tried; the exit code is 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1, help="the same number, the same cases")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes at a time")
    parser.add_argument("--only", action="append", help="a target of the table; may be given several times")
    asked = parser.parse_args()
    chosen = [target for target in TARGETS if asked.only is None or target.name in asked.only]
    if not chosen:
        parser.error(f"--only must be one of {', '.join(target.name for target in TARGETS)}")
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(threads, "1")  # tables are small
    begun = time.perf_counter()
    tallies = _run(chosen, asked.cases, asked.seed, asked.jobs)
    print(*_table(tallies), sep="\n")
    packages = ("plandp", "numpy", "scipy", "pandas", "polars", "pyarrow", "hypothesis")
    print(
        f"\n{time.perf_counter() - begun:.0f} s; seed {asked.seed};",
        ", ".join(f"{name} {version(name)}" for name in packages),
    )
    print(PROMISES)
    broken = [(target.name, *found) for target, tally in tallies.items() for found in tally.broken.items()]
    for name, what, case in broken:
        print(f"\nBROKEN, {name}: {what}\n{case}")
    return 1 if broken else 0


def _run(chosen: list[Target], cases: int, start: int, jobs: int) -> dict[Target, Tally]:
    whole = sum(target.share for target in chosen)
    tallies = {target: Tally() for target in chosen}
    batches = [
        (target, min(PER_BATCH, count - done), start + done // PER_BATCH)
        for target in chosen
        for count in (max(1, round(cases * target.share / whole)),)
        for done in range(0, count, PER_BATCH)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        for (target, *_), tally in zip(batches, pool.map(lambda batch: in_own_process(*batch), batches), strict=True):
            tallies[target].add(tally)
            print(f"{target.name}: {tallies[target].cases} cases", file=sys.stderr)
    return tallies


def _table(tallies: dict[Target, Tally]) -> list[str]:
    head = ("target", "what", "cases", "released or done", "refused", "broken", "longest")
    rows = [_row(target.name, target.tried, tally) for target, tally in tallies.items()]
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    return align([head, *rows, _row("all", "", total)])


def _row(name: str, tried: str, tally: Tally) -> tuple[str, ...]:
    refused = tally.ends["refusal"] + tally.ends["exit 2"] + tally.ends["exit 1"]
    done = tally.cases - refused - tally.ends["broken"] - tally.ends["not tried"]
    cases = tally.cases - tally.ends["not tried"]
    return name, tried, f"{cases:,}", f"{done:,}", f"{refused:,}", str(tally.ends["broken"]), f"{tally.longest:.1f} s"


if __name__ == "__main__":
    sys.exit(main())
