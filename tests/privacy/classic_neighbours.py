"""Neighbouring tables through plan-classic, with its own parts or changed ones: how far its queries move."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from neighbouring import RecordingDoor, furthest, moved, rows_of
from scipy.sparse import csr_array

from plandp.classic import algorithm, items
from plandp.classic.parts import Parts
from plandp.data.open_sparse import open_sparse_rows
from plandp.planner.classic import classic_design
from plandp.terms.choices import read_sparse_columns
from plandp.terms.columns import read_columns

RHO = Fraction(40)
Moves = dict[str, Fraction]


def worst_tables(parts: Parts, run: Callable[..., Any] = algorithm.plan_classic_mean) -> Moves:
    """The furthest that each step moves, for a row that goes from one corner of the box to others, and away."""
    rng = np.random.default_rng(1)
    table = np.clip(rng.normal(0, 0.1, (61, 3)), -1, 1)
    columns = read_columns(labels=range(3), bounds=(-1, 1), smallest_spread=2.0**-6)
    design = classic_design(n=len(table), columns=columns, rho=RHO, error_norm=2.0, spreads=parts.spread.costs)
    found: Moves = {}
    # the second row lies among the others: it changes ranks near the median
    for one, other in ((-1.0, 1.0), (-0.03, 0.03), (0.0, -1.0), (np.nan, 1.0)):
        first, second = table.copy(), table.copy()
        first[17], second[17] = one, other
        moves = moved(lambda rows, door: run(rows_of(rows), design, door, parts=parts), first, second)
        for step, ratio in furthest(moves).items():
            found[step] = max(ratio, found.get(step, Fraction(0)))
    return found


def worst_items(parts: Parts, run: Callable[..., Any] = items.plan_classic_items) -> Moves:
    """The furthest that each step moves, for a row that holds all items or none, or others than before."""
    rng = np.random.default_rng(2)
    table = (rng.random((61, 4)) < 0.3).astype(float)
    columns = read_sparse_columns(range(4), kind="binary", bounds=None, error_scale=None)
    design = classic_design(
        n=61, columns=columns, rho=RHO, error_norm=1.0, centers=False, spreads=parts.item_spread.costs
    )
    found: Moves = {}
    for one, other in (([0, 0, 0, 0], [1, 1, 1, 1]), ([1, 1, 0, 0], [0, 0, 1, 1]), ([1, 0, 0, 0], [0, 1, 1, 1])):
        first, second = table.copy(), table.copy()
        first[17], second[17] = one, other

        def go(rows: Any, door: RecordingDoor) -> None:
            run(open_sparse_rows(csr_array(rows), binary=True), design, door, parts=parts)

        for step, ratio in furthest(moved(go, first, second)).items():
            found[step] = max(ratio, found.get(step, Fraction(0)))
    return found
