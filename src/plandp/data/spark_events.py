"""Spark DataFrames as tables of events: grouped by person on the executors, where the rows stay."""

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_events import number_arrow
from plandp.data.arrow_numbers import arrow_floats
from plandp.data.engine_rows import undisclosed, unreadable
from plandp.data.event_ids import HASH_BYTES, public_hash
from plandp.data.event_table import not_a_measure
from plandp.data.id_column import NULL, not_an_id, places_of
from plandp.data.labels import offer
from plandp.data.person_rows import PersonRows, group_events
from plandp.data.rows import Sums
from plandp.data.spark_items import SparkItems
from plandp.data.spark_parts import (
    count_rows,
    fold_batches,
    forgotten_with,
    is_spark_frame,
    is_spark_number,
    map_batches,
    quiet,
    refuse_ambiguous,
    spark_column,
)
from plandp.data.spark_workers import refuse_workers
from plandp.data.sparse_rows import SparseBlock
from plandp.data.worker import brought, without_cells
from plandp.terms.columns import Label

IntArray = NDArray[np.int64]

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_PERSON, _ITEM, _VALUE, _HASH, _ROWS = "person", "item", "value", "hash", "rows"
_TABLE = "table"  # the argument that a frame of events is passed as
_DIGIT = 2  # bytes of a hash that are looked at in one round


@dataclass(frozen=True, eq=False, repr=False)
class SparkEvents:
    """A DataFrame with one row per event."""

    frame: Any

    @property
    def labels(self) -> tuple[object, ...]:
        """The names of all columns."""
        return tuple(self.frame.columns)

    def offer(self, asked: Collection[Label]) -> str:
        """The names of the first columns."""
        return offer(self.labels)

    def refuse_ids(self, label: Label, argument: str) -> None:
        """Refuse a column that is neither of integers nor of text."""
        name = self._type(label)
        if name not in (*_INTEGERS, "void") and not _is_text(name):
            raise not_an_id(argument, label, name)
        refuse_ambiguous(self.frame, [label], argument=_TABLE)
        refuse_workers(self.frame, argument=_TABLE)

    def refuse_values(self, label: Label) -> None:
        """Refuse a column that is not numeric."""
        if not is_spark_number(self._type(label)):
            raise not_a_measure(label, self._type(label))
        refuse_ambiguous(self.frame, [label], argument=_TABLE)

    def rows(
        self,
        *,
        person: Label,
        item: Label,
        measure: Label | None,
        places: Mapping[bytes, int],
        labels: tuple[Label, ...],
        n: int,
        count: bool,
    ) -> SparkItems:
        """Return one row per person, as `open_events` promises it: the same rows as those of a table in memory.

        All events of a person are brought to one worker by the engine, and the rows are cached there.
        """
        chosen = {_PERSON: self._id(person), _ITEM: self._id(item)}
        if measure is not None:
            chosen[_VALUE] = spark_column(measure).cast("double")
        with quiet():
            events = self.frame.select(*(column.alias(name) for name, column in chosen.items()))
        last = undisclosed("Spark", lambda: _last_kept(events, n), argument=_TABLE)
        task = partial(_grouped, places=dict(places), d=len(labels), count=count, last=last)

        def group(batches: Iterable[Any]) -> Iterator[Any]:
            whole = list(brought(batches))
            if whole:
                yield without_cells(lambda: task(whole))

        with quiet():
            held = map_batches(events.repartition(_PERSON), group, f"{_ROWS} binary").persist()
        partitions = undisclosed("Spark", lambda: count_rows(held), argument=_TABLE).partitions
        rows = SparkItems(
            held,
            _blocks,
            n=n,
            labels=labels,
            partitions=partitions,
            passes=2,
            held=True,
            filled=None,
            argument=_TABLE,
        )
        forgotten_with(rows, held)
        return rows

    def _type(self, label: Label) -> str:
        name: str = self.frame.schema[str(label)].dataType.simpleString()
        return name

    def _id(self, label: Label) -> Any:
        """The canonical id as bytes, which no collation can make equal: of integers their decimal text."""
        return spark_column(label).cast("string").cast("binary")


def spark_events(table: object) -> SparkEvents | None:
    """Return a DataFrame as a table of events, None for other objects of Spark."""
    return SparkEvents(table) if is_spark_frame(table) else None


def _is_text(name: str) -> bool:
    return name.startswith(("string", "char(", "varchar("))  # with a collation, it is named behind


def _last_kept(events: Any, people: int) -> bytes | None:
    """Return the hash of the last of the `people` who come first in the public order, None if there are no more.

    Digit by digit, from counts of the ids by their next one: the ids themselves stay with the executors.
    """
    from pyspark.sql import functions

    def hashes(batches: Iterable[Any]) -> Iterator[Any]:
        return (without_cells(partial(_hashes, batch)) for batch in brought(batches))

    with quiet():
        ids = events.where(functions.length(_PERSON) > 0).select(_PERSON).distinct()
        held = map_batches(ids, hashes, f"{_HASH} binary").persist()
    try:
        partitions = count_rows(held).partitions

        def counts(known: bytes) -> IntArray:
            sums = fold_batches(held, HashDigits(known=known), partitions)
            if sums is None:
                raise unreadable("Spark", argument=_TABLE)
            return np.asarray(sums[0]) if sums else np.zeros(1, np.int64)

        return last_hash(counts, people)
    finally:
        with quiet():
            held.unpersist()


def last_hash(counts: Callable[[bytes], IntArray], people: int) -> bytes | None:
    """Return a hash up to which there are `people` hashes, None if there are no more; they must differ.

    `counts` says how many of the hashes that begin in a certain way go on with each digit.
    """
    known, wanted = b"", people
    while len(known) < HASH_BYTES:
        up_to = np.cumsum(counts(known))
        if not known and up_to[-1] <= people:
            return None
        digit = int(np.searchsorted(up_to, wanted))
        known += digit.to_bytes(_DIGIT, "big")
        if up_to[digit] == wanted:
            break
        wanted -= int(up_to[digit - 1]) if digit else 0
    return known.ljust(HASH_BYTES, b"\xff")


@dataclass(frozen=True, kw_only=True)
class HashDigits:
    """Function of an Arrow batch: how many of the hashes that begin as is known go on with each digit."""

    known: bytes

    def __call__(self, batch: Any, /) -> Sums:
        """Count the hashes of the batch."""
        written = b"".join(batch.column(_HASH).to_pylist())
        hashes = np.frombuffer(written, np.uint8).reshape(-1, HASH_BYTES)
        place = len(self.known)
        own = hashes[np.all(hashes[:, :place] == np.frombuffer(self.known, np.uint8), axis=1)]
        digits = own[:, place].astype(np.int64) * 256 + own[:, place + 1]
        return (np.bincount(digits, minlength=256**_DIGIT),)


def _hashes(batch: Any) -> Any:
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    found = [public_hash(text) for text in batch.column(_PERSON).to_pylist()]
    return pyarrow.RecordBatch.from_arrays([pyarrow.array(found, pyarrow.binary())], names=[_HASH])


def _grouped(batches: Sequence[Any], *, places: Mapping[bytes, int], d: int, count: bool, last: bytes | None) -> Any:
    """Return the rows of a worker's people as one record."""
    import pyarrow

    rows = _person_rows(pyarrow.Table.from_batches(batches), places, d=d, count=count, last=last)
    written = pyarrow.array([pickle.dumps(rows, protocol=5)], pyarrow.binary())
    return pyarrow.RecordBatch.from_arrays([written], names=[_ROWS])


def _person_rows(events: Any, places: Mapping[bytes, int], *, d: int, count: bool, last: bytes | None) -> PersonRows:
    person = number_arrow(events[_PERSON])
    numbers = person.numbers
    if last is not None:
        kept = np.array(
            [public_hash(text) <= last for text in person.ids()] + [False]
        )  # the last place is that of null
        numbers = np.where(kept[numbers], numbers, NULL)
    values = arrow_floats(events[_VALUE]) if _VALUE in events.column_names else None
    found = places_of(number_arrow(events[_ITEM]), places)
    rows = group_events(numbers, found, values, n=0, d=d, count=count)
    return replace(rows, n=len(rows.begin) - 1)


def _blocks(batch: Any) -> Iterator[SparseBlock]:
    for written in batch.column(_ROWS).to_pylist():
        rows: PersonRows = pickle.loads(written)
        yield from rows.blocks()
