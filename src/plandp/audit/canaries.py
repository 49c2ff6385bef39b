"""Tables of many canaries: rows each of which is one of two, by its own coin, as far apart as rows can be.

Whoever turns a coin over replaces one row by another public row, so that what is promised for replacing one row holds
for every coin.  The directions of all canaries are orthogonal: no canary stands in the way of another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plandp
from plandp.audit.plan import AuditPlan
from plandp.audit.trade_off import TradeOff, gaussian_trade_off, zcdp_trade_off
from plandp.data.open import open_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.mechanisms.item_rows import ItemLattice, private_item_sum
from plandp.mechanisms.norm_cells import PER_OCTAVE, NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.noise.meter import open_door

Coins = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

LONGER = 3.0  # canaries of sums are so many times longer than the radius: all of them are clipped
POINTS = 2**15  # lattice points of a clipped row of items
ITEMS = 4  # of a canary that is a set: its norm is twice that of one item
LEAST, MOST = Fraction(1, 8), Fraction(2)


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """Something that is released from a table of canaries; high scores say that a coin fell on True."""

    name: str
    canaries: int
    guesses: int
    rho: Fraction  # claimed for replacing one row
    claim: Callable[[float], TradeOff]  # what a ρ means for it
    scores: Callable[[Coins], FloatArray]


def alone(rho: Fraction) -> Fraction:
    """The ρ at which sums are attacked on their own: beyond, hardly any guess or nearly every one is right."""
    return min(max(rho, LEAST), MOST)


def targets(plan: AuditPlan, *, dense: int, sparse: int) -> tuple[Target, ...]:
    """The clipped sums on their own, and whole releases: of so many canaries in tables of numbers and of items."""
    sums = [_dense_sum(2 * dense, alone(plan.rho))]  # which takes less time than a release
    releases = [_dense_release(dense, plan.rho, method) for method in plan.methods]
    if plan.sparse:
        sums += [_set_sum(sparse, alone(plan.rho)), _value_sum(sparse, alone(plan.rho))]
        releases += [_sparse_release(sparse, plan.rho, kind) for kind in ("binary", "nonnegative")]
    return (*sums, *releases)


def _few(m: int) -> int:
    """ρ-zCDP is told best by the most extreme scores, unless they are too few to tell anything."""
    return max(m // 16, min(m // 4, 128))


# --- tables of numbers: as many columns as rows, row i is plus or minus row i of a Hadamard matrix


@cache
def _directions(m: int) -> NDArray[np.int8]:
    from scipy.linalg import hadamard

    return np.asarray(hadamard(m, dtype=np.int8))


def _signed(coins: Coins) -> NDArray[np.int8]:
    return np.asarray(_directions(len(coins)) * np.where(coins, 1, -1).astype(np.int8)[:, None])


def _along(total: FloatArray) -> FloatArray:
    """How far a sum goes in the direction of every canary."""
    return np.asarray(_directions(len(total)).astype(np.float32) @ total.astype(np.float32), np.float64)


def _dense_sum(m: int, rho: Fraction) -> Target:
    """Rows three times as long as the radius, and their opposites: after clipping 2C apart."""
    radius = float(np.sqrt(m))
    cells = NormCells.around(radius, lowest=radius / 2.0, highest=4.0 * radius, d=m, points=2**20)
    reach = np.full(m, 4.0)
    view = Recentred(low=-reach, high=reach, missing=None, center=np.zeros(m), factor=np.ones(m))

    def scores(coins: Coins) -> FloatArray:
        totals = cell_totals(open_rows(_signed(coins) * np.int8(LONGER)), view, cells)
        door = open_door(reserved=rho)
        return _along(private_clipped_sum(totals, PER_OCTAVE, door, rho=rho, step="sum").total)

    return Target(name="clipped sum", canaries=m, guesses=m // 8, rho=rho, claim=gaussian_trade_off, scores=scores)


def _dense_release(m: int, rho: Fraction, method: str) -> Target:
    """Rows at the corners of the box, and at the opposite corners."""

    def scores(coins: Coins) -> FloatArray:
        return _along(plandp.mean(_signed(coins), bounds=(-1, 1), rho=rho, method=method).estimate)

    return Target(name=f"mean, {method}", canaries=m, guesses=_few(m), rho=rho, claim=zcdp_trade_off, scores=scores)


# --- rows of items: each canary has its own items, and holds the first or the second half of them


def _items(coins: Coins, each: int, value: float) -> Any:
    from scipy.sparse import csr_array

    m = len(coins)
    first = (2 * np.arange(m) + ~coins) * each
    items = (first[:, None] + np.arange(each)).ravel()
    shape = (m, 2 * each * m)
    return csr_array((np.full(len(items), value), items, np.arange(m + 1) * each), shape=shape)


def _difference(total: FloatArray, each: int) -> FloatArray:
    halves = total.reshape(-1, 2, each).sum(axis=2)
    return np.asarray(halves[:, 0] - halves[:, 1])


def _item_sum(m: int, rho: Fraction, *, binary: bool) -> Callable[[Coins], FloatArray]:
    each = ITEMS if binary else 1
    d = 2 * each * m
    high = np.full(d, 1.0 if binary else 2.0 * LONGER)
    lattice = ItemLattice.of(np.full(d, float(POINTS)), high=high, n=m)

    def scores(coins: Coins) -> FloatArray:
        rows = open_sparse_rows(_items(coins, each, 1.0 if binary else LONGER), binary=binary)
        total = private_item_sum(rows, lattice, float(POINTS), open_door(reserved=rho), rho=rho, step="sum")
        return _difference(total.total, each)

    return scores


def _set_sum(m: int, rho: Fraction) -> Target:
    """Sets of four items of which the radius leaves half, against four others: after clipping √2·C apart."""
    scores = _item_sum(m, rho, binary=True)
    return Target(name="sum of sets", canaries=m, guesses=m // 8, rho=rho, claim=gaussian_trade_off, scores=scores)


def _value_sum(m: int, rho: Fraction) -> Target:
    """One item three times as large as the radius, or another such item: after clipping √2·C apart."""
    scores = _item_sum(m, rho, binary=False)
    return Target(name="sum of values", canaries=m, guesses=m // 8, rho=rho, claim=gaussian_trade_off, scores=scores)


def _sparse_release(m: int, rho: Fraction, kind: str) -> Target:
    """Rows that hold one item or another."""
    bounds = None if kind == "binary" else (0, 1)

    def scores(coins: Coins) -> FloatArray:
        rows = _items(coins, 1, 1.0)
        return _difference(plandp.mean(rows, kind=kind, bounds=bounds, rho=rho, refine=("combine",)).estimate, 1)

    return Target(name=f"mean, {kind}", canaries=m, guesses=_few(m), rho=rho, claim=zcdp_trade_off, scores=scores)
