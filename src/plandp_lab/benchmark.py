"""`python -m plandp_lab.benchmark`: what a release costs beside the plain mean of the same table, in one run."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from tqdm import tqdm

from plandp.kernels.compiler import compiled
from plandp.kernels.norm_cells import add_up_cells
from plandp.terms.text_table import align
from plandp_lab.benchmark_ways import first_call_seconds, way_costs
from plandp_lab.gauge import cpu_seconds_of, peak_bytes, seconds_of
from plandp_lab.gaussian_release import gaussian_table, release
from plandp_lab.growth import GROWTH, SMALL_GROWTH, draw_growth, growth_costs
from plandp_lab.time_spent import time_spent

REPEATS = 7
IMPORTS = "import numpy", "import plandp"
HEADINGS = "rows", "columns", "rho", "X.mean", "release", "times", "memory", "required"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table of Gaussian columns and the budget of its release."""

    n: int
    d: int
    rho: float
    most_times: float | None = None  # required: times the plain mean
    most_seconds: float | None = None  # required


CASES = (
    Case(n=100_000, d=256, rho=1.0, most_times=4.0),
    Case(n=100_000, d=256, rho=0.01, most_times=8.0),
    Case(n=1_000_000, d=64, rho=1.0, most_times=2.0),
    Case(n=10_000, d=1_024, rho=1.0, most_seconds=0.15),
    Case(n=4_000, d=1_024, rho=1.0, most_seconds=0.12),
)
SMALL = Case(n=2_000, d=8, rho=1.0)
MOST_MEMORY = 0.4  # times the table
MOST_IMPORT = 0.3  # seconds more than NumPy


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Medians of interleaved repeats in CPU seconds, and the peak of what was allocated in one more run."""

    case: Case
    mean: float
    release: float
    memory: float

    @property
    def times(self) -> float:
        """Release over plain mean."""
        return self.release / self.mean

    @property
    def reached(self) -> bool:
        """Whether the case is within what is required of it."""
        return (
            self.times <= (self.case.most_times or float("inf"))
            and self.release <= (self.case.most_seconds or float("inf"))
            and self.memory <= MOST_MEMORY
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for and print tables."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures of the first table to this file")
    parser.add_argument("--growth", type=Path, metavar="FILE", help="only draw how the cost grows with n and d")
    parser.add_argument("--profile", action="store_true", help="only show where the time goes")
    asked = parser.parse_args(arguments)
    if asked.growth:
        draw_growth(growth_costs(SMALL_GROWTH if asked.quick else GROWTH), asked.growth)
    elif asked.profile:
        _print_profile((SMALL,) if asked.quick else CASES, repeats=2 if asked.quick else REPEATS)
    else:
        _print_costs(quick=asked.quick, json_file=asked.json)


def cost_of(case: Case) -> Cost:
    """Time release and plain mean in turns, so that a busy moment of the machine meets both."""
    table = gaussian_table(case.n, case.d)
    run, mean = partial(release, table, case.rho), partial(table.mean, axis=0)
    run()
    mean()  # warm: compiled, tables of the sampler made
    seconds = [(cpu_seconds_of(run), cpu_seconds_of(mean)) for _ in range(REPEATS)]
    return Cost(
        case=case,
        release=median(pair[0] for pair in seconds),
        mean=median(pair[1] for pair in seconds),
        memory=peak_bytes(run) / table.nbytes,
    )


def import_seconds(*, repeats: int) -> tuple[float, ...]:
    """Medians over new interpreters, in turns: NumPy alone, and plandp."""
    seconds: dict[str, list[float]] = {statement: [] for statement in IMPORTS}
    for _ in range(repeats):
        for statement, found in seconds.items():
            found.append(seconds_of(partial(subprocess.run, [sys.executable, "-c", statement], check=True)))
    return tuple(median(found) for found in seconds.values())


def _print_costs(*, quick: bool, json_file: Path | None) -> None:
    cases, repeats = ((SMALL,), 2) if quick else (CASES, REPEATS)
    compiler = "Numba" if compiled(add_up_cells) else "no compiler: pip install plandp[fast]"
    print(f"{compiler}, float64, exact noise, one thread; CPU time, medians of {REPEATS} interleaved repeats.\n")
    costs = [cost_of(case) for case in tqdm(cases, desc="cases", leave=False)]
    print("\n".join(align([HEADINGS, *map(_line, costs)])))
    shape = (SMALL.n, SMALL.d) if quick else (CASES[0].n, CASES[0].d)
    print(f"\nOther ways to the same release at {shape[0]:,} × {shape[1]:,}, rho = 1, beside float64 in rows:\n")
    ways = way_costs(*shape, repeats=repeats)
    lines = [(way.name, f"{way.seconds:.3f} s", f"{way.times:.2f}", way.required) for way in ways]
    print("\n".join(align([("way", "release", "times", "required"), *lines])))
    if not quick:
        new, kept = first_call_seconds()
        print(f"\nfirst call: {new:.1f} s in a new installation, which compiles; {kept:.2f} s in a new process")
    numpy_alone, with_plandp = import_seconds(repeats=repeats)
    extra = with_plandp - numpy_alone
    print(f"\nimport plandp: {extra:.3f} s more than NumPy's {numpy_alone:.3f} s (required: {MOST_IMPORT} s)")
    if json_file:
        json_file.write_text(json.dumps({"costs": [asdict(cost) for cost in costs], "import": extra}, indent=1))


def _print_profile(cases: Sequence[Case], *, repeats: int) -> None:
    print("Where the CPU time of a release goes, in percent:\n")
    found = [time_spent(partial(release, gaussian_table(case.n, case.d), case.rho), repeats=repeats) for case in cases]
    headings = ("", *(f"{case.n:,} × {case.d:,}, {case.rho:g}" for case in cases))
    lines = [(part, *(f"{100 * spent.shares[part]:.0f}" for spent in found)) for part in found[0].shares]
    print("\n".join(align([headings, *lines, ("all, in ms", *(f"{1e3 * spent.seconds:.0f}" for spent in found))])))


def _line(cost: Cost) -> tuple[str, ...]:
    case = cost.case
    required = [f"{case.most_times:g} times"] if case.most_times else []
    required += [f"{case.most_seconds:g} s"] if case.most_seconds else []
    return (
        f"{case.n:,}",
        f"{case.d:,}",
        f"{case.rho:g}",
        f"{cost.mean:.4f} s",
        f"{cost.release:.3f} s",
        f"{cost.times:.1f}",
        f"{cost.memory:.2f}",
        ", ".join([*required, f"memory {MOST_MEMORY:g}"]) + ("" if cost.reached else ": NOT REACHED"),
    )


if __name__ == "__main__":
    main()
