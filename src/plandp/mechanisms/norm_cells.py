"""Integer sums of lattice vectors, grouped by the norm of the row: all that radius and clipped sum need, in one pass.

A row y of norm up to edge_g goes to cell g as the integer vector q = rint(y / step_g), Σq² ≤ bound_g² checked in
integers; y is measured in steps of cell 0 from the start, so that most rows need no division.  Reads data and pays
nothing: what comes out stays inside the library.  Proof: docs/proofs/clipped_sum.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import ColumnLook, Rows
from plandp.errors import ArgumentError
from plandp.kernels.compiler import compiled
from plandp.kernels.norm_cells import BUCKET_SHIFT, add_up_cells
from plandp.kernels.norm_cells_by_column import add_up_columns
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.tail_cell import NormCounts

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PER_OCTAVE = 32  # cells per doubling of the norm: a clipped row comes out at most 2.2% short
TILE = 2**20  # values worked on at a time: they stay in the last cache, and a call for all of them costs little
STRETCHED = 2**10  # values: NumPy's buffer is made so short; a row that is shorter is copied whenever it is stretched
EXACT = 2**53  # whole numbers up to here are float64, and so are their sums
EVERY_ROW = np.empty(0, np.int64)
LINE = 64  # bytes of a line of the cache
FEW = 4  # one row in so many: those are set aside while the others are scaled
MOST_COLUMNS = 4096  # the loop over columns holds all sums once more


@dataclass(frozen=True, kw_only=True, eq=False)
class NormCells:
    """Public geometry: cell g holds the rows with edge_{g-1} < norm ≤ edge_g; the last also all longer ones.

    Edges lie further apart than the order of additions can move a norm.
    """

    edges: FloatArray  # upper norm of each cell
    octave: IntArray  # the lattice of cell g is 2^octave_g times as coarse as that of cell 0
    step: float  # lattice step where octave = 0
    bounds: IntArray  # integer norm that no lattice vector of the cell exceeds

    @classmethod
    def around(
        cls, typical: float, *, lowest: float, highest: float, d: int, points: int, per_octave: int = PER_OCTAVE
    ) -> "NormCells":
        """Geometric cells from `lowest` to `highest`; norms up to `typical` lie on a lattice of typical/points."""
        first = int(np.floor(np.log2(lowest / typical) * per_octave))
        last = max(first + 1, int(np.ceil(np.log2(highest / typical) * per_octave)))
        grid = np.arange(first, last + 1)
        edges = typical * 2.0 ** (grid / per_octave)
        octave = np.maximum(0, -(-grid // per_octave)).astype(np.int64)
        step = typical / points
        slack = int(np.ceil(np.sqrt(d) / 2.0)) + 2  # rounding to nearest moves a vector by at most √d/2
        bounds = np.ceil(edges / (step * 2.0**octave)).astype(np.int64) + slack
        return cls(edges=edges, octave=octave, step=step, bounds=bounds)

    @cached_property
    def edges_in_steps(self) -> FloatArray:
        """The upper norm of each cell, as rows are measured: in lattice steps of cell 0."""
        return self.edges / self.step

    @cached_property
    def finer(self) -> FloatArray:
        """What a row of the cell, measured in steps of cell 0, is multiplied by to be measured in its own."""
        return np.asarray(2.0**-self.octave)

    @cached_property
    def squared_bounds(self) -> IntArray:
        """The integer that no squared norm of a lattice vector of the cell exceeds."""
        return self.bounds**2

    @cached_property
    def narrow(self) -> bool:
        """Whether lattice vectors fit in 32 bits."""
        return bool(self.bounds.max() < 2**31)

    @cached_property
    def shortcuts(self) -> tuple[int, NDArray[np.int32]]:
        """The number of the lowest bucket of norms, and for every bucket a cell that its norms are not below."""
        lowest, highest = (int(edge) >> BUCKET_SHIFT for edge in self.edges_in_steps[[0, -1]].view(np.int64))
        smallest = (np.arange(lowest, highest + 1, dtype=np.int64) << BUCKET_SHIFT).view(np.float64)
        return lowest, np.searchsorted(self.edges_in_steps, smallest).astype(np.int32)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSums:
    """Block function: rows per cell (G,) and sums of lattice vectors per cell (G, d), both integers."""

    view: Recentred
    cells: NormCells
    squared: bool  # sum y² instead of y (second moments)
    wide: bool  # hand over Python integers: so many rows that int64 could overflow

    def __call__(self, block: FloatArray, /) -> tuple[NDArray[Any], ...]:
        """Add up the block; what a row adds depends neither on other rows nor on there being a compiler."""
        return self._sums(block, None)

    def add_to(self, sums: tuple[NDArray[Any], ...], block: FloatArray, chosen: IntArray | None, /) -> None:
        """Add rows of the block to sums of this function; int64 has room for all rows unless they are `wide`."""
        if self.wide:
            for total, part in zip(sums, self._sums(block, chosen), strict=True):
                total += part
        else:
            self._add(block, chosen, *sums)

    @property
    def takes_columns(self) -> bool:
        """Whether `add_columns` can be called: with a compiler, where int64 has room and sums are not very many."""
        few = len(self.view.center) <= MOST_COLUMNS
        return few and not self.wide and self.cells.narrow and compiled(add_up_columns) is not None

    def add_columns(
        self, sums: tuple[NDArray[Any], ...], values: NDArray[Any], begins: IntArray, rows: range, /
    ) -> None:
        """Add rows of columns to sums of this function: as `add_to`, but read where they lie."""
        loop = compiled(add_up_columns)
        assert loop is not None
        loop(values, begins, rows.start, len(rows), self._reach, *self._public, *sums)

    @property
    def takes_stored(self) -> bool:
        """Whether `add_stored` can be called: with a compiler, where int64 has room."""
        return not self.wide and self.cells.narrow and compiled(add_up_cells) is not None

    def add_stored(self, sums: tuple[NDArray[Any], ...], block: NDArray[Any], /) -> None:
        """Add rows of numbers of any machine type to sums of this function: as `add_to`, but as they are stored."""
        self._add(block, None, *sums)

    @property
    def takes_groups(self) -> bool:
        """Whether `looks` can be called: where int64 has room, and norms of so many columns tell how long vectors are.

        The proof says why they do: docs/proofs/clipped_sum.md, section 2.
        """
        return len(self.view.center) <= MOST_COLUMNS and not self.wide and self.cells.narrow

    def looks(self, sums: tuple[NDArray[Any], ...], n: int, /) -> Iterator[ColumnLook]:
        """Return two looks at `n` rows: their norms first, then their vectors; a row adds what it does in a block."""
        counts, total = sums
        columns = [self._in_steps.of_column(place) for place in range(total.shape[1])]
        before, squares = np.zeros(n), np.zeros(n)  # at the first look, at the second

        def measure(first: int, place: int, values: Sequence[FloatArray]) -> None:
            for column, part in zip(columns[place:], values, strict=False):
                y = self._of_column(column, part)
                before[first : first + len(y)] += y * y  # from the left, as everywhere

        yield measure
        norm = np.sqrt(before)
        cell = self._cell_of(norm)
        times = self._times(norm, cell)
        dropped = ~self._short(norm, times, cell)
        cell, norm = cell.astype(np.intp), np.empty(0)
        counts += np.bincount(cell, minlength=len(counts))

        most = EXACT // int(self.cells.bounds.max())  # rows whose sum is a whole number below 2**53

        def add(first: int, place: int, values: Sequence[FloatArray]) -> None:
            for number, part in enumerate(values, place):
                for begin in range(0, len(part), most):
                    y = self._of_column(columns[number], part[begin : begin + most])
                    rows = slice(first + begin, first + begin + len(y))
                    squares[rows] += y * y
                    y[dropped[rows]] = 0.0
                    whole = np.rint(np.multiply(y, times[rows], out=y), out=y)
                    total[:, number] += np.bincount(cell[rows], whole, len(counts)).astype(np.int64)

        yield add
        if not np.array_equal(before, squares):  # or a row could be longer than its cell says
            raise ArgumentError("data", "changed while it was read; see to it that it stays as it is")

    def _of_column(self, view: Recentred, values: FloatArray) -> FloatArray:
        y = view(values)
        return np.multiply(y, y, out=y) if self.squared else y

    def _sums(self, block: FloatArray, chosen: IntArray | None) -> tuple[NDArray[Any], ...]:
        counts = np.zeros(len(self.cells.edges), np.int64)
        sums = _zeros_in_line(len(self.cells.edges), block.shape[1], np.int64)
        if len(block):
            self._add(block, chosen, counts, sums)
        return counts, sums.astype(object) if self.wide else sums

    def _add(self, block: NDArray[Any], chosen: IntArray | None, counts: IntArray, sums: IntArray) -> None:
        if chosen is not None and len(chosen) == 0:
            return  # or the loop would take all
        loop = compiled(add_up_cells) if self.cells.narrow else None
        if loop is None:
            return self._add_up(block, chosen, counts, sums)
        every = EVERY_ROW if chosen is None else chosen
        loop(np.ascontiguousarray(block), every, self._reach, *self._public, counts, sums)

    @property
    def _public(self) -> tuple[Any, ...]:
        """What the loops are told of view and cells."""
        view, cells = self._in_steps, self.cells
        return (
            view.low,
            view.high,
            view.center if view.missing is None else view.missing,
            view.center,
            view.factor,
            self.squared,
            cells.edges_in_steps,
            *cells.shortcuts,
            cells.finer,
            cells.squared_bounds,
        )

    def _add_up(self, block: FloatArray, chosen: IntArray | None, counts: IntArray, sums: IntArray) -> None:
        """What the compiled loop does, tile by tile in NumPy."""
        from scipy.sparse import csc_array  # here, since importing it takes longer than importing plandp

        every = len(block) if chosen is None else len(chosen)
        rows = max(1, min(TILE // block.shape[1], EXACT // int(self.cells.bounds.max()), every))
        room = _zeros_in_line(rows, block.shape[1], np.float64)
        ones, each = np.ones(rows), np.arange(rows + 1, dtype=np.int32)
        for begin in range(0, every, rows):
            tile = slice(begin, begin + rows)
            cell, vectors = self.lattice_vectors(block[tile if chosen is None else chosen[tile]], room)
            count = len(cell)
            in_cell = np.bincount(cell)
            present = np.flatnonzero(in_cell)
            place = np.cumsum(in_cell > 0, dtype=np.int32)[cell] - np.int32(1)
            gather = csc_array((ones[:count], place, each[: count + 1]), shape=(len(present), count))
            sums[present] += (gather @ vectors).astype(np.int64)
            counts[present] += in_cell[present]

    def lattice_vectors(self, rows: FloatArray, room: FloatArray | None = None) -> tuple[NDArray[np.int32], FloatArray]:
        """The cell and the vector of whole numbers of every row, each a function of that row alone.

        The vectors may lie in `room`, until that is used again.
        """
        cells = self.cells
        y, norm = self._mapped(rows, np.empty(rows.shape) if room is None else room[: len(rows)])
        norm, cell = self._from_the_left(y, norm)
        unusable = ~np.isfinite(norm)
        times = self._times(norm, cell)
        _scaled(y, times, usual=cells.finer[np.bincount(cell).argmax()])
        y[unusable] = 0.0
        vectors = np.rint(y, out=y)
        too_long = np.flatnonzero(~self._short(norm, times, cell))
        if len(too_long):
            integers = vectors[too_long].astype(np.int64)
            too_long = too_long[np.vecdot(integers, integers) > cells.squared_bounds[cell[too_long]]]
            vectors[too_long] = 0  # never seen; the public rule that makes the bound certain
        return cell, vectors

    def _times(self, norm: FloatArray, cell: NDArray[np.int32]) -> FloatArray:
        """What rows are multiplied by to lie on the lattices of their cells, the longest within the last edge."""
        top = self.cells.edges_in_steps[-1]
        return np.asarray(np.where(norm > top, top / norm, 1.0) * self.cells.finer[cell])

    def _short(self, norm: FloatArray, times: FloatArray, cell: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether norms tell that lattice vectors are no longer than the bounds of their cells."""
        rounding = 0.5 * np.sqrt(len(self.view.center)) + 1.0  # adds √d/2 at most
        longest = norm * times * (1.0 + self._margin) + rounding
        return np.asarray(longest * longest < self.cells.squared_bounds[cell])

    @cached_property
    def _in_steps(self) -> Recentred:
        """The view, so that y, or y² where squared, comes out in lattice steps of cell 0."""
        step = np.sqrt(self.cells.step) if self.squared else self.cells.step
        return replace(self.view, factor=self.view.factor / step)

    @property
    def _margin(self) -> float:
        """Twice what the order of d additions can change."""
        return float((len(self.view.center) + 8) * 2.0**-52)

    @cached_property
    def _reach(self) -> float:
        """A row with a shorter norm lies within the box and has no NaN; 0 where squares could underflow."""
        view = self._in_steps
        reach = float((np.minimum(view.center - view.low, view.high - view.center) * view.factor).min())
        reach = max(reach, 0.0)
        reach = reach * reach if self.squared else reach
        return reach if reach > 2.0**-500 else 0.0

    @cached_property
    def _repeated(self) -> tuple[FloatArray, FloatArray]:
        """Centres and factors of so many rows that NumPy does not copy them."""
        times = -(-STRETCHED // len(self.view.center))
        return np.tile(self.view.center, times), np.tile(self._in_steps.factor, times)

    def _mapped(self, rows: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The rows y, or their squares, written to `y` if they stay within the box; their norms, in any order."""
        center, factor = self._repeated
        _of_each_row(np.subtract, rows, center, y)
        _of_each_row(np.multiply, y, factor, y)
        y, norm = self._measured(y)
        if norm.max(initial=0.0) * (1.0 + self._margin) < self._reach:  # NaN is below nothing
            return y, norm
        return self._measured(self._in_steps(rows))  # a row may reach out of the box

    def _measured(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.squared:
            y *= y
        return y, np.asarray(np.sqrt(np.vecdot(y, y)))

    def _from_the_left(self, y: FloatArray, norm: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
        """The norm of every row, added up from the left where another order could give another cell; and its cell."""
        edges, margin = self.cells.edges_in_steps, self._margin
        cell = self._cell_of(norm)
        below = (cell == 0) | (edges[cell - 1] < norm * (1.0 - margin))
        unsure = np.flatnonzero(~(below & (norm * (1.0 + margin) <= edges[cell])))
        if len(unsure):
            # accumulate adds each row's squares one by one from the left: the one order all kernels share
            norm[unsure] = np.sqrt(np.add.accumulate(y[unsure] ** 2, axis=1)[:, -1])
            cell[unsure] = self._cell_of(norm[unsure])
        return norm, cell

    def _cell_of(self, norm: FloatArray) -> NDArray[np.int32]:
        """The first cell whose edge is not below the norm, or the last; searched for from the norm's bucket on.

        Norms are never NaN, but of rows that will be mapped anew.
        """
        edges, (lowest, first_cells) = self.cells.edges_in_steps, self.cells.shortcuts
        cell = first_cells.take((norm.view(np.int64) >> BUCKET_SHIFT) - lowest, mode="clip")
        while (further := (edges.take(cell) < norm) & (cell < len(edges) - 1)).any():
            cell += further
        return cell


def _scaled(y: FloatArray, times: FloatArray, *, usual: float) -> None:
    """Multiply every row by its own number; most have the usual one, by which NumPy does it three times as fast.

    That is 1 where most rows lie on the lattice of cell 0.
    """
    others = np.flatnonzero(times != usual)
    if FEW * len(others) > len(times):
        y *= times[:, None]
        return
    unusual = y[others] * times[others, None]
    if usual != 1.0:
        y *= usual
    y[others] = unusual


def _of_each_row(operation: np.ufunc, rows: FloatArray, numbers: FloatArray, out: FloatArray) -> None:
    """Write operation(row, numbers) of every row to `out`; the numbers are those of several rows."""
    d, together = rows.shape[1], len(numbers)
    some = len(rows) - len(rows) % (together // d)
    with np.errstate():  # at its end the buffer is as long as before
        np.setbufsize(STRETCHED)
        operation(rows[:some].reshape(-1, together), numbers, out=out[:some].reshape(-1, together))
        operation(rows[some:], numbers[:d], out=out[some:])


def _zeros_in_line(rows: int, columns: int, kind: type[Any]) -> NDArray[Any]:
    """Zeros that begin with a line of the cache: what lies across two costs a twentieth of the time."""
    count = rows * columns
    room = np.zeros(count + LINE // 8, kind)
    begin = -room.ctypes.data % LINE // 8
    return room[begin : begin + count].reshape(rows, columns)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CellTotals:
    """What one pass found: not private, never to leave the library."""

    cells: NormCells
    counts: IntArray
    sums: NDArray[Any]

    @property
    def norms(self) -> NormCounts:
        """The counts alone."""
        return NormCounts(edges=self.cells.edges, counts=self.counts)


def cell_totals(rows: Rows, view: Recentred, cells: NormCells, *, squared: bool = False) -> CellTotals:
    """Fold `rows` into counts and lattice sums per norm cell."""
    wide = rows.n * int(cells.bounds.max()) >= 2**62
    counts, sums = rows.fold(CellSums(view=view, cells=cells, squared=squared, wide=wide))
    return CellTotals(cells=cells, counts=counts, sums=sums)
