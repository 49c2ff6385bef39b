"""What is attacked from outside: the door, each mechanism, and whole releases, with real noise."""

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plandp
from plandp.audit.black_box import Target, sampled
from plandp.audit.plan import AuditPlan
from plandp.data.compressed_rows import CompressedRows
from plandp.data.open import open_rows
from plandp.data.sparse_rows import SparseBlock
from plandp.mechanisms import clipped_sum, item_rows, lattice_counts, norm_cells, tail_cell
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.recentred import Recentred
from plandp.noise import meter
from plandp.terms.columns import read_columns

FloatArray = NDArray[np.float64]

AT_ONCE = 1 << 18


def mechanism_targets(plan: AuditPlan) -> tuple[Target, ...]:
    """Every mechanism at the whole ρ, with one row moved as far as its sensitivity allows."""
    asked = {
        "clipped sum": (_clipped_sum(squared=False), 8.0),  # the one that most of the budget goes into
        "clipped sum of squares": (_clipped_sum(squared=True), 1.0),
        "counts below": (_counts_below(), 1.0),
        "counts by norm": (_counts_by_norm(), 1.0),
        "item sum": (_item_sum(), 1.0),
        "group sum": (_group_sum(), 1.0),
    }
    return (
        Target(name="the door alone", sample=_door(plan.rho), fewest=AT_ONCE, most=AT_ONCE, weight=0.5),
        *(
            Target(name=name, sample=sampled(_through_door(ask, plan.rho)), fewest=256, most=4096, weight=weight)
            for name, (ask, weight) in asked.items()
        ),
    )


def release_targets(plan: AuditPlan) -> tuple[Target, ...]:
    """Whole releases of tables of one row (or person): nothing hides a change of it but noise."""
    found = [_release(f"mean, {method}", _of_table(method, plan.rho)) for method in plan.methods]
    found += [_release(f"mean, binary, {method}", _of_binary(method, plan.rho)) for method in plan.taking_items]
    if plan.sparse:
        found += [_release(f"mean, {kind}", _of_items(kind, plan.rho)) for kind in ("binary", "nonnegative")]
        found.append(_release("mean_of_events", _of_events(plan.rho)))
    return tuple(found)


# --- the door: many independent values at once, each of them a query of its own


def _door(rho: Fraction) -> Callable[[int, int], FloatArray]:
    shift = 1000

    def sample(table: int, count: int) -> FloatArray:
        query = np.full(count, shift * table, dtype=np.int64)
        door = meter.open_door(reserved=rho)
        noisy = door.release(query, squared_sensitivity=shift**2, rho=rho, step="audit")
        return noisy.astype(np.float64)[:, None]

    return sample


# --- mechanisms: a table of one row, which is replaced; it is read once, and its query released many times

Ask = Callable[[int, Any, Fraction], FloatArray]  # table, door, ρ


def _through_door(ask: Ask, rho: Fraction) -> Callable[[int], FloatArray]:
    def one(table: int) -> FloatArray:
        with np.errstate(all="ignore"):  # as in the front doors
            return np.atleast_1d(ask(table, meter.open_door(reserved=rho), rho))

    return one


def _view(d: int) -> Recentred:
    reach = np.full(d, 1000.0)
    return Recentred(low=-reach, high=reach, missing=None, center=np.zeros(d), factor=np.ones(d))


def _clipped_sum(*, squared: bool) -> Ask:
    cells = norm_cells.NormCells.around(1.0, lowest=0.9, highest=1.0, d=2, points=2**20)
    rows = ([[1.0, 0.0]], [[0.0, 1.0]]) if squared else ([[1.0, 0.0]], [[-1.0, 0.0]])
    totals = [norm_cells.cell_totals(open_rows(np.array(row)), _view(2), cells, squared=squared) for row in rows]
    last = len(cells.edges) - 1

    def ask(table: int, door: Any, rho: Fraction) -> FloatArray:
        noisy = clipped_sum.private_clipped_sum(totals[table], last, door, rho=rho, step="audit", nonnegative=squared)
        return noisy.total

    return ask


def _counts_below() -> Ask:
    columns = read_columns(labels=(0, 1, 2), bounds=(-1, 1), smallest_spread=2.0**-5)
    lattice = Lattice.of(columns)
    keys = [lattice_counts.lattice_keys(open_rows(np.full((1, 3), side)), lattice, None) for side in (-1.0, 1.0)]
    at = np.full(3, 64.0)
    return lambda table, door, rho: lattice_counts.private_counts_below(keys[table], at, door, rho=rho, step="audit")


def _counts_by_norm() -> Ask:
    cells = norm_cells.NormCells.around(1.0, lowest=0.5, highest=4.0, d=1, points=2**20)
    norms = [norm_cells.cell_totals(open_rows(np.array([[side]])), _view(1), cells).norms for side in (0.0, 900.0)]
    middle = len(cells.edges) // 2
    return lambda table, door, rho: np.array(
        tail_cell.private_rows_above(norms[table], middle, door, rho=rho, step="audit")
    )


def _one_row(items: list[int]) -> Any:
    block = SparseBlock(begin=np.array([0, len(items)]), items=np.array(items), values=None)
    return CompressedRows(n=1, labels=(0, 1, 2), blocks=lambda: [block])


def _item_sum() -> Ask:
    lattice = item_rows.ItemLattice.of(np.array([3.0, 4.0, 5.0]), high=np.ones(3), n=1)
    rows = _one_row([0, 1]), _one_row([2])  # 3² + 4² = 5²
    return lambda table, door, rho: (
        item_rows.private_item_sum(rows[table], lattice, 5.0, door, rho=rho, step="audit").total
    )


def _group_sum() -> Ask:
    lattice = item_rows.ItemLattice.of(np.full(3, 6.0), high=np.ones(3), n=1)
    group, weights = np.array([0, 1, 1]), np.full(2, 6.0)
    rows = _one_row([0]), _one_row([1])
    return lambda table, door, rho: (
        item_rows.private_group_sum(rows[table], lattice, group, weights, 6.0, door, rho=rho, step="audit").total
    )


# --- whole releases


def _release(name: str, make: Callable[[int], plandp.MeanRelease]) -> Target:
    def one(table: int) -> FloatArray:
        return _numbers(make(table))

    return Target(name=name, sample=sampled(one), fewest=5, most=1024)


def _numbers(release: plandp.MeanRelease) -> FloatArray:
    """What an attacker looks at: the estimate, also in units of its noise, and what else was released."""
    unrefined = release.estimate if release.unrefined is None else release.unrefined
    spread = np.ones(1) if release.spread is None else release.spread
    with np.errstate(all="ignore"):
        logarithms = np.log(np.concatenate([[release.radius], spread, release.noise_std]))
    return np.concatenate(
        [release.estimate, unrefined, unrefined / release.noise_std, release.center, np.nan_to_num(logarithms)]
    )


def _of_table(method: str, rho: Fraction) -> Callable[[int], plandp.MeanRelease]:
    tables = np.array([[-1.0]]), np.array([[1.0]])
    return lambda table: plandp.mean(tables[table], bounds=(-1, 1), rho=rho, method=method)


def _of_items(kind: str, rho: Fraction) -> Callable[[int], plandp.MeanRelease]:
    from scipy.sparse import csr_array

    tables = csr_array(np.array([[1.0, 0.0]])), csr_array(np.array([[0.0, 1.0]]))
    bounds = None if kind == "binary" else (0, 1)
    return lambda table: plandp.mean(tables[table], kind=kind, bounds=bounds, rho=rho, refine=(), error_norm=1)


def _of_binary(method: str, rho: Fraction) -> Callable[[int], plandp.MeanRelease]:
    from scipy.sparse import csr_array

    tables = csr_array(np.array([[1.0, 0.0]])), csr_array(np.array([[0.0, 1.0]]))
    return lambda table: plandp.mean(tables[table], kind="binary", rho=rho, method=method, error_norm=1)


def _of_events(rho: Fraction) -> Callable[[int], plandp.MeanRelease]:
    def make(table: int) -> plandp.MeanRelease:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "events.csv"
            file.write_text("user,page\n" + f"x,{'ab'[table]}\n")
            return plandp.mean_of_events(
                file, person="user", item="page", items=["a", "b"], people=1, rho=rho, refine=()
            )

    return make
