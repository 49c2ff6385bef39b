"""Neighbouring sparse rows through the mechanisms of item rows: the worst that one row can do, and its company."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from neighbouring import RecordingDoor, furthest, moved

from plandp.data.compressed_rows import CompressedRows
from plandp.data.sparse_rows import SparseBlock
from plandp.mechanisms import item_rows

Row = Mapping[int, float]

RHO = Fraction(1)


def block_of(rows: Sequence[Row], *, binary: bool, wide: bool = False) -> SparseBlock:
    """Rows, each from item to value, in one block."""
    begin = np.cumsum([0, *map(len, rows)])
    items = np.array([item for row in rows for item in row], np.int64 if wide else np.int32)
    values = None if binary else np.array([value for row in rows for value in row.values()], np.float64)
    return SparseBlock(begin=begin.astype(items.dtype), items=items, values=values)


def source_of(
    rows: Sequence[Row], *, d: int, binary: bool, rows_per_block: int = 1000, in_memory: bool = False
) -> CompressedRows:
    """Rows that can be folded, cut into blocks."""
    blocks = [
        block_of(rows[start : start + rows_per_block], binary=binary, wide=start > 0)
        for start in range(0, len(rows), rows_per_block)
    ]
    return CompressedRows(n=len(rows), labels=tuple(range(d)), blocks=partial(iter, blocks), in_memory=in_memory)


def worst_item_sum(module: Any = item_rows, *, binary: bool, squared: bool = False) -> Fraction:
    """Rows at the radius, just above it and far above it, against others that share no item with them."""
    worst = Fraction(0)
    cases = (2, 5, 5), (2, 2**29 - 1, 2**29), (6, 4, 3), (8, 1000, 1000), (64, 2**27 - 1, 3), (64, 7, 40)
    for d, weight, radius in cases:
        weights = np.full(d, float(weight))
        if d == 64:  # two points and one too many, also where items are there or not: 24² + 32² = 40²
            weights[[0, 1, 2, 40, 41, 42]] = [24.0, 32.0, 1.0] * 2
        high = np.full(d, 1.0 if binary else 1e300)
        # whole weights for values too: then x = 1 is `weight` points, and x = 1 + 1/weight one more
        lattice = module.ItemLattice.of(weights, high=high, n=2, squared=squared)

        def run(rows: Sequence[Row], door: RecordingDoor, lattice=lattice, radius=radius, d=d) -> None:
            source = source_of(rows, d=d, binary=binary)
            for counts in (None, module.item_counts(source)) if binary else (None,):
                module.private_item_sum(source, lattice, float(radius), door, rho=RHO, step="sum", counts=counts)
            if binary:
                source = source_of(rows, d=d, binary=True, rows_per_block=1, in_memory=True)
                shorter = module.ItemLattice.of(np.ones(d), high=lattice.high, n=2)
                for other in (lattice, shorter):
                    _, held = module.norm_counts_held(source, other, items=100)
                    module.private_item_sum(
                        source, lattice, float(radius), door, rho=RHO, step="sum", counts=counts, held=held
                    )

        half = d // 2
        fits = max(1, min(half, radius**2 // weight**2))
        left: list[Row] = [{}, dict.fromkeys(range(fits), 1.0), dict.fromkeys(range(half), 1.0)]
        if d == 64:
            left += [dict.fromkeys([0, 1], 1.0), dict.fromkeys([0, 1, 2], 1.0)]
        right: list[Row] = [
            {},
            dict.fromkeys([item for item in (40, 41) if item < d], 1.0),
            dict.fromkeys(range(half, half + fits), 1.0),
            dict.fromkeys(range(half, d), 1.0),
            dict.fromkeys(range(d), 1.0),
        ]
        if not binary:
            root = (lambda x: x**0.5) if squared else (lambda x: x)
            # one point more than the radius; one huge entry; all that there can be; beyond what a product can hold
            left += [{0: root(radius / weight)}, {0: root((radius + 1) / weight)}, {0: 1e300}, {0: 5e-324}]
            right += [dict.fromkeys(range(half, d), value) for value in (1e300, float("inf"), root(radius / weight))]
            right += [{half: root(radius / weight)}, dict.fromkeys(range(d), float("inf"))]
            if d == 8:
                left += [{0: root(radius / weight), 1: root(1 / weight)}]
        for one in left:
            for other in right:
                worst = max(worst, furthest(moved(run, [one, {}], [other, {}]))["sum"])
    return worst


def worst_group_sum(module: Any = item_rows, *, binary: bool) -> Fraction:
    """Rows that are all in one group, against rows of the others."""
    worst = Fraction(0)
    for d, weight, radius in ((2, 6, 6), (3, 5, 5), (64, 2**27 - 1, 2**20), (64, 3, 64), (70, 1, 1)):
        group = (np.arange(d) * 3 // d).astype(np.int64) if d > 2 else np.arange(d)
        lattice = module.ItemLattice.of(np.full(d, float(weight)), high=np.full(d, 1.0 if binary else 1e300), n=2)

        def run(rows: Sequence[Row], door: RecordingDoor, lattice=lattice, radius=radius, d=d, group=group) -> None:
            source = source_of(rows, d=d, binary=binary)
            weights = np.full(int(group.max()) + 1, float(lattice.weights[0]))
            shape = group, weights, float(radius)
            for counts in (None, module.item_counts(source)) if binary else (None,):
                module.private_group_sum(source, lattice, *shape, door, rho=RHO, step="sum", counts=counts)

        first, last = np.flatnonzero(group == 0).tolist(), np.flatnonzero(group == group.max()).tolist()
        fits = max(1, radius // weight)
        left: list[Row] = [{}, dict.fromkeys(first[:fits], 1.0), dict.fromkeys(first, 1.0)]
        right: list[Row] = [{}, dict.fromkeys(last[:fits], 1.0), dict.fromkeys(last, 1.0), dict.fromkeys(range(d), 1.0)]
        if not binary:
            left += [{0: radius / weight}, {0: (radius + 1) / weight}, {0: 1e300}]
            right += [{last[0]: radius / weight}, dict.fromkeys(last, 1e300), dict.fromkeys(range(d), float("inf"))]
        for one in left:
            for other in right:
                worst = max(worst, furthest(moved(run, [one, {}], [other, {}]))["sum"])
    return worst


def clipped_alone(module: Any, lattice: Any, squared_radius: int, row: Row, *, binary: bool) -> list[int]:
    """What one row adds to the clipped sum, in Python integers."""
    with np.errstate(all="ignore"):  # as in the fold
        (sums,) = module.ClippedSum(lattice=lattice, squared_radius=squared_radius)(block_of([row], binary=binary))
    return [int(value) for value in sums.tolist()]


# --- what a row adds must not depend on the other rows


def awkward_rows(binary: bool, n: int = 60, d: int = 9) -> list[Row]:
    """Rows with none to all of the items, of values so different that a running sum would lose some of them."""
    rng = np.random.default_rng(70)
    rows: list[Row] = []
    for _ in range(n):
        items = rng.permutation(d)[: rng.integers(0, d + 1)].tolist()
        values = np.exp(rng.normal(0, 6, len(items))).tolist()
        rows.append(dict(zip(items, [1.0] * len(items) if binary else values, strict=True)))
    if not binary:
        rows[5], rows[6], rows[7] = {0: 1e308, 3: 5e-324}, {1: float("inf")}, {2: 2.0**53 + 2, 4: 1.0 / 3.0}
    return rows


def totals_of(rows: Sequence[Row], module: Any, *, binary: bool, rows_per_block: int) -> list[list[int]]:
    """Counts by norm, clipped sums and group sums of these rows."""
    d = 9
    weights = np.geomspace(3.0, 4000.0, d)
    group = np.arange(d) % 4
    shared = module.ItemLattice.of(weights[group], high=np.full(d, 1.0 if binary else 1e6), n=100)
    totals = []
    for squared in (False, True):
        lattice = module.ItemLattice.of(weights, high=np.full(d, 1.0 if binary else 1e6), n=100, squared=squared)
        functions = [
            module.NormCells(lattice=lattice),
            module.ClippedSum(lattice=lattice, squared_radius=3000**2 + 1),
            module.GroupedSum(lattice=lattice, group=group, squared_radius=2000**2),
            module.GroupedSum(lattice=shared, group=group, squared_radius=40**2),
        ]
        totals += [
            source_of(rows, d=d, binary=binary, rows_per_block=rows_per_block).fold(function)[0].tolist()
            for function in functions[: 2 if squared else 4]
        ]
    return totals


def item_company_shows(module: Any = item_rows) -> list[str]:
    """Ways to rearrange rows that change their totals: none, if each row adds what it adds."""
    shown = []
    for binary in (True, False):
        rows = awkward_rows(binary)
        whole = totals_of(rows, module, binary=binary, rows_per_block=1000)
        order = np.random.default_rng(71).permutation(len(rows)).tolist()
        for name, other, rows_per_block in (
            ("row order", [rows[place] for place in order], 1000),
            ("reversed", rows[::-1], 1000),
            ("blocks of 7 rows", rows, 7),
            ("blocks of 1 row", rows, 1),
        ):
            if totals_of(other, module, binary=binary, rows_per_block=rows_per_block) != whole:
                shown.append(name)
        alone = [totals_of([row], module, binary=binary, rows_per_block=1) for row in rows]
        added = [[sum(parts) for parts in zip(*lists, strict=True)] for lists in zip(*alone, strict=True)]
        if added != whole:
            shown.append("alone")
    return shown
