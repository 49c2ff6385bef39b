"""Arrow tables and record batches as tables of events."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.arrow_numbers import arrow_floats, is_arrow_decimal, is_arrow_number
from plandp.data.event_table import not_a_measure
from plandp.data.id_column import NULL, IdColumn, not_an_id, number_categories, number_cells, number_integers
from plandp.data.labels import offer
from plandp.terms.columns import Label


@dataclass(frozen=True, eq=False, repr=False)
class ArrowEvents:
    """A pyarrow.Table with one row per event."""

    table: Any
    labels: tuple[object, ...]  # of a file, of which only some columns are in the table

    def offer(self, asked: Collection[Label]) -> str:
        """The names of the first columns."""
        return offer(self.labels)

    def refuse_ids(self, label: Label, argument: str) -> None:
        """Refuse a column that is neither of integers or text nor of a dictionary of them."""
        dtype = self.table[label].type
        if not is_arrow_id(dtype):
            raise not_an_id(argument, label, dtype)

    def refuse_values(self, label: Label) -> None:
        """Refuse a column that is not numeric."""
        dtype = self.table[label].type
        if not is_arrow_number(dtype):
            raise not_a_measure(label, dtype)

    def ids(self, label: Label) -> IdColumn:
        """Return a column of integers, text or a dictionary of them as ids."""
        return number_arrow(self.table[label])

    def values(self, label: Label) -> NDArray[np.float64]:
        """Return a numeric column as float64, nulls as NaN."""
        return arrow_floats(self.table[label])


def arrow_events(table: object) -> ArrowEvents | None:
    """Return a Table or RecordBatch as a table of events, None for other objects."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    whole = pyarrow.Table.from_batches([table]) if isinstance(table, pyarrow.RecordBatch) else table
    return ArrowEvents(whole, tuple(whole.column_names)) if isinstance(whole, pyarrow.Table) else None


def as_bytes(table: Any) -> Any:
    """Return the table with its text and decimals as bytes, which may be anything: so it can be checked unread."""
    import pyarrow

    return pyarrow.table([_bytes(column) for column in table.columns], names=table.column_names)


def is_arrow_id(dtype: Any) -> bool:
    """Whether columns of this Arrow type are ids: integers, text, dictionaries of these, and null."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        return is_arrow_id(dtype.value_type)
    return bool(types.is_null(dtype) or types.is_integer(dtype)) or _is_text(dtype)


def number_arrow(column: Any) -> IdColumn:
    """Return an Arrow column as ids; its type is one of these."""
    import pyarrow
    from pyarrow import types

    dtype = column.type
    if types.is_dictionary(dtype):
        return _number_dictionaries(column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column], dtype)
    if types.is_null(dtype):
        return number_cells(column.to_pylist())
    if types.is_integer(dtype):
        return number_integers(column.fill_null(0).to_numpy(), column.is_null().to_numpy(zero_copy_only=False))
    # As bytes: text that is not UTF-8 would raise otherwise, and 64-bit offsets fit columns of any size.
    chunks = column.cast(pyarrow.large_binary()).dictionary_encode()
    whole = chunks.combine_chunks() if isinstance(chunks, pyarrow.ChunkedArray) else chunks
    texts = whole.dictionary
    numbers = whole.indices.fill_null(NULL).to_numpy().astype(np.int64)
    empty = texts.index(b"").as_py()
    return IdColumn(np.where(numbers == empty, NULL, numbers), texts.to_pylist)


def _number_dictionaries(chunks: list[Any], dtype: Any) -> IdColumn:
    """Number the words, never written out: one long word in many events could be more than Arrow can hold."""
    import pyarrow

    dictionaries: list[Any] = []
    places = [np.empty(0, dtype=np.int64)]
    first = end = 0  # of the words of the last dictionary, among those of all
    for chunk in chunks:
        if not dictionaries or not chunk.dictionary.equals(dictionaries[-1]):
            dictionaries.append(chunk.dictionary)
            first, end = end, end + len(chunk.dictionary)
        place = chunk.indices.cast(pyarrow.int64(), safe=False).fill_null(NULL).to_numpy()
        places.append(np.where((place >= 0) & (place < end - first), place + first, NULL))
    words = number_arrow(pyarrow.chunked_array(dictionaries, dtype.value_type))
    return number_categories(np.concatenate(places), words)


def _is_text(dtype: object) -> bool:
    from pyarrow import types

    return bool(types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype))


def _bytes(column: Any) -> Any:
    import pyarrow
    from pyarrow import types

    if _is_text(column.type):
        return column.cast(pyarrow.large_binary())
    if is_arrow_decimal(column.type):
        kind = pyarrow.binary(column.type.byte_width)
        return pyarrow.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)
    if not (types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return column
    kind = pyarrow.dictionary(column.type.index_type, pyarrow.large_binary())
    chunks = [
        pyarrow.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pyarrow.large_binary()), safe=False)
        for chunk in column.chunks
    ]
    return pyarrow.chunked_array(chunks, kind)
