"""Parquet files, read piece by piece; only the columns asked for are read."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from plandp.data import batches
from plandp.data.arrow_numbers import refuse_damaged
from plandp.data.arrow_table import ArrowColumns, choose_columns
from plandp.data.batches import Piece
from plandp.data.column_groups import MOST_TOGETHER, ROWS_AT_A_TIME, ColumnGroups, windows
from plandp.errors import MissingExtra
from plandp.terms.columns import Label

BUFFER = 2**16
"""Bytes that are read ahead of each column: without, the whole of a row group would be held."""


def open_parquet(path: Path, columns: Collection[Label] | None) -> "ParquetFile":
    """Return a Parquet file whose schema was accepted; no value is read."""
    with parquet_reader(path) as file:
        chosen = choose_columns(file.schema_arrow, columns)
        return ParquetFile(path=path, columns=chosen, n=file.metadata.num_rows, size=path.stat().st_size)


def parquet_reader(path: Path) -> Any:
    """Return pyarrow's reader of the file, to be closed; pages with check sums are checked."""
    try:
        from pyarrow import parquet  # type: ignore[import-untyped]  # pyarrow ships no types
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "reading a Parquet file") from None
    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ParquetFile:
    """The rows of a Parquet file, batch by batch, however large its row groups are."""

    path: Path
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

    def pieces(self, *, picked: bool) -> Iterator[Piece]:
        """Go through the file."""
        import pyarrow

        with parquet_reader(self.path) as file:
            if len(self.columns.names) > MOST_TOGETHER and not any(self.columns.widths):
                yield from self._wide(file, picked=picked)
                return
            step = max(1, batches.VALUES_AT_A_TIME // self.columns.unpacked)
            for batch in file.iter_batches(batch_size=step, columns=list(self.columns.names)):
                refuse_damaged(batch)  # a damaged file can promise more values than it holds
                yield self.columns.of(pyarrow.Table.from_batches([batch])), self._share(batch.num_rows)

    def _wide(self, file: Any, *, picked: bool) -> Iterator[Piece]:
        for number in range(file.num_row_groups):
            group = ColumnGroups(
                n=file.metadata.row_group(number).num_rows,
                labels=self.labels,
                names=self.columns.names,
                batches=partial(_batches, file, number),
            )
            for window in windows(group, picked=picked):
                yield window, self._share(window.n)
                del window  # it is large, and would live on while the next is read

    def _share(self, rows: int) -> int:
        return self.size * rows // max(1, self.n)


def _batches(file: Any, number: int, names: Sequence[str]) -> Iterator[Any]:
    for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME, row_groups=[number], columns=list(names)):
        refuse_damaged(batch)
        yield batch
