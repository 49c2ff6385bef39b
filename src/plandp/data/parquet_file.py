"""Parquet files, read piece by piece; only the columns asked for are read."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from plandp.data import batches
from plandp.data.arrow_numbers import refuse_damaged
from plandp.data.arrow_table import ArrowColumns, choose_columns
from plandp.data.batches import Piece
from plandp.data.column_groups import MOST_TOGETHER, ROWS_AT_A_TIME, ColumnGroups
from plandp.data.parquet_footer import LongFooter, long_footer
from plandp.errors import MissingExtra
from plandp.terms.columns import Label

BUFFER = 2**16
"""Bytes that are read ahead of each column: without, the whole of a row group would be held."""

WORTH_A_THREAD = 2**14
"""Rows of a group: to hand over the columns of fewer takes about as long as to read them."""

FEW_VALUES = 2**22
"""A row group of so many values is read whole, in less time than by groups of its columns: the pages of all of them
take 32 MiB, and as many rows of float64 as much."""


def open_parquet(path: Path, columns: Collection[Label] | None) -> "ParquetFile":
    """Return a Parquet file whose schema was accepted; no value is read."""
    footer = long_footer(path)
    with parquet_reader(path, footer and footer.without_groups(path)) as file:
        chosen = choose_columns(file.schema_arrow, columns)
        return ParquetFile(path=path, footer=footer, columns=chosen, n=file.metadata.num_rows, size=path.stat().st_size)


def parquet_reader(path: Path, metadata: Any = None) -> Any:
    """Return pyarrow's reader of the file, or of the row groups in `metadata`; pages with check sums are checked."""
    try:
        from pyarrow import parquet  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading a Parquet file") from None
    return parquet.ParquetFile(
        path, metadata=metadata, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ParquetFile:
    """The rows of a Parquet file, batch by batch, however large its row groups are."""

    path: Path
    footer: LongFooter | None
    columns: ArrowColumns
    n: int
    size: int

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the columns that are read, in order."""
        return self.columns.labels

    def counts(self) -> Iterator[tuple[int, int]]:
        """Return the number of rows, which the file tells."""
        yield self.n, self.size

    def pieces(self) -> Iterator[Piece]:
        """Go through the file."""
        for metadata in [None] if self.footer is None else self.footer.parts(self.path):
            with parquet_reader(self.path, metadata) as file:
                yield from self._pieces_of(file)

    def _pieces_of(self, file: Any) -> Iterator[Piece]:
        import pyarrow

        lengths = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        for few, numbers in groupby(range(len(lengths)), lambda number: self._few(lengths[number])):
            if not few:
                for number in numbers:
                    yield self._wide(file, number, lengths[number]), self._share(lengths[number])
                continue
            for batch in _batches(file, list(numbers), self.columns.names, self._step()):
                yield self.columns.of(pyarrow.Table.from_batches([batch])), self._share(batch.num_rows)

    def _few(self, rows: int) -> bool:
        """Whether all columns of a row group are read together: they are few, or have few values."""
        return not self._many or rows * len(self.columns.names) <= FEW_VALUES

    @property
    def _many(self) -> bool:
        return len(self.columns.names) > MOST_TOGETHER and not any(self.columns.widths)

    def _step(self) -> int:
        """How many rows are read at a time: more than elsewhere, since each column costs something, however short."""
        return max(1, 2 * batches.VALUES_AT_A_TIME // self.columns.unpacked)

    def _wide(self, file: Any, number: int, n: int) -> ColumnGroups:
        read = partial(_batches, file, [number], step=ROWS_AT_A_TIME)
        return ColumnGroups(n=n, labels=self.labels, names=self.columns.names, batches=read)

    def _share(self, rows: int) -> int:
        return self.size * rows // max(1, self.n)


def _batches(file: Any, groups: list[int], names: Sequence[str], step: int) -> Iterator[Any]:
    longest = max(file.metadata.row_group(number).num_rows for number in groups)
    for batch in file.iter_batches(
        batch_size=step, row_groups=groups, columns=list(names), use_threads=longest >= WORTH_A_THREAD
    ):
        refuse_damaged(batch)  # a damaged file can promise more values than it holds
        yield batch
