"""Rows that hold few items, as integer vectors: norms, clipped sums and masses.  Proof: docs/proofs/item_rows.md.

A row x ≥ 0 becomes q with q_i = rint(w_i · x_i), or w_i itself where an item is either there or not: whole weights w
leave nothing to round, and are divided out after the noise.  Two rows q, q' ≥ 0 of norm up to R are at most √2·R apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.sparse_rows import SparseBlock, SparseRows
from plandp.kernels.compiler import compiled
from plandp.kernels.item_rows import TURNS, add_clipped, add_grouped, count_cells, write_norms
from plandp.kernels.item_sets import (
    add_clipped_alike,
    add_clipped_sets,
    add_grouped_sets,
    count_items,
    write_set_norms,
)
from plandp.mechanisms.tail_cell import NormCounts
from plandp.noise.meter import MeteredNoise

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CELL_SHIFT = 48
"""Squared norms that agree in their leading bits share a cell: 16 cells per doubling."""

FINEST = 2.0**500
"""The largest weight of values: what is divided by it is still a float."""

ITEMS_AT_A_TIME = 2**11
"""Running sums of so many items stay in cache."""

MOST_HELD, FEWEST_ITEMS = 2**23, 4
"""Norms are held of so many rows, in 64 MiB, of so many items on average: that is half of what their items take."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemLattice:
    """Public or released numbers that turn a row into an integer vector."""

    weights: FloatArray  # per column, in lattice points per unit; whole numbers from 1 on
    high: FloatArray  # upper bounds of the values
    squared: bool  # x² in place of x
    largest: int  # no entry exceeds it: the squared norm of a row, d · largest² at most, is below 2^59
    shortest: float = 1.0  # rows of smaller norm, in lattice points, share the lowest cell

    @classmethod
    def of(
        cls, weights: FloatArray, *, high: FloatArray, n: int, squared: bool = False, values: bool = False
    ) -> "ItemLattice":
        """The lattice of these weights, made whole where that changes them little.

        Items that are there or not have whole weights, and norms from the least of them on.  `values` may be far below
        1, so that weights may be beyond the largest entry, and norms from 1 point on are told apart.
        """
        largest = largest_entry(n=n, d=len(weights))
        most = FINEST if values else float(largest)
        usable = np.where(weights > 0.0, np.minimum(weights, most), 1.0)  # whatever was reckoned before
        whole = np.where(usable >= 1.0, np.floor(usable), usable)
        shortest = 1.0 if values else max(float(whole.min()), 1.0)
        return cls(weights=whole, high=high, squared=squared, largest=largest, shortest=shortest)

    def vectors(self, block: SparseBlock) -> FloatArray:
        """The entries of all rows, whole numbers up to `largest`, each a function of its own value alone."""
        if block.values is None:
            return np.asarray(self.whole_weights[block.items], np.float64)
        weights: FloatArray = self.weights[block.items]
        x = np.minimum(block.values.astype(np.float64), self.high[block.items])
        x = np.rint((x * x if self.squared else x) * weights)
        return np.where(x < self.largest, x, float(self.largest))

    @cached_property
    def whole_weights(self) -> NDArray[Any]:
        """The weights of items that are there or not; none exceeds the largest entry, and so none reaches 2^31."""
        whole = np.floor(np.minimum(self.weights, float(self.largest)))
        return whole.astype(np.uint16 if whole.max() < 2**16 else np.int32)  # the narrower, the more stay in cache

    @cached_property
    def alike(self) -> bool:
        """Whether all weights are the same: a set's norm is then known by its size."""
        return bool(np.all(self.weights == self.weights[0]))

    @cached_property
    def cells(self) -> tuple[int, FloatArray]:
        """The number of the lowest cell of squared norms, and the upper edges of all cells, as norms."""
        most = float(len(self.weights)) * float(self.largest) ** 2
        lowest, highest = (int(edge) >> CELL_SHIFT for edge in np.array([self.shortest**2, most]).view(np.int64))
        upper = (np.arange(lowest + 1, highest + 2, dtype=np.int64) << CELL_SHIFT).view(np.float64)
        return lowest, np.sqrt(upper)


def largest_entry(*, n: int, d: int) -> int:
    """So large may an entry be that d squares stay below 2^59, and sums of n entries below 2^62.

    With 2^59 no step of a release asks for more noise than OpenDP can draw, whatever the radius.
    """
    return min(isqrt((1 << 59) // d), (1 << 62) // n) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class NormCells:
    """Block function: rows per cell of squared norms."""

    lattice: ItemLattice

    def __call__(self, block: SparseBlock, /) -> tuple[IntArray]:
        """Count the rows of the block by norm."""
        return (self.of(squared_norms(block, self.lattice)),)

    def of(self, norms: IntArray) -> IntArray:
        """Count rows of these squared norms."""
        lowest, edges = self.lattice.cells
        if loop := compiled(count_cells):
            counts = np.zeros((TURNS, len(edges)), np.int64)
            loop(norms, CELL_SHIFT, lowest, counts)
            return np.asarray(counts.sum(axis=0))
        cells = (norms.astype(np.float64).view(np.int64) >> CELL_SHIFT) - lowest
        return np.bincount(np.minimum(np.maximum(cells, 0), len(edges) - 1), minlength=len(edges))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HeldNorms:
    """The squared norm of every row on a lattice, in the order of rows in memory.  Not private, stays inside."""

    lattice: ItemLattice
    norms: IntArray

    def are_of(self, lattice: ItemLattice) -> bool:
        """Whether sets have the same norms on the other lattice."""
        return np.array_equal(lattice.whole_weights, self.lattice.whole_weights)


@dataclass(frozen=True)
class FilledRows:
    """Block function: how many rows hold any item."""

    def __call__(self, block: SparseBlock, /) -> tuple[IntArray]:
        """Count the rows of the block that are not empty."""
        return (np.array([np.count_nonzero(np.diff(block.begin))], np.int64),)


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemCounts:
    """Block function: how many rows hold each item."""

    d: int

    def __call__(self, block: SparseBlock, /) -> tuple[IntArray]:
        """Count the items of the block; each row holds an item at most once."""
        if loop := compiled(count_items):
            counts = np.zeros(self.d, np.int32)  # no block has 2^31 rows
            loop(_unsigned(block.items), counts)
            return (counts.astype(np.int64),)
        return (np.bincount(block.items, minlength=self.d),)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClippedSum:
    """Block function: the sum of all rows, those of a squared norm above `squared_radius` scaled down to it.

    Where items that are there or not were `counted` before, it is only what clipping changes in weights · counts.
    """

    lattice: ItemLattice
    squared_radius: int
    counted: bool = False

    def whole(self, counts: IntArray) -> IntArray:
        """The sum of rows that hold so many of each item, none of them clipped."""
        return np.asarray(self.lattice.whole_weights * counts)

    def __call__(self, block: SparseBlock, /) -> tuple[IntArray]:
        """Add up the rows of the block."""
        lattice, radius = self.lattice, float(isqrt(self.squared_radius))
        sums = np.zeros(len(lattice.weights), np.int64)
        norms = squared_norms(block, lattice)
        if compiled(add_clipped_sets) and block.values is None:
            self.add_changes(block, norms, sums)
            return (sums if self.counted else sums + self.whole(*ItemCounts(d=len(sums))(block)),)
        if loop := compiled(add_clipped):
            limits = lattice.squared, float(lattice.largest), norms, self.squared_radius, radius
            loop(*_arguments(block, lattice), *limits, sums)
        else:
            shorter = np.repeat(_shorter(norms, self.squared_radius), np.diff(block.begin))
            np.add.at(sums, block.items, (lattice.vectors(block) * shorter).astype(np.int64))
        return (sums - self.whole(*ItemCounts(d=len(sums))(block)) if self.counted else sums,)

    def add_changes(self, block: SparseBlock, norms: IntArray, sums: NDArray[Any]) -> None:
        """Add what clipping changes in a block of sets of these squared norms."""
        loop = add_clipped_alike if self.lattice.alike else add_clipped_sets
        rows = block.begin, _unsigned(block.items), self.lattice.whole_weights, norms
        long, radius = np.flatnonzero(norms > self.squared_radius), float(isqrt(self.squared_radius))
        (compiled(loop) or loop)(*rows, long, radius, sums)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedSum:
    """Block function: as `ClippedSum` for the sums of each row over groups of columns, never of squares."""

    lattice: ItemLattice
    group: IntArray  # of every column, from 0 on, below 256
    squared_radius: int
    counted: bool = False

    @cached_property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    @cached_property
    def narrow_group(self) -> NDArray[np.uint8]:
        """The group of every column in a byte."""
        return self.group.astype(np.uint8)

    @cached_property
    def shared_weights(self) -> NDArray[np.int32] | None:
        """The weight of every group, where all its columns have the same."""
        weights = np.zeros(self.groups, np.int32)
        weights[self.group] = self.lattice.whole_weights
        return weights if np.array_equal(weights[self.group], self.lattice.whole_weights) else None

    def whole(self, counts: IntArray) -> IntArray:
        """The sums of rows that hold so many of each item, none of them clipped; modulo 2^64, as is all of this."""
        sums = np.zeros(self.groups, np.int64)
        np.add.at(sums, self.group, self.lattice.whole_weights * counts)
        return sums

    def __call__(self, block: SparseBlock, /) -> tuple[IntArray]:
        """Add up the rows of the block."""
        lattice, radius = self.lattice, float(isqrt(self.squared_radius))
        sums = np.zeros(self.groups, np.int64)
        if (sets := compiled(add_grouped_sets)) and block.values is None and self.shared_weights is not None:
            weights = self.shared_weights
            # none of a row's sums, nor their norm, exceeds its number of items times the largest weight
            short = min(isqrt(self.squared_radius), lattice.largest) // max(1, int(weights.max()))
            long = np.flatnonzero(np.diff(block.begin) > short)
            limits = lattice.largest, self.squared_radius, radius
            sets(block.begin, _unsigned(block.items), self.narrow_group, weights, long, *limits, sums)
            return (sums if self.counted else sums + self.whole(*self._counts(block)),)
        if loop := compiled(add_grouped):
            shape = self.group, float(lattice.largest), self.squared_radius, radius
            loop(*_arguments(block, lattice), *shape, sums)
        else:
            sums[:] = self._add_up(block)
        return (sums - self.whole(*self._counts(block)) if self.counted else sums,)

    def _counts(self, block: SparseBlock) -> tuple[IntArray]:
        return ItemCounts(d=len(self.group))(block)

    def _add_up(self, block: SparseBlock) -> IntArray:
        """What the compiled loop does, in NumPy."""
        lattice = self.lattice
        by_group = np.zeros((len(block.begin) - 1, self.groups), np.int64)
        place = (_row_of_entry(block), self.group[block.items])
        np.add.at(by_group, place, lattice.vectors(block).astype(np.int64))
        by_group = np.minimum(by_group, lattice.largest)
        norms = (by_group * by_group).sum(axis=1)
        return np.asarray((by_group * _shorter(norms, self.squared_radius)[:, None]).astype(np.int64).sum(axis=0))


def _arguments(block: SparseBlock, lattice: ItemLattice) -> tuple[object, ...]:
    values = np.ones(len(block.items)) if block.values is None else block.values
    return block.begin, _unsigned(block.items), values, lattice.high, lattice.weights


def _unsigned(items: NDArray[Any]) -> NDArray[Any]:
    """The same memory read as unsigned: compiled loops then need not ask whether an index counts from the end."""
    return items.view(np.uint32 if items.dtype.itemsize == 4 else np.uint64)


def _row_of_entry(block: SparseBlock) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(block.begin) - 1), np.diff(block.begin))


def squared_norms(block: SparseBlock, lattice: ItemLattice, norms: IntArray | None = None) -> IntArray:
    """The squared norm of every row, below 2^59; written to `norms` if given."""
    norms = np.empty(len(block.begin) - 1, np.int64) if norms is None else norms
    if block.values is None and lattice.alike:
        np.subtract(block.begin[1:], block.begin[:-1], out=norms)
        norms *= int(lattice.whole_weights[0]) ** 2
    elif (sets := compiled(write_set_norms)) and block.values is None:
        upto = np.empty(ITEMS_AT_A_TIME + 1, np.uint64)
        sets(block.begin, _unsigned(block.items), lattice.whole_weights, upto, norms)
    elif loop := compiled(write_norms):
        loop(*_arguments(block, lattice), lattice.squared, float(lattice.largest), norms)
    else:
        whole = lattice.vectors(block).astype(np.uint64)
        upto = np.zeros(len(whole) + 1, np.uint64)
        np.cumsum(whole * whole, out=upto[1:])  # modulo 2^64, as in the loop of sets
        norms[:] = np.diff(upto[block.begin])
    return norms


def _shorter(norms: IntArray, squared_radius: int) -> FloatArray:
    """The factor that brings a row down to the radius, 1 for a row within it."""
    # two more than the root in floats is above the true root, and the last factor outweighs three roundings
    factor = float(isqrt(squared_radius)) / np.floor(np.sqrt(norms.astype(np.float64)) + 2.0) * (1.0 - 2.0**-50)
    return np.where(norms > squared_radius, factor, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyItems:
    """Released sums per column, in the units of the data, and the standard deviation of the noise in each."""

    total: FloatArray
    noise_std: FloatArray


def norm_counts(rows: SparseRows, lattice: ItemLattice) -> NormCounts:
    """Rows by norm.  Reads data, pays nothing, stays inside."""
    (counts,) = rows.fold(NormCells(lattice=lattice))
    return NormCounts(edges=lattice.cells[1], counts=counts)


@np.errstate(all="ignore")
def norm_counts_held(rows: SparseRows, lattice: ItemLattice, *, items: int) -> tuple[NormCounts, HeldNorms | None]:
    """Sets of so many items in all by norm, and all norms where rows are in memory and large.  Both stay inside."""
    few = rows.n <= min(MOST_HELD, items // FEWEST_ITEMS)
    if not (rows.in_memory and few and compiled(add_clipped_sets)):
        return norm_counts(rows, lattice), None
    norms = np.empty(rows.n, np.int64)
    for block, place in _placed(rows):
        squared_norms(block, lattice, norms[place])
    counts = NormCells(lattice=lattice).of(norms)
    return NormCounts(edges=lattice.cells[1], counts=counts), HeldNorms(lattice=lattice, norms=norms)


def private_filled_rows(rows: SparseRows, noise: MeteredNoise, *, rho: Fraction, step: str) -> float:
    """The number of rows that hold any item; noise may take it below 0 or above all of them.

    Guarantee: rho-zCDP for replacing one row, which moves the count by at most 1.
    """
    (filled,) = rows.fold(FilledRows())
    return float(noise.release(filled, squared_sensitivity=1, rho=rho, step=step)[0])


def item_counts(rows: SparseRows) -> IntArray:
    """How many rows hold each item.  Reads data, pays nothing, stays inside."""
    (counts,) = rows.fold(ItemCounts(d=rows.d))
    return counts


def private_item_sum(
    rows: SparseRows,
    lattice: ItemLattice,
    radius: float,
    noise: MeteredNoise,
    *,
    rho: Fraction,
    step: str,
    counts: IntArray | None = None,
    held: HeldNorms | None = None,
) -> NoisyItems:
    """Release the sum of all rows, those above the radius scaled down to it.

    With the `counts` of items that are there or not only clipped rows are added up anew, and with `held` norms none
    are reckoned: the sum is the same.

    Guarantee: rho-zCDP for replacing one row.  Every row adds an integer vector q ≥ 0 with Σq² ≤ R², so the sum moves
    by at most √2·R.
    """
    squared_radius = max(1, int(radius * radius))
    clipped = ClippedSum(lattice=lattice, squared_radius=squared_radius, counted=counts is not None)
    sums = _with_whole(clipped, rows, counts, held)
    noisy = noise.release(sums, squared_sensitivity=2 * squared_radius, rho=rho, step=step)
    noise_std = float(np.sqrt(float(Fraction(squared_radius) / rho)))
    return NoisyItems(total=noisy.astype(np.float64) / lattice.weights, noise_std=noise_std / lattice.weights)


def private_group_sum(
    rows: SparseRows,
    lattice: ItemLattice,
    group: IntArray,
    weights: FloatArray,
    radius: float,
    noise: MeteredNoise,
    *,
    rho: Fraction,
    step: str,
    counts: IntArray | None = None,
) -> NoisyItems:
    """Release the sums over groups of columns of all rows clipped to the radius, divided by each group's weight.

    Guarantee: rho-zCDP for replacing one row.  Every row adds an integer vector ≥ 0 of norm up to R, one entry a group.
    """
    squared_radius = max(1, int(radius * radius))
    clipped = GroupedSum(lattice=lattice, group=group, squared_radius=squared_radius, counted=counts is not None)
    sums = _with_whole(clipped, rows, counts)
    noisy = noise.release(sums, squared_sensitivity=2 * squared_radius, rho=rho, step=step)
    noise_std = float(np.sqrt(float(Fraction(squared_radius) / rho)))
    return NoisyItems(total=noisy.astype(np.float64) / weights, noise_std=noise_std / weights)


@np.errstate(all="ignore")
def _with_whole(
    clipped: ClippedSum | GroupedSum, rows: SparseRows, counts: IntArray | None, held: HeldNorms | None = None
) -> IntArray:
    if counts is None:
        return rows.fold(clipped)[0]
    whole = clipped.whole(counts)
    if held is None or isinstance(clipped, GroupedSum) or not held.are_of(clipped.lattice):
        return whole + rows.fold(clipped)[0]
    # no row changes an entry by more than its weight
    narrow = rows.n * int(clipped.lattice.whole_weights.max()) < 2**31
    changes: NDArray[Any] = np.zeros(len(whole), np.int32 if narrow else np.int64)
    for block, place in _placed(rows):
        clipped.add_changes(block, held.norms[place], changes)
    return np.asarray(whole + changes)


def _placed(rows: SparseRows) -> Iterator[tuple[SparseBlock, slice]]:
    """All rows in their order, block by block, with the place of each block among them."""
    at = 0
    for block in rows.blocks():
        place = slice(at, at + len(block.begin) - 1)
        yield block, place
        at = place.stop
