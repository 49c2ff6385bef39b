"""What a row adds to a query must not depend on the other rows, on their order, or on how the table is cut."""

from typing import Any

import numpy as np
from neighbouring import AWKWARD, signed_view

from plandp.data import blocks
from plandp.data.open import open_rows
from plandp.mechanisms import norm_cells


def awkward_table(n: int = 400, d: int = 5) -> np.ndarray:
    """Rows of very different lengths, some with awkward values."""
    rng = np.random.default_rng(30)
    table = rng.normal(size=(n, d)) * np.exp(rng.normal(0, 3, (n, 1)))
    for row, value in enumerate(AWKWARD):
        table[row * 3, row % d] = value
    return table


def totals_of(table: np.ndarray, module: Any, *, per_block: int, tile: int) -> tuple[list[int], list[Any]]:
    """Counts and sums per norm cell, with the table cut into blocks and tiles of this many values."""
    before = blocks.VALUES_PER_BLOCK, module.TILE
    blocks.VALUES_PER_BLOCK, module.TILE = per_block, tile
    try:
        cells = module.NormCells.around(1.0, lowest=0.01, highest=300.0, d=table.shape[1], points=2**20)
        totals = module.cell_totals(open_rows(table), signed_view(table.shape[1]), cells)
    finally:
        blocks.VALUES_PER_BLOCK, module.TILE = before
    return totals.counts.tolist(), totals.sums.tolist()


def company_shows(module: Any = norm_cells) -> list[str]:
    """Ways to rearrange a table that change its totals: none, if each row adds what it adds."""
    table = awkward_table()
    n, d = table.shape
    whole = totals_of(table, module, per_block=2**20, tile=2**17)
    shuffled = np.random.default_rng(31).permutation(n)
    shown = []
    for name, other, per_block, tile in (
        ("row order", table[shuffled], 2**20, 2**17),
        ("reversed", table[::-1], 2**20, 2**17),
        ("column-major", np.asfortranarray(table), 2**20, 2**17),
        ("blocks of 1 row", table, 1, 2**17),
        ("blocks of 7 rows", table, 7 * d, 2**17),
        ("tiles of 1 row", table, 2**20, 1),
        ("tiles of 3 rows", table, 2**20, 3 * d),
    ):
        if totals_of(other, module, per_block=per_block, tile=tile) != whole:
            shown.append(name)
    split = 123
    upper, lower = (totals_of(part, module, per_block=2**20, tile=2**17) for part in (table[:split], table[split:]))
    for a, b, c in zip(upper, lower, whole, strict=True):
        if (np.array(a, dtype=object) + np.array(b, dtype=object)).tolist() != c:
            shown.append("split")
    return shown
