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

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import plandp
from plandp.kernels.compiler import compiled
from plandp.kernels.norm_cells import add_up_cells
from plandp.terms.text_table import align
from plandp_lab.gauge import peak_bytes, seconds_of

FloatArray = NDArray[np.float64]

REPEATS = 7
SMALLEST_SPREAD = 2.0**-4
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
    Case(n=100_000, d=256, rho=1.0, most_times=8.0),
    Case(n=4_000, d=1_024, rho=1.0, most_seconds=0.25),
    Case(n=10_000, d=1_024, rho=1.0),
    Case(n=100_000, d=256, rho=0.01),
    Case(n=1_000_000, d=64, rho=1.0),
)
MOST_MEMORY = 0.5  # times the table
MOST_IMPORT = 0.3  # seconds more than NumPy


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Medians of interleaved repeats, and the peak of what was allocated in one more run."""

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
            self.times <= (self.case.most_times or np.inf)
            and self.release <= (self.case.most_seconds or np.inf)
            and self.memory <= MOST_MEMORY
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    asked = parser.parse_args(arguments)
    cases = (Case(n=2_000, d=8, rho=1.0),) if asked.quick else CASES
    compiler = "Numba" if compiled(add_up_cells) else "no compiler: pip install plandp[fast]"
    print(f"{compiler}, float64, exact noise; medians of {REPEATS} interleaved repeats.\n")
    costs = [cost_of(case) for case in tqdm(cases, desc="cases", leave=False)]
    print("\n".join(align([HEADINGS, *map(_line, costs)])))
    numpy_alone, with_plandp = import_seconds(repeats=2 if asked.quick else REPEATS)
    extra = with_plandp - numpy_alone
    print(f"\nimport plandp: {extra:.3f} s more than NumPy's {numpy_alone:.3f} s (required: {MOST_IMPORT} s)")
    if asked.json:
        asked.json.write_text(json.dumps({"costs": [asdict(cost) for cost in costs], "import": extra}, indent=1))


def cost_of(case: Case) -> Cost:
    """Time release and plain mean in turns, so that a busy moment of the machine meets both."""
    table = np.random.default_rng(0).standard_normal((case.n, case.d))
    bound = 25.0 * case.d**0.5

    def release() -> None:
        plandp.mean(table, bounds=(-bound, bound), rho=case.rho, smallest_spread=SMALLEST_SPREAD)

    def mean() -> None:
        table.mean(axis=0)

    release()
    mean()  # warm: compiled, tables of the sampler made
    seconds = [(seconds_of(release), seconds_of(mean)) for _ in range(REPEATS)]
    return Cost(
        case=case,
        release=median(pair[0] for pair in seconds),
        mean=median(pair[1] for pair in seconds),
        memory=peak_bytes(release) / table.nbytes,
    )


def import_seconds(*, repeats: int) -> tuple[float, ...]:
    """Medians over new interpreters, in turns: NumPy alone, and plandp."""
    seconds: dict[str, list[float]] = {statement: [] for statement in IMPORTS}
    for _ in range(repeats):
        for statement, found in seconds.items():
            found.append(seconds_of(partial(subprocess.run, [sys.executable, "-c", statement], check=True)))
    return tuple(median(found) for found in seconds.values())


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
