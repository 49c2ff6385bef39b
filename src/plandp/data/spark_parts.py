"""Parts in the Python workers of Spark: rows come as Arrow batches, sums leave as one small record per partition."""

import pickle
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.arrow_rows import list_rows, vector_rows
from plandp.data.engine_rows import undisclosed
from plandp.data.own_copy import for_same_copy
from plandp.data.worker import Part, PartFunction, PartSums, brought, fold_parts, merge_parts, without_cells
from plandp.errors import ArgumentError
from plandp.terms.columns import Label

LOGGERS = "DataFrameQueryContextLogger", "SQLQueryContextLogger"
"""Python's loggers of PySpark, to which it tells errors of the engine."""

_QUIET: ContextVar[bool] = ContextVar("plandp asks Spark", default=False)

MERGED_AT_ONCE, FEWEST_MERGED = 16, 4
"""So many sums are merged at once, in a worker or by the driver, so that few of them meet anywhere; so few in a worker
however large they are, since every round of merges takes time."""

BROUGHT = 2**26
"""So many bytes of sums come to the driver, unless one has more: Spark gives it 1 GB, and where that is not enough it
may bring nothing, and no error."""

VALUES_PER_PART = 2**20
"""A sample is held in parts of at least so many values: small ones would cost more than reading them."""

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "void")

ROWS, NUMBER, SUMS, PLACE, LAST = "rows", "number", "sums", "place", "last"
_SCHEMA = f"{SUMS} binary, {PLACE} int, {LAST} int"


class Partitions:
    """How many partitions a frame has: about, and at most, until a fold has seen them.

    Who counts rows need not see as many as who reads them: of a shuffle Spark joins those that are small in what is
    asked for, and has no more than is set, but for a few that are split since they are very large.
    """

    def __init__(self, about: int, *, most: int) -> None:
        self.about, self.most = about, most

    def see(self, count: int) -> None:
        """Know that there are so many."""
        self.about = self.most = count

    def merges(self, size: int) -> Iterator[int]:
        """Into how many groups sums of so many bytes are merged in the workers, again and again, before the driver."""
        left = self.about if self.most * size <= BROUGHT else self.most
        together = max(1, min(MERGED_AT_ONCE, BROUGHT // max(1, size)))
        while left > together:
            left = -(-left // max(FEWEST_MERGED, together))
            yield left


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparkParts:
    """A frame of one column of arrays or vectors, and one of row numbers where rows have them."""

    frame: Any  # pyspark.sql.DataFrame
    labels: tuple[Label, ...]
    width: int  # of the arrays
    positions: tuple[int, ...] | None = None  # of the labels in them; None: all
    partitions: Partitions  # they decide how sums are merged, never what they are

    engine = "Spark"

    def fold(self, function: PartFunction) -> PartSums:
        """Return the sums over all parts: Spark takes one result of every task, however often it was tried."""
        part, size = self._part, function.size(len(self.labels))
        return fold_batches(self.frame, lambda batch: function(part(batch)), self.partitions, size=size)

    def picked(self, numbers: NDArray[np.int64]) -> "SparkParts":
        """Return the rows of these numbers, cached by the executors until nobody asks for them any more."""
        part, d = self._part, len(self.labels)
        kept = max(1, min(self.partitions.about, len(numbers) * d // VALUES_PER_PART))

        def pick(batches: Iterable[Any]) -> Iterator[Any]:
            return (_picked(part, batch, numbers) for batch in brought(batches))

        with quiet():
            found = map_batches(self.frame, pick, f"{ROWS} array<double>, {NUMBER} double")
            held = found.repartition(kept, NUMBER).persist()
        parts = SparkParts(frame=held, labels=self.labels, width=d, partitions=Partitions(kept, most=kept))
        forgotten_with(parts, held)
        return parts

    @property
    def _part(self) -> Callable[[Any], Part]:
        """What makes a part of a batch: it goes to the workers, and the frame does not."""
        return partial(_part, labels=self.labels, width=self.width, positions=self.positions)


def map_batches(frame: Any, function: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """Return a frame behind a function of its batches: all of plandp's go through here, for workers of this source."""
    task = for_same_copy(function)

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        return task(batches)

    return frame.mapInArrow(run, schema)


def fold_batches(frame: Any, function: Callable[[Any], Any], partitions: Partitions, *, size: int = 0) -> PartSums:
    """Return the sums of a function of Arrow batches over all of a frame, merged in the workers as far as it pays.

    They have so many bytes, if that is known.
    """

    def fold(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        place = 0 if context is None else context.partitionId()
        yield from _sums_batch(fold_parts(function, batches), place, last=place)

    with quiet():
        found = map_batches(frame, fold, _SCHEMA)
        for groups in partitions.merges(size):
            found = _merged(found, groups)
        rows = found.collect()
    partitions.see(1 + max((row[LAST] for row in rows), default=0))
    return merge_parts(pickle.loads(row[SUMS]) for row in rows)


def _merged(found: Any, groups: int) -> Any:
    """Return a frame of the sums of so many groups, which are of one size.

    They go by place, not round robin: a task that is tried again must bring its sums to the same merge.  A task may
    have several groups, as places are hashed, and holds one at a time.
    """
    from pyspark.sql import functions

    task = for_same_copy(_merge)

    def run(group: Any) -> Any:
        return task(group)

    placed = found.withColumn(PLACE, functions.col(PLACE) % groups)
    return placed.repartition(groups, PLACE).groupBy(PLACE).applyInArrow(run, _SCHEMA)


def _merge(group: Any) -> Any:
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    sums = merge_parts(pickle.loads(cell.as_buffer()) for cell in group.column(SUMS))
    last = max(group.column(LAST).to_pylist())
    return pyarrow.Table.from_batches(_sums_batch(sums, group.column(PLACE)[0].as_py(), last=last))


def _sums_batch(sums: PartSums, place: int, *, last: int) -> Iterator[Any]:
    import pyarrow

    if sums is None:  # written, it would be a success: what had no memory once would never be tried again
        raise RuntimeError("a part of the data could not be added up")
    if sums:  # a partition without rows has none
        written = pyarrow.array([pickle.dumps(sums, protocol=5)], pyarrow.binary())
        places = (pyarrow.array([each], pyarrow.int32()) for each in (place, last))
        yield pyarrow.RecordBatch.from_arrays([written, *places], names=[SUMS, PLACE, LAST])


def _part(batch: Any, *, labels: tuple[Label, ...], width: int, positions: tuple[int, ...] | None) -> Part:
    from pyarrow import types

    rows = batch.column(ROWS)
    values = vector_rows(rows, width) if types.is_struct(rows.type) else list_rows(rows, width)
    column = None
    if NUMBER in batch.schema.names:
        numbers = batch.column(NUMBER).to_numpy(zero_copy_only=False).astype(np.float64)
        column = ArrayTable(array=numbers[:, np.newaxis], labels=(0,))
    return Part(table=ArrayTable(array=values, labels=labels, positions=positions), column=column)


def _picked(part: Callable[[Any], Part], batch: Any, numbers: NDArray[np.int64]) -> Any:
    return without_cells(lambda: _batch(part(batch).picked(numbers)))


def _batch(part: Part) -> Any:
    import pyarrow

    assert part.column is not None  # rows that were picked have numbers
    every = slice(0, part.table.n)
    values, numbers = part.table.read(every), part.column.read(every)[:, 0]
    ends = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    rows = pyarrow.ListArray.from_arrays(pyarrow.array(ends), pyarrow.array(values.ravel()))
    return pyarrow.RecordBatch.from_arrays([rows, pyarrow.array(numbers)], names=[ROWS, NUMBER])


@dataclass(frozen=True, kw_only=True)
class FrameShape:
    """How many rows and partitions a frame has."""

    rows: int
    partitions: Partitions


def count_rows(frame: Any) -> FrameShape:
    """Return the shape of a frame: a pass over it."""
    from pyspark.sql import functions

    with quiet():
        asked = frame.select(functions.spark_partition_id().alias(PLACE))
        rows, last = asked.agg(functions.count(functions.lit(1)), functions.max(PLACE)).collect()[0]
        set_to = frame.sparkSession.conf.get("spark.sql.shuffle.partitions")
    about = (last or 0) + 1
    shuffled = int(set_to) if set_to.isdigit() else 0  # who runs Spark for others may have it find out
    return FrameShape(rows=rows, partitions=Partitions(about, most=max(about, shuffled)))


def is_spark_frame(data: object) -> bool:
    """Whether this object of Spark is a DataFrame."""
    # asked of its class: a Column has every attribute, each another Column
    return all(hasattr(type(data), name) for name in ("mapInArrow", "schema", "persist"))


def refuse_ambiguous(frame: Any, labels: Iterable[Label], *, argument: str = "data") -> None:
    """Refuse columns that Spark cannot tell from others, since it does not look at capitals unless told to."""
    names = [str(label) for label in frame.schema.names]
    told = undisclosed("Spark", lambda: frame.sparkSession.conf.get("spark.sql.caseSensitive"), argument=argument)
    if told == "true":
        return
    for label in labels:
        alike = [name for name in names if name.lower() == str(label).lower()]
        if len(alike) > 1:
            raise ArgumentError(
                argument,
                f"the columns {alike[0]!r} and {alike[1]!r} are one to Spark, which does not tell capitals from small "
                "letters; rename one of them, or set spark.sql.caseSensitive to true",
            )


def is_spark_number(dtype: str) -> bool:
    """Whether columns of this type, by its name, are read: each of their values has one nearest double."""
    return dtype in _NUMBERS or dtype.startswith("decimal(")


def spark_column(label: Label) -> Any:
    """Return the column of this name, whatever letters the name has."""
    from pyspark.sql import functions

    name = str(label).replace("`", "``")
    return functions.col(f"`{name}`")


def forgotten_with(owner: object, frame: Any) -> None:
    """Let the executors forget a frame when nobody holds its owner any more."""
    weakref.finalize(owner, _forget, frame).atexit = False


def _forget(frame: Any) -> None:
    with quiet():
        frame.unpersist()


@contextmanager
def quiet() -> Iterator[None]:
    """Let Spark not warn of the version of pandas, which is not used here, nor log in this process what fails.

    What fails may be a cell that cannot be cast, and the text of that error holds it.
    """
    from pyspark.logger import PySparkLogger

    for name in LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_unless_quiet)  # once, however often it is added
    before = _QUIET.set(True)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
            yield
    finally:
        _QUIET.reset(before)


def _unless_quiet(_: object) -> bool:
    return not _QUIET.get()
