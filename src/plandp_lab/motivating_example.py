"""The paper's motivating example (line 187): rows are (1, λ, …, λ) or 0, so a mean should cost what a scalar costs.

Prints the table of docs/motivating-example.md: python -m plandp_lab.motivating_example
"""

import argparse
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import plandp

FloatArray = NDArray[np.float64]

ROWS, RHO = 10_000, Fraction(1, 10)
COLUMNS = (1, 4, 16, 64, 256, 1024)
LOST = 5.0  # times a scalar's noise: no noise does that


def small_value(columns: int) -> float:
    """λ, a tenth of 1/d: the paper wants it far below that."""
    return 0.1 / columns


def example_table(columns: int, seed: int, ones: float = 0.5) -> FloatArray:
    """n rows: (1, λ, …, λ) with probability `ones`, the paper's q, else zeros."""
    row = np.append(1.0, np.full(columns - 1, small_value(columns)))
    return np.asarray((np.random.default_rng(seed).random(ROWS) < ones)[:, None] * row)


def by_method(method: str) -> Callable[[FloatArray, int], FloatArray]:
    """A way to release the means: one of plandp's methods, with bounds (0, 1) on every column."""
    return lambda table, seed: plandp.mean(table, bounds=(0, 1), rho=RHO, method=method, testing_seed=seed).estimate


def even_split(table: FloatArray, seed: int) -> FloatArray:
    """Every column on its own with ρ/d, its true bounds known: what an even split can do at best."""
    columns = table.shape[1]
    highest = [1.0] + [small_value(columns)] * (columns - 1)
    alone = (
        plandp.mean(
            table[:, i], bounds=(0, high), rho=RHO / columns, method="gaussian", testing_seed=seed * columns + i
        )
        for i, high in enumerate(highest)
    )
    return np.array([release.estimate[0] for release in alone])


WAYS = {
    "plan": by_method("plan"),
    "even split": even_split,
    "unscaled": by_method("unscaled"),
    "gaussian": by_method("gaussian"),
}


def noise_errors(columns: int, runs: int, ones: float = 0.5) -> dict[str, FloatArray]:
    """‖estimate - empirical mean‖₂ of every way, run by run, in units of a scalar's noise 1/(n√(2ρ))."""
    errors = {name: np.empty(runs) for name in WAYS}
    for seed in range(runs):
        table = example_table(columns, seed, ones)
        truth = table.mean(axis=0)
        for name, release in WAYS.items():
            errors[name][seed] = np.linalg.norm(release(table, seed) - truth) * ROWS * math.sqrt(2 * RHO)
    return errors


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    parser.add_argument("--ones", type=float, default=0.5)
    options = parser.parse_args()
    print("| q | d | " + " | ".join(WAYS) + " | lost runs of plan | worst of plan |")
    print("|---|---|" + "---|" * (len(WAYS) + 2))
    for columns in options.columns:
        errors = noise_errors(columns, options.runs, options.ones)
        medians = " | ".join(f"{np.median(found):.3g}" for found in errors.values())
        lost = f"{(errors['plan'] > LOST).sum()} of {options.runs}"
        print(f"| {options.ones:g} | {columns} | {medians} | {lost} | {errors['plan'].max():.3g} |", flush=True)


if __name__ == "__main__":
    main()
