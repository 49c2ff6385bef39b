"""Errors on data that was declared public: each estimator run several times at the ρ that was asked for."""

import hashlib
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from plandp.comparison.peers import Peer, Run
from plandp.comparison.public_table import PublicTable
from plandp.curator import mean
from plandp.methods import Estimator
from plandp.terms.columns import Columns, FloatArray
from plandp.theory.stretch import norm


def runs_of_method(estimator: Estimator, table: PublicTable, columns: Columns, rho: Fraction, p: float) -> Run:
    """Return a function that releases the mean of the table as `plandp.mean` does, by a testing seed."""

    def run(seed: int) -> FloatArray:
        release = mean(
            table.values,
            bounds=np.stack([columns.low, columns.high], axis=1),
            rho=rho,
            error_norm=p,
            error_scale=columns.error_scale,
            spread=columns.spread,
            smallest_spread=columns.smallest_spread,
            method=estimator,
            testing_seed=seed,
        )
        return release.estimate

    return run


def runs_of_peer(peer: Peer, table: PublicTable, columns: Columns, rho: Fraction) -> Run:
    """Return a function that asks the other library for the mean of the table."""
    return peer.prepare(table.filled(columns), columns, rho)


def measured_errors(
    ways: Sequence[tuple[str, Run]], truth: FloatArray, columns: Columns, p: float, *, runs: int, progress: bool
) -> dict[str, tuple[float, ...]]:
    """Return by name the ℓp distances of `runs` estimates to the mean of the rows, in units of error_scale."""
    from tqdm.auto import tqdm

    errors: dict[str, tuple[float, ...]] = {}
    with tqdm(total=runs * len(ways), desc="runs", unit="run", leave=False, disable=not progress) as bar:
        for name, way in ways:
            for run in range(runs):
                off = np.abs(way(_seed(name, run)) - truth) / columns.error_scale
                errors[name] = (*errors.get(name, ()), norm(off, p))
                bar.update()
    return errors


def _seed(name: str, run: int) -> int:
    """A seed that is the same on every machine, another for every name and run."""
    return int.from_bytes(hashlib.sha256(f"{name} {run}".encode()).digest()[:7])
