"""A cell: a kind of table at a budget, with who takes part; and one run of it."""

import platform
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.random import default_rng

import plandp
from plandp_lab.reproduce.entrants import ENTRANTS, Outcome
from plandp_lab.reproduce.workloads import Workload, sample_of, seed_of

Record = dict[str, Any]  # one entrant in one run, as it is stored


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is measured `runs` times."""

    workload: Workload
    rho: str
    entrants: tuple[str, ...]
    runs: int
    fewer: tuple[tuple[str, int], ...] = ()  # entrants that are run less often

    def runs_of(self, entrant: str) -> int:
        """How often this one is run."""
        return dict(self.fewer).get(entrant, self.runs)

    @property
    def key(self) -> str:
        """Table and budget: the same in every exhibit, so that none is measured twice."""
        return f"{self.workload.name} rho={self.rho}"


@dataclass(frozen=True, kw_only=True)
class Task:
    """One table, drawn once for all entrants that are still to be measured on it."""

    cell: Cell
    entrants: tuple[str, ...]
    run: int

    @property
    def seconds(self) -> float:
        """Roughly how long it takes."""
        workload = self.cell.workload
        draw = 0.0 if workload.binary else 0.03 * workload.n * workload.d / 1e6
        return 0.02 + draw + sum(ENTRANTS[name].seconds(workload) for name in self.entrants)


def run_task(task: Task) -> list[Record]:
    """Measure; a function of names alone, so that it can be repeated anywhere."""
    cell = task.cell
    sample = sample_of(cell.workload, task.run)
    records = []
    for name in task.entrants:
        seed = seed_of(cell.key, name, task.run)
        # a generator of its own, or what is measured would depend on what else is
        outcome = ENTRANTS[name].run(sample, cell.workload, Fraction(cell.rho), seed, default_rng(seed))
        records.append(_record(task, name, seed, outcome))
    return records


def _record(task: Task, entrant: str, seed: int, outcome: Outcome) -> Record:
    workload = task.cell.workload
    return {
        "cell": task.cell.key,
        "entrant": entrant,
        "run": task.run,
        "errors": outcome.errors,
        "seconds": outcome.seconds,
        "warnings": outcome.warnings,
        "rho_spent": None if outcome.rho is None else str(outcome.rho),
        "n": workload.n,
        "d": workload.d,
        "rho": task.cell.rho,
        "bound": workload.bound,
        "table_seed": seed_of(workload.name, task.run),
        "noise_seed": seed,
        **versions(),
    }


@cache
def versions() -> dict[str, str]:
    """Of what measured."""
    return {
        "plandp": version("plandp"),
        "source": source_digest(),
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }


@cache
def source_digest() -> str:
    """Tells one state of plandp's source from another where the version number does not."""
    found = sha256()
    folder = Path(plandp.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]
