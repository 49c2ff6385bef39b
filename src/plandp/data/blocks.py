"""The fold over a table in memory: cut it by its public shape, add up the sums of its blocks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.chosen_rows import ChosenRows
from plandp.data.progress_bar import bar_of_rows
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
    stored_function,
)
from plandp.data.side_by_side import ColumnsInMemory, converted, worth_a_loop
from plandp.data.table import ColumnTable, ReadThrough, Table
from plandp.terms.columns import Label

VALUES_PER_BLOCK = 2**22
"""About how many values are read at a time (32 MiB of float64); more, and merging sums costs less than adding up."""

COPIED = 2**17
"""As many (1 MiB) of a table that is copied to be read, and quickly so: the copy stays in cache."""

CONVERTED = 2**20
"""So many (8 MiB) of columns that are converted, each by a call of its own, to be added up where they lie then."""

OTHERS = 2**25
"""A table of so many values of another type than float64 is worth compiling loops for that type; smaller ones are
converted."""

OF_COLUMNS = 8
"""So many times more of columns that are added up where they lie, since nothing is held of them."""

ROUNDS = 4
"""Threads get so many blocks each, or more."""

SHARED = 2**21
"""About so many values (16 MiB) are worth a thread: with fewer it takes longer to begin than it saves."""

SUMS = 2**28
"""So many bytes of sums are held by all threads together, or there are fewer threads."""

HELD = 6
"""A sample of up to a sixth of the rows is copied and held, which is faster; a larger one would take much memory."""

IN_CACHE = 2**20
"""Of rows that can be read where they lie, so many values (8 MiB) at most: more are read as fast from there."""


class TableRows:
    """The rows of one table in memory; see `Rows` for the guarantee."""

    def __init__(self, table: Table, *, progress: bool = False, threads: int = 1, name: str = "rows") -> None:
        self._table = table
        self._progress = progress
        self._threads = threads
        self._name = name  # on bars
        self._passes = 0

    @property
    def table(self) -> Table:
        """The table itself."""
        return self._table

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self._table.n

    @property
    def d(self) -> int:
        """The public number of columns."""
        return len(self._table.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self._table.labels

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self._passes

    numbered = ordered = near = True  # by position

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        self._passes += 1
        values = VALUES_PER_BLOCK
        run: _Run = partial(self._merged, function)
        directly = self._by_columns(function) or self._as_stored(function)
        if directly is not None:
            values, run = directly
        elif adds(function):
            in_place = _chosen_from(self._table) is not None  # few calls, so that threads do not wait for each other
            values, run = values if in_place else self._at_a_time(), partial(self._added_up, function)
        threads = room_for(function, self.d, max(1, min(self._threads, self.n * self.d // SHARED)))
        starts, step = self._cut(values, threads)
        threads = min(threads, len(starts))
        total = run(self._shown(starts, step), step) if threads == 1 else self._shared_out(run, starts, step, threads)
        assert total is not None  # there is no table without rows
        return total

    def _by_columns(self, function: BlockFunction) -> "tuple[int, _Run] | None":
        """How to add up columns, and so many values at a time, where function and table can; None elsewhere."""
        by_columns, values = column_function(function), self.n * self.d
        if by_columns is None:
            return None
        compile_alike(by_columns, self.d, self._table, of=values, seen=set())
        columns, convert = columns_in(self._table, of=values), converter_of(self._table)
        if columns is not None:
            return OF_COLUMNS * VALUES_PER_BLOCK, partial(self._columns_added_up, by_columns, columns)
        if convert is not None:
            return min(CONVERTED, VALUES_PER_BLOCK), partial(self._converted_added_up, by_columns, convert)
        return None

    def _as_stored(self, function: BlockFunction) -> "tuple[int, _Run] | None":
        """How to add up rows of another type as they are stored, and so many values at a time; None elsewhere."""
        as_stored, read = stored_function(function), stored_rows_of(self._table, of=self.n * self.d)
        if as_stored is None or read is None:
            return None
        return VALUES_PER_BLOCK, partial(self._stored_added_up, as_stored, read)

    def _shared_out(self, run: "_Run", starts: range, step: int, threads: int) -> Sums | None:
        """Whoever is done with a block takes the next, so that nobody waits for a slower one."""
        from plandp.data.side_thread import SideThread  # here, since few ask for threads

        waiting = deque(starts)
        others: list[SideThread[Sums | None]] = []
        try:
            with suppress(RuntimeError):  # where the system has no more threads to give, fewer do the same
                for _ in range(threads - 1):
                    others.append(SideThread(partial(run, _taken(waiting), step)))
            total = run(self._shown(_taken(waiting), step), step)
        finally:
            waiting.clear()  # where this thread was stopped, the others are soon
            parts = [other.result() for other in others]
        for found in parts:
            total = found if total is None else total if found is None else merge(total, found)
        return total

    @np.errstate(all="ignore")
    def _added_up(self, function: AddingFunction, starts: Iterable[int], step: int) -> Sums:
        total = function(self._table.read(slice(0, 0)))
        array = _chosen_from(self._table)
        for start in starts:
            if array is None:
                function.add_to(total, self._read(start, step), None)
            else:
                table, indices = array
                function.add_to(total, table, indices[start : start + step])
        return total

    @np.errstate(all="ignore")
    def _columns_added_up(
        self, function: ColumnFunction, columns: ColumnsInMemory, starts: Iterable[int], step: int
    ) -> Sums:
        total = function(self._table.read(slice(0, 0)))
        for start in starts:
            function.add_columns(total, columns.values, columns.begins, range(start, min(start + step, self.n)))
        return total

    @np.errstate(all="ignore")
    def _stored_added_up(
        self, function: StoredFunction, read: "StoredReader", starts: Iterable[int], step: int
    ) -> Sums:
        total = function(self._table.read(slice(0, 0)))
        for start in starts:
            function.add_stored(total, read(slice(start, min(start + step, self.n))))
        return total

    @np.errstate(all="ignore")
    def _converted_added_up(
        self, function: ColumnFunction, convert: "Converter", starts: Iterable[int], step: int
    ) -> Sums:
        total, room = function(self._table.read(slice(0, 0))), np.empty((self.d, step))
        for start in starts:
            rows = slice(start, min(start + step, self.n))
            columns = convert(rows, room)
            function.add_columns(total, columns.values, columns.begins, range(rows.stop - rows.start))
        return total

    @np.errstate(all="ignore")
    def _merged(self, function: BlockFunction, starts: Iterable[int], step: int) -> Sums | None:
        total: Sums | None = None
        for start in starts:
            part = function(self._read(start, step))
            total = tuple(sums.copy() for sums in part) if total is None else merge(total, part)
        return total

    def blocks(self) -> Iterator[FloatBlock]:
        """Return all rows, block by block, for what is not a sum; counts as a pass."""
        self._passes += 1
        starts, step = self._cut(self._at_a_time(), 1)
        for start in self._shown(starts, step):
            with np.errstate(all="ignore"):
                block = self._read(start, step)
            yield block

    def in_place(self) -> tuple[FloatBlock, NDArray[np.int64]] | None:
        """Return an array and which of its rows these are, where it need not be copied; counts as a pass then."""
        found = _chosen_from(self._table)
        self._passes += found is not None
        return found

    def sample(self, indices: NDArray[np.int64], /) -> "TableRows":
        """Return the rows at these strictly increasing public indices; a small part of them is held in memory."""
        refuse_indices(indices, self.n)
        chosen: Table = _chosen(self._table, indices)
        values = len(indices) * self.d
        # without a compiler chosen rows are copied whenever they are read
        stays = values > IN_CACHE and _chosen_from(chosen) is not None and worth_a_loop(values)
        if HELD * len(indices) <= self.n and not stays:
            with np.errstate(all="ignore"):
                chosen = ArrayTable(array=self._table.read(indices), labels=self.labels)
        return TableRows(chosen, progress=self._progress, threads=self._threads, name="sample")

    def _at_a_time(self) -> int:
        return min(COPIED, VALUES_PER_BLOCK) if copied_quickly(self._table) else VALUES_PER_BLOCK

    def _cut(self, values: int, threads: int) -> tuple[range, int]:
        """Return where blocks of about so many values begin, and how many rows each has; several for every thread."""
        step = max(1, values // self.d)
        if threads > 1:
            rounds = max(-(-self.n // (step * threads)), ROUNDS)
            step = -(-self.n // (rounds * threads))
        return range(0, self.n, step), step

    def _read(self, start: int, step: int) -> FloatBlock:
        return self._table.read(slice(start, min(start + step, self.n)))

    def _shown(self, starts: Iterable[int], step: int) -> Iterator[int]:
        """The same, with a progress bar where one is asked for: of several threads the first moves it."""
        if not self._progress:
            yield from starts
            return
        # in steps of its own: how many blocks there are may follow from nulls
        with bar_of_rows(f"reading {self._name}, pass {self._passes}", self.n) as reach:
            for start in starts:
                yield start
                reach(start + step, self.n)


def room_for(function: BlockFunction, d: int, threads: int) -> int:
    """As many of the threads as there is room for sums of their own, by the public number of columns."""
    inner = function
    while hasattr(inner, "function"):  # it hands over a part of each block, as where a column has row numbers
        inner = inner.function
    if threads == 1 or not adds(inner):
        return threads
    rows = 0 if inner is function else 1  # what cuts blocks makes no sums of no row
    size = sum(sums.nbytes for sums in function(np.zeros((rows, d))))
    return max(1, min(threads, SUMS // max(1, size)))


def blocks_in_place(rows: Rows) -> Iterator[tuple[FloatBlock, NDArray[np.int64] | None]]:
    """Return all rows as `blocks` does, or those of the block that are chosen, which are not copied then."""
    lying = rows.in_place() if isinstance(rows, TableRows) else None
    if lying is not None:
        yield lying
        return
    for block in rows.blocks():
        yield block, None


_Run = Callable[[Iterable[int], int], Sums | None]
"""Adds up the blocks that begin at these rows, each of so many; None where there are none."""


def _taken(waiting: deque[int]) -> Iterator[int]:
    """Take one after the other, as long as other threads leave any: `popleft` is one step for all of them."""
    while True:
        try:
            start = waiting.popleft()
        except IndexError:
            return
        yield start


def _chosen(table: Table, indices: NDArray[np.int64]) -> ChosenRows:
    """These rows of the table; of rows that are chosen already, those of the table they are chosen from."""
    if isinstance(table, ChosenRows):
        return ChosenRows(table=table.table, indices=table.indices[indices])
    return ChosenRows(table=table, indices=indices.copy())


def _chosen_from(table: Table) -> tuple[FloatBlock, NDArray[np.int64]] | None:
    """The array that rows are chosen from, and which, where they can be read where they lie."""
    if isinstance(table, ChosenRows) and isinstance(table.table, ArrayTable) and table.table.lies_in_order:
        return table.table.read(slice(0, table.table.n)), table.indices
    return None


def copied_quickly(table: Table) -> bool:
    """Whether reading rows copies them, and a few of them as quickly as many: some containers take long to begin."""
    if isinstance(table, ChosenRows | ReadThrough):
        chosen_from_array = isinstance(table, ChosenRows) and isinstance(table.table, ArrayTable)
        return chosen_from_array or copied_quickly(table.table)
    if isinstance(table, ArrayTable):
        return not table.lies_in_order
    from plandp.data.stored_columns import StoredColumns  # here, since arrays do not need it

    return isinstance(table, StoredColumns) or columns_in(table) is not None


def columns_in(table: Table, *, of: int = 0) -> ColumnsInMemory | None:
    """The columns of a table that can be read where they lie, one after the other; the table is of so many values.

    Only those that are float64, unless there are very many.
    """
    columns = _lying_columns(table)
    return columns if columns is not None and (columns.plain or of >= OTHERS) else None


def _lying_columns(table: Table) -> ColumnsInMemory | None:
    if isinstance(table, ReadThrough) and table.watches:
        columns: ColumnsInMemory | None = table.reader(partial(_lying_columns, table.table))  # it may be read now
        return columns
    if isinstance(table, ArrayTable):
        return None if table.lies_in_order else table.columns
    if isinstance(table, ChosenRows):
        return None
    from plandp.data.arrow_table import ArrowTable  # here, since arrays need none of them
    from plandp.data.pandas_frame import PandasTable
    from plandp.data.stored_columns import StoredColumns

    if isinstance(table, ArrowTable):
        return table.in_memory
    return table.columns if isinstance(table, PandasTable | StoredColumns) else None


def compile_alike(function: ColumnFunction, d: int, table: Table, *, of: int, seen: set[np.dtype[Any]]) -> None:
    """Have all loops compiled that a table could be read by: nobody is to see whether it has nulls.

    Once for every type of numbers, in `seen`.
    """
    kind = _arrow_type(table) if of >= OTHERS else None
    if kind is None or kind in seen:
        return
    seen.add(kind)
    sums, begins = function(np.empty((0, d))), np.zeros(d, np.int64)
    for own in (kind, np.dtype(np.float64)):
        function.add_columns(sums, _nothing(own, 0), begins, range(0))
    function.add_to(sums, _nothing(np.dtype(np.float64), 0, d), None)  # by which a last few rows are read


def _nothing(kind: np.dtype[Any], *shape: int) -> NDArray[Any]:
    nothing = np.empty(shape, kind)
    nothing.flags.writeable = False  # of which there is machine code of its own
    return nothing


def _arrow_type(table: Table) -> np.dtype[Any] | None:
    """The public type of all numbers of columns that could have nulls, if it is one."""
    from plandp.data.arrow_table import ArrowTable  # here, since arrays need neither
    from plandp.data.stored_columns import StoredColumns

    own = table.table if isinstance(table, ReadThrough) else table
    return own.kind if isinstance(own, ArrowTable | StoredColumns) else None


StoredReader = Callable[[slice], NDArray[Any]]
"""Returns some rows as they are stored, in order."""


def stored_rows_of(table: Table, *, of: int) -> StoredReader | None:
    """How to read rows of another type than float64 as they are stored, where they are many, by so many values."""
    if of < OTHERS:
        return None
    if isinstance(table, ReadThrough):
        read = stored_rows_of(table.table, of=of)
        if read is None or not table.watches:  # then it may be read as it is: nothing of it is kept
            return read
        return lambda rows: table.reader(partial(read, rows))
    if isinstance(table, ArrayTable):
        stored = None if table.lies_in_order else table.stored
        return None if stored is None else stored.__getitem__
    from plandp.data.npy_file import NpyRows  # here, since few tables are files

    return table.stored if isinstance(table, NpyRows) and table.whole.in_order else None


Converter = Callable[[slice, NDArray[np.float64]], ColumnsInMemory]
"""Converts some rows of columns to float64, in room for every column."""


def converter_of(table: Table) -> Converter | None:
    """How to convert some rows of columns to float64, where they are added up without being laid side by side."""
    if isinstance(table, ReadThrough):
        convert = converter_of(table.table)
        if convert is None or not table.watches:  # then it may be read as it is: nothing of it is kept
            return convert
        return lambda rows, room: table.reader(partial(convert, rows, room))
    # asked of every piece of a file, and whether a table is of a protocol takes as long as to read a page
    if getattr(table, "converts", False) and worth_a_loop(table.n * len(table.labels)):
        return partial(converted, cast(ColumnTable, table))
    return None


def merge(left: Sums, right: Sums) -> Sums:
    """Add `right` to `left` in place, and return it."""
    for total, part in zip(left, right, strict=True):
        np.add(total, part, out=total)
    return left
