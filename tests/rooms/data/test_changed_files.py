"""Files that change between passes, are cut off or damaged: a clear error, no cell in it, nothing released."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet
from test_files import CANARY, WRITERS, _arrow

import plandp
from plandp.data import batches, csv_file, side_by_side, stored_columns, streamed_rows
from plandp.data.arrow_table import ArrowTable
from plandp.data.column_groups import ColumnGroups
from plandp.data.open import open_rows
from plandp.data.stored_columns import StoredColumns
from plandp.errors import ArgumentError
from plandp.mechanisms.norm_cells import CellSums

pytestmark = pytest.mark.usefixtures("own_folder")

TABLE = np.random.default_rng(12).normal(size=(9000, 3))
PUBLIC: dict[str, Any] = {"bounds": (-9, 9), "rho": Fraction(1, 4)}


@pytest.fixture(autouse=True)
def _larger_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(csv_file, "BYTES_PER_BLOCK", 5000)


def longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"1,2,3\n")


def same_size(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(path.read_bytes())
    os.utime(path, ns=(1, 1))  # two writes within one tick of the clock could not be told apart


def replaced(path: Path) -> None:
    written = path.stat().st_mtime_ns
    Path("other").write_bytes(path.read_bytes())
    os.utime("other", ns=(written, written))
    os.replace("other", path)


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


CHANGES: dict[str, Callable[[Path], None]] = {
    change.__name__: change for change in (longer, same_size, replaced, cut_off)
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", "stream.arrow", "t.npy", "t.npz"])
def test_a_file_that_changes_between_passes_is_refused(name: str, change: str) -> None:
    path = Path(name)
    WRITERS[name](path, TABLE)
    rows = open_rows(path)
    rows.sample(np.arange(0, 9000, 9))
    CHANGES[change](path)
    with pytest.raises(ArgumentError) as caught:
        rows.fold(lambda block: (block.astype(np.int64),))
    assert str(caught.value) == f"data: the file {name!r} changed while it was read; name one that stays as it is"
    assert caught.value.__context__ is None


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npy"])
def test_a_file_that_changes_during_a_pass_is_refused_at_its_end(name: str) -> None:
    path = Path(name)
    WRITERS[name](path, TABLE)
    blocks = open_rows([path]).blocks()
    same_size(path)
    with pytest.raises(ArgumentError, match="changed while it was read"):
        list(blocks)


def test_a_file_that_is_gone_is_refused() -> None:
    WRITERS["t.npy"](Path("t.npy"), TABLE)
    rows = open_rows("t.npy")
    Path("t.npy").unlink()
    with pytest.raises(ArgumentError, match=r"^data: the file 't.npy' cannot be read: No such file or directory$"):
        list(rows.blocks())


def damaged_page(name: str) -> None:
    """Write a file of which one page in the middle is not what was written."""
    table = _arrow(TABLE.round(1))  # what cannot be compressed is stored as it is, and then nobody sees the damage
    if name == "t.feather":
        feather.write_feather(table, name, compression="zstd", chunksize=1000)
    else:
        parquet.write_table(table, name, row_group_size=1000, use_dictionary=False, **PARQUET[name])
    content = bytearray(Path(name).read_bytes())
    middle = len(content) // 2
    content[middle : middle + 40] = CANARY.encode() * 2 + b"canary canar"
    Path(name).write_bytes(content)


PARQUET: dict[str, dict[str, Any]] = {
    "compressed.parquet": {"compression": "gzip"},
    "checked.parquet": {"compression": "none", "write_page_checksum": True},
}


@pytest.mark.parametrize("name", [*PARQUET, "t.feather"])
def test_a_damaged_page_is_refused_and_the_ledger_records_what_it_cost(name: str) -> None:
    damaged_page(name)
    ledger = plandp.Ledger("budget.sqlite")
    ledger.register("survey", rho=1)
    with pytest.raises(ArgumentError) as caught:
        plandp.mean(name, **PUBLIC, ledger=ledger, dataset="survey")
    assert f"data: the file {name!r} is cut off, damaged or not a" in str(caught.value)
    error: BaseException | None = caught.value
    while error is not None:
        assert "canary" not in str(error)
        error = error.__cause__ or error.__context__
    status = ledger.status("survey")
    assert status.spent == Fraction(1, 4)
    assert [entry.state for entry in status.reservations] == ["interrupted"]


def test_a_change_during_a_release_is_recorded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("t.parquet")
    WRITERS["t.parquet"](path, TABLE)
    ledger = plandp.Ledger("budget.sqlite")
    ledger.register("survey", rho=1)
    picked = streamed_rows.StreamedRows.sample

    def then_changed(self: Any, indices: Any) -> Any:
        sample = picked(self, indices)
        same_size(path)
        return sample

    monkeypatch.setattr(streamed_rows.StreamedRows, "sample", then_changed)
    with pytest.raises(ArgumentError, match="changed while it was read"):
        plandp.mean(path, **PUBLIC, ledger=ledger, dataset="survey")
    (entry,) = ledger.status("survey").reservations
    assert (entry.state, ledger.status("survey").left) == ("interrupted", Fraction(3, 4))


@pytest.mark.parametrize("name", ["t.parquet", "t.npy", "t.npz"])
def test_a_file_that_is_cut_off_costs_nothing(name: str) -> None:
    """What is missing is seen from the header or footer, before a row is read."""
    WRITERS[name](Path(name), TABLE)
    cut_off(Path(name))
    ledger = plandp.Ledger("budget.sqlite")
    ledger.register("survey", rho=1)
    with pytest.raises(ArgumentError, match="is cut off, damaged or not a"):
        plandp.mean(name, **PUBLIC, ledger=ledger, dataset="survey")
    assert ledger.status("survey").left == 1


def test_the_error_of_a_second_file_names_that_file() -> None:
    for name in ("a.npy", "b.npy", "c.npy"):
        np.save(name, TABLE)
    cut_off(Path("b.npy"))
    with pytest.raises(ArgumentError, match=r"^data: the file 'b.npy' is cut off"):
        open_rows("?.npy")


def test_a_damaged_page_of_a_wide_file_is_told_when_rows_are_picked() -> None:
    """Very many columns are read when they are asked for, and not with the piece that they are in."""
    table = pyarrow.table({f"c{column}": np.arange(3000.0) for column in range(160)})
    path = Path("wide.parquet")
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    at = parquet.ParquetFile(path).metadata.row_group(0).column(140).data_page_offset + 3000
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xff" * 50)
    os.utime(path, ns=(1, 1))
    rows = open_rows(path)
    with pytest.raises(ArgumentError) as caught:
        rows.sample(np.arange(0, 3000, 9))
    assert str(caught.value).startswith("data: the file 'wide.parquet' is cut off, damaged or not a Parquet file")
    assert caught.value.__context__ is None


def test_rows_that_are_not_there_are_not_made_up() -> None:
    """A group that is shorter than promised is refused: what was in memory before would count as rows."""
    batch = pyarrow.record_batch([np.arange(4.0)], names=["a"])
    group = ColumnGroups(n=6, labels=("a",), names=("a",), batches=lambda names: iter([batch]))
    for rows in (slice(0, 6), np.array([1, 5])):
        with pytest.raises(EOFError):
            group.read(rows)
    assert group.read(np.array([1, 3])).tolist() == [[1.0], [3.0]]


def test_an_array_that_is_cut_off_while_it_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 3000)
    path = Path("t.npy")
    np.save(path, TABLE)
    blocks = open_rows(path).blocks()
    next(blocks)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(ArgumentError, match=r"^data: the file 't.npy' changed while it was read") as caught:
        list(blocks)
    assert caught.value.__context__ is None


def test_a_stream_that_is_cut_off_while_it_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(side_by_side, "COMPILED", 1)
    monkeypatch.setattr(stored_columns, "STRETCH", 3 * 8 * 1000)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 3 * 1000)
    table = _arrow(np.ones((60_000, 3)))
    with pyarrow.ipc.new_stream("t.arrow", table.schema) as file:
        file.write_table(table)
    blocks = open_rows("t.arrow").blocks()
    next(blocks)
    os.truncate("t.arrow", 4096)
    with pytest.raises(ArgumentError, match=r"^data: the file 't.arrow' changed while it was read") as caught:
        list(blocks)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("columns", ["taken", "not taken"])
@pytest.mark.parametrize("at", [1, 40, 100])  # of 60 buffers that are read in each pass
@pytest.mark.parametrize("what", ["cut off", "not readable"])
def test_columns_that_cannot_be_read_any_more_are_refused(
    what: str, at: int, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read when they are asked for, by whatever asks."""
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(side_by_side, "COMPILED", 1)
    monkeypatch.setattr(stored_columns, "STRETCH", 3 * 8 * 3000)
    if columns == "not taken":
        monkeypatch.setattr(CellSums, "takes_columns", False)
    table = _arrow(np.random.default_rng(0).normal(size=(60_000, 3)))
    with pyarrow.ipc.new_stream("t.arrow", table.schema) as file:
        file.write_table(table)
    fill, calls = stored_columns._fill, 0

    def broken(file: Any, left: memoryview, begin: int) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            if what == "not readable":
                raise OSError(5, "Input/output error")
            os.truncate("t.arrow", 4096)
        fill(file, left, begin)

    monkeypatch.setattr(stored_columns, "_fill", broken)
    told = "changed while it was read" if what == "cut off" else "cannot be read: Input/output error"
    with pytest.raises(ArgumentError, match=f"^data: the file 't.arrow' {told}") as caught:
        plandp.mean("t.arrow", **PUBLIC)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["whole numbers", "nulls"])
def test_a_file_that_changes_while_its_columns_are_converted_is_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at before each stretch of them."""
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 3 * 10_000)
    monkeypatch.setattr(side_by_side, "COMPILED", 1)
    column = np.arange(60_000) % 7
    values = pyarrow.array(column) if kind == "whole numbers" else pyarrow.array(column * 1.0, mask=column == 3)
    stored = pyarrow.table([values] * 3, names=["a", "b", "c"])
    with pyarrow.ipc.new_stream("t.arrow", stored.schema) as file:
        file.write_table(stored)
    container = StoredColumns if kind == "whole numbers" else ArrowTable
    write, written = container.write_columns, 0

    def changed(table: Any, rows: slice, floats: Any) -> None:
        nonlocal written
        write(table, rows, floats)
        written += 1
        if written == 2:
            longer(Path("t.arrow"))

    monkeypatch.setattr(container, "write_columns", changed)
    with pytest.raises(ArgumentError, match=r"^data: the file 't.arrow' changed while it was read"):
        plandp.mean("t.arrow", **PUBLIC)
    assert written == 2


@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
def test_a_batch_that_holds_less_than_its_header_says_is_refused(compression: str) -> None:
    """Whatever the types are: values behind its buffers would be read from elsewhere in memory."""
    n = 12_345
    feather.write_feather(_arrow(np.zeros((n, 3))), "t.feather", compression=compression, chunksize=n)
    good = Path("t.feather").read_bytes()
    assert good.count(pack("<q", n)) >= 4  # of the batch and of each column
    Path("t.feather").write_bytes(good.replace(pack("<q", n), pack("<q", n + 1000)))
    with pytest.raises(ArgumentError, match=r"'t.feather' is cut off, damaged or not a Feather file"):
        list(open_rows("t.feather").blocks())


def test_groups_of_columns_that_end_early_are_refused() -> None:
    batch = pyarrow.record_batch([np.arange(4.0)], names=["a"])
    for n in (3, 5):
        group = ColumnGroups(n=n, labels=("a",), names=("a",), batches=lambda names: iter([batch]))
        with pytest.raises(EOFError):
            list(group.groups())
        rows = iter(group.groups())
        if n == 3:  # nothing is handed out beyond what there should be
            with pytest.raises(EOFError):
                next(rows)
