"""The fold over rows that are read again in every pass, since they do not fit into memory."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data import batches as sources
from plandp.data import column_groups
from plandp.data.array import ArrayTable
from plandp.data.batches import Batches
from plandp.data.blocks import (
    COPIED,
    TableRows,
    columns_in,
    compile_alike,
    converter_of,
    copied_quickly,
    merge,
    room_for,
    stored_rows_of,
)
from plandp.data.column_groups import groups_in, in_stretches, worth_two_looks
from plandp.data.labels import BeforeValues
from plandp.data.parts import Part
from plandp.data.progress_bar import Reach, bar_of_bytes, bar_of_hundredths, count_of_rows
from plandp.data.row_choice import refuse_indices
from plandp.data.rows import (
    AddingFunction,
    BlockFunction,
    ColumnFunction,
    FloatBlock,
    Rows,
    StoredFunction,
    Sums,
    adds,
    column_function,
    looking_function,
    stored_function,
)
from plandp.data.side_by_side import lay_side_by_side, side_by_side
from plandp.data.table import ReadThrough, Table, float_block, refuse_empty
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

HELD = 3 * 2**24
"""A sample of so many values (384 MiB) is held; a larger one is picked again in every pass over it."""

IN_MEMORY = HELD
"""A table of so many values is read once and held; a larger one is read again in every pass."""

COUNTING = "counting rows, pass 1"


def _always(table: Table) -> bool:
    return True


def _never(table: Table) -> bool:
    return False


def rows_in(batches: Batches, *, before_values: BeforeValues, progress: bool, threads: int = 1) -> Rows:
    """Return the rows of `batches`: held where they are few, by the public shape, else read again in every pass.

    `before_values` is called before any of them is read.
    """
    n, d, passes = batches.n, len(batches.labels), 0
    if n is not None:
        refuse_empty(n=n, d=d)
    if d:
        before_values(batches.labels)
    if n is None:
        n, passes = _counted(batches, progress=progress), 1
        refuse_empty(n=n, d=d)
    rows = StreamedRows(batches, n=n, passes=passes, progress=progress, threads=threads)
    return TableRows(rows.held(), progress=progress, threads=threads) if n * d <= IN_MEMORY else rows


class StreamedRows:
    """All rows of a source, or those at some public indices; see `Rows` for the guarantee.

    A source that has other rows in a later pass is refused when that is seen, at the end of the pass at the latest.
    """

    numbered = ordered = near = True  # by position

    def __init__(
        self,
        batches: Batches,
        *,
        n: int,
        passes: int,
        progress: bool,
        threads: int,
        of: "StreamedRows | None" = None,
        indices: NDArray[np.int64] | None = None,
    ) -> None:
        self._batches = batches
        self._n = n
        self._passes = passes
        self._progress = progress
        self._threads = threads
        self._whole = self if of is None else of
        self._indices = indices

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self._n if self._indices is None else len(self._indices)

    @property
    def d(self) -> int:
        """The public number of columns."""
        return len(self._batches.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self._batches.labels

    @property
    def passes(self) -> int:
        """How many times the source was read through, to count its rows or to pick some of them too."""
        return self._whole._passes

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        threads = room_for(function, self.d, self._threads)
        if adds(function) and threads == 1:
            return self._added_up(function)
        total: Sums | None = None
        for part in self._sums(function, threads):
            total = tuple(sums.copy() for sums in part) if total is None else merge(total, part)
        assert total is not None  # there is no table without rows
        return total

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block, cut by the public shape however they are stored; counts as a pass."""
        step = self._step()
        waiting: list[FloatBlock] = []
        for part in self._parts(step):
            waiting.append(part)
            del part  # or the piece that it is a view of would live on while the next one is read
            if sum(map(len, waiting)) == step:
                block = _joined(waiting)
                waiting.clear()
                yield block
                del block
        if waiting:
            yield _joined(waiting)

    def parts(self) -> Iterator[Part]:
        """Go through all values, of groups of columns without laying them side by side; counts as a pass."""
        begin = 0
        for table, own, count in self._shares(_always):
            groups = groups_in(table)
            if groups is None:
                for first in range(0, count, self._step()):
                    last = min(first + self._step(), count)
                    with np.errstate(all="ignore"):
                        part = table.read(slice(first, last) if own is None else own[first:last])
                    yield begin + first, 0, part
                    del part
            else:
                for row, place, columns in groups():
                    first, last = row, row + len(columns[0])
                    if own is not None:
                        first, last = map(int, np.searchsorted(own, [first, last]))
                        columns = [column[own[first:last] - row] for column in columns]
                    if first < last:
                        yield begin + first, place, float_block(side_by_side(columns))
                    del columns
            begin += count
            del table

    def sample(self, indices: NDArray[np.int64], /) -> Rows:
        """Return the rows at these strictly increasing public indices, picked in one pass unless they are too many."""
        refuse_indices(indices, self.n)
        if self._indices is not None:
            return self._whole.sample(self._indices[indices])
        if len(indices) * self.d <= HELD:
            held = ArrayTable(array=self._picked(indices), labels=self.labels)
            return TableRows(held, threads=self._threads)  # no bar: it is not the source that is read then
        return StreamedRows(
            self._batches,
            n=self._n,
            passes=0,
            progress=self._progress,
            threads=self._threads,
            of=self,
            indices=indices.copy(),
        )

    def held(self) -> ArrayTable:
        """Return all rows in memory, read in one pass."""
        array, seen = np.empty((self.n, self.d)), 0
        for table, _, count in self._shares(_always):
            groups, own = groups_in(table), array[seen : seen + count]
            with np.errstate(all="ignore"):
                if groups is None:
                    for first in range(0, count, self._step()):
                        rows = slice(first, min(first + self._step(), count))
                        own[rows] = table.read(rows)
                else:  # as they come: no window beside the table
                    for row, place, columns in groups():
                        lay_side_by_side(columns, own[row : row + len(columns[0])], place=place)
                        del columns
            seen += count
            del table
        array.flags.writeable = False
        return ArrayTable(array=array, labels=self.labels)

    @np.errstate(all="ignore")
    def _added_up(self, function: AddingFunction) -> Sums:
        total = function(np.empty((0, self.d)))
        all_rows = self._indices is None
        by_columns = column_function(function) if all_rows else None
        as_stored = stored_function(function) if all_rows else None
        looking = looking_function(function) if all_rows else None
        seen: set[np.dtype[Any]] = set()
        for table, own, count in self._shares(_never if looking is None else worth_two_looks):
            if by_columns is not None:
                compile_alike(by_columns, self.d, table, of=self._n * self.d, seen=seen)
            groups = groups_in(table)
            if groups is not None:
                assert looking is not None
                for look in looking.looks(total, count):
                    for part in groups():
                        look(*part)
                        del part
            elif not (
                self._added_by_columns(by_columns, total, table) or self._added_as_stored(as_stored, total, table)
            ):
                self._add(function, total, table, own, count)
            del table
        return total

    def _add(
        self, function: AddingFunction, total: Sums, table: Table, own: NDArray[np.int64] | None, count: int
    ) -> None:
        step = max(1, (COPIED if copied_quickly(table) else sources.VALUES_AT_A_TIME) // self.d)
        for first in range(0, count, step):
            last = min(first + step, count)
            function.add_to(total, table.read(slice(first, last) if own is None else own[first:last]), None)

    def _added_as_stored(self, function: StoredFunction | None, total: Sums, table: Table) -> bool:
        """Add up rows of another type as they are stored; whether function and table have such."""
        read = None if function is None else stored_rows_of(table, of=self._n * self.d)
        if function is None or read is None:
            return False
        for first in range(0, table.n, self._step()):
            function.add_stored(total, read(slice(first, min(first + self._step(), table.n))))
        return True

    def _added_by_columns(self, function: ColumnFunction | None, total: Sums, table: Table) -> bool:
        """Add up columns where they lie, or as they are converted; whether function and table have such."""
        if function is None:
            return False
        values = self._n * self.d
        columns, convert = columns_in(table, of=values), converter_of(table)
        if columns is not None:
            add = partial(function.add_columns, total, columns.values, columns.begins, range(table.n))
            if isinstance(table, ReadThrough):
                table.reader(add)
            else:
                add()
        elif convert is not None:
            step = min(self._step(), table.n)
            room = np.empty((self.d, step))
            for first in range(0, table.n, step):
                last = min(first + step, table.n)
                made = convert(slice(first, last), room)
                function.add_columns(total, made.values, made.begins, range(last - first))
        return columns is not None or convert is not None

    def _sums(self, function: BlockFunction, threads: int) -> Iterator[Sums]:
        """The sums of the blocks: this thread reads, the others add up, and no more blocks are held than threads."""
        if threads == 1:
            for block in self.blocks():
                yield _sums_of(function, block)
            return
        from concurrent.futures import Future, ThreadPoolExecutor  # here, since few ask for threads

        waiting: deque[Future[Sums]] = deque()
        with ThreadPoolExecutor(threads - 1) as others:
            for block in self.blocks():
                waiting.append(others.submit(_sums_of, function, block))
                del block
                if len(waiting) == threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _step(self) -> int:
        return max(1, sources.VALUES_AT_A_TIME // self.d)

    def _parts(self, step: int) -> Iterator[FloatBlock]:
        """Go through the rows; no part reaches over a multiple of `step`, so that parts make whole blocks."""
        done = 0
        for table, own, count in self._shares():
            first = 0
            while first < count:
                last = min(first + step - (done + first) % step, count)
                with np.errstate(all="ignore"):
                    part = table.read(slice(first, last) if own is None else own[first:last])
                if table.n > step and (last == count or isinstance(table, ArrayTable)):
                    part = part.copy()  # so that a large piece can go before the next one is read, whoever keeps blocks
                yield part
                del part
                first = last
            done += count
            del table

    def _shares(self, whole: Callable[[Table], bool] = _never) -> Iterator[tuple[Table, NDArray[np.int64] | None, int]]:
        """Go through the source: which rows of every table are asked for, None for all, and how many."""
        seen = done = 0
        for table in self._tables(whole):
            own, count = None, table.n
            if self._indices is not None:
                own = self._indices[done : np.searchsorted(self._indices, seen + table.n)] - seen
                count = len(own)
            seen, done = seen + table.n, done + count
            yield table, own, count
            del table

    def _picked(self, indices: NDArray[np.int64]) -> FloatBlock:
        held = np.empty((len(indices), self.d))
        seen = done = 0
        for table in self._tables(_always):
            last = int(np.searchsorted(indices, seen + table.n))
            if last > done:
                with np.errstate(all="ignore"):
                    part = table.read(indices[done:last] - seen)
                if len(part) == len(indices):
                    held = part  # a large one is not held twice
                else:
                    held[done:last] = part
                del part
            seen, done = seen + table.n, last
        return held

    def _tables(self, whole: Callable[[Table], bool]) -> Iterator[Table]:
        """Go through the source once, and see to it that it has as many rows as before.

        Tables that do not fit into memory are cut, but for those that are asked for `whole`.
        """
        self._whole._passes += 1
        seen = 0
        with self._bar() as reach:
            for piece, _ in self._batches.pieces():
                if seen + piece.n > self._n:
                    raise _other_rows()
                at_once = column_groups.WHOLE if self._threads == 1 else 0
                for table in [piece] if whole(piece) else in_stretches(piece, whole=at_once):
                    seen += table.n
                    if table.n:
                        yield table
                    del table
                    reach(seen, self._n)
                del piece
        if seen != self._n:
            raise _other_rows()

    def _bar(self) -> AbstractContextManager[Reach]:
        if not self._progress:
            return nullcontext(_nowhere)
        source = "file" if self._batches.size else "batches"
        return bar_of_bytes(f"reading {source}, pass {self.passes}", self._n, self.d)


def _counted(batches: Batches, *, progress: bool) -> int:
    n = read = 0
    if not batches.size:  # nobody knows how many are to come
        with count_of_rows(COUNTING) if progress else nullcontext(_nothing) as add:
            for count, _ in batches.counts():
                n += count
                add(count)
        return n
    with bar_of_hundredths(COUNTING) if progress else nullcontext(_nowhere) as reach:
        for count, size in batches.counts():
            n, read = n + count, read + size
            reach(read, batches.size)
    return n


def _sums_of(function: BlockFunction, block: FloatBlock) -> Sums:
    with np.errstate(all="ignore"):
        return function(block)


def _nowhere(part: int, whole: int) -> None:
    """Show nothing."""


def _nothing(rows: int) -> None:
    """Show nothing."""


def _joined(parts: list[FloatBlock]) -> FloatBlock:
    return parts[0] if len(parts) == 1 else float_block(np.concatenate(parts))


def _other_rows() -> ArgumentError:
    return ArgumentError(
        "data", "has another number of rows than when it was opened or counted; see to it that it stays as it is"
    )
