"""Larger than memory: read again in every pass, the same bits as the array; rows that change are seen to."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from test_files import WRITERS

import plandp
from plandp.data import arrow_file, batches, blocks, column_groups, csv_file, parquet_file, streamed_rows
from plandp.data.array import ArrayTable
from plandp.data.numbered_rows import NumberedRows, UnnumberedRows
from plandp.data.open import open_rows
from plandp.data.parts import parts_of
from plandp.data.rows import Rows
from plandp.data.streamed_rows import StreamedRows
from plandp.errors import ArgumentError
from plandp.mechanisms import lattice_counts
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import lattice_keys
from plandp.terms.columns import read_columns
from plandp.theory.search_stage import points_of, stages

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

TABLE = np.random.default_rng(6).normal(size=(9000, 3)) * [1, 10, 1e-3]
TABLE[7, 1] = np.nan
TABLE[8] = [np.inf, -np.inf, 5e-324]
PUBLIC: dict[str, Any] = {"bounds": (-100, 100), "rho": 1, "testing_seed": 3}
COUNTED = (".csv", ".tsv", ".arrow", ".arrows", ".ipc", ".feather")  # by a pass of their own


@pytest.fixture
def larger_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is too large to be held."""
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(csv_file, "BYTES_PER_BLOCK", 5000)


def all_rows(rows: Any) -> NDArray[np.float64]:
    return np.concatenate(list(rows.blocks()))


@pytest.mark.parametrize(("sample_held", "values_per_block"), [(True, 2**22), (False, 10**4)])
@pytest.mark.parametrize("name", [name for name in WRITERS if name != "LOUD.CSV"])
def test_a_streamed_file_gives_the_release_of_the_array(
    tmp_path: Path,
    name: str,
    sample_held: bool,
    values_per_block: int,
    larger_than_memory: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamed_rows, "HELD", 10**9 if sample_held else 0)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", values_per_block)
    WRITERS[name](tmp_path / name, TABLE)
    release = plandp.mean(tmp_path / name, **PUBLIC)
    expected = plandp.mean(TABLE, **PUBLIC)
    assert release.estimate.tobytes() == expected.estimate.tobytes()
    assert release.receipt.payments == expected.receipt.payments
    counting = Path(name).suffix in COUNTED
    # The sample, then everything; a sample that is not held is read for the centre and three times for the spread.
    assert release.receipt.passes == counting + (2 if sample_held else 5)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npy"])
def test_a_search_reads_a_file_once_a_stage_where_its_keys_are_not_held(
    tmp_path: Path, name: str, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plandp.mean(TABLE, **PUBLIC)
    monkeypatch.setattr(streamed_rows, "HELD", 0)
    monkeypatch.setattr(lattice_counts, "HELD", 0)
    monkeypatch.setattr(lattice_counts, "SENT", 0)
    WRITERS[name](tmp_path / name, TABLE)
    release = plandp.mean(tmp_path / name, **PUBLIC)
    assert release.estimate.tobytes() == expected.estimate.tobytes()
    rounds = sum(payment.step == "center" for payment in release.receipt.payments)
    searching = len(stages(rounds, points_of(TABLE.shape[1])))
    assert searching < rounds / 5
    # a pass for each stage, three for the spread, one for everything
    assert release.receipt.passes == (Path(name).suffix in COUNTED) + searching + 3 + 1


def test_arrow_gives_its_memory_back_after_every_pass(
    tmp_path: Path, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it keeps what files of many columns took, 190 MB beside a sample of 400 MB and its keys
    calls = []
    monkeypatch.setattr(pyarrow, "default_memory_pool", lambda: SimpleNamespace(release_unused=lambda: calls.append(1)))
    WRITERS["t.parquet"](tmp_path / "t.parquet", TABLE)
    release = plandp.mean(tmp_path / "t.parquet", **PUBLIC)
    assert len(calls) == release.receipt.passes == 2


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", "stream.arrow", "t.npy", "t.npz"])
def test_blocks_are_cut_by_the_public_shape_however_rows_are_stored(
    tmp_path: Path, name: str, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 3 * 700)
    WRITERS[name](tmp_path / name, TABLE)
    rows = open_rows(tmp_path / name)
    assert isinstance(rows, StreamedRows)
    assert [len(block) for block in rows.blocks()] == [700] * 12 + [600]
    assert np.array_equal(all_rows(rows), TABLE, equal_nan=True)
    assert not next(rows.blocks()).flags.writeable


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_rows_can_be_chosen_and_chosen_from(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    table = np.arange(3.0 * n).reshape(n, 3)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=8)))  # empty batches too
    parts = [table[first:last] for first, last in zip([0, *cuts], [*cuts, n], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed_rows, "IN_MEMORY", 0)
        patch.setattr(streamed_rows, "HELD", data.draw(st.sampled_from([0, 30, 10**9])))
        patch.setattr(batches, "VALUES_AT_A_TIME", data.draw(st.integers(1, 50)))
        rows = open_rows(parts, threads=data.draw(st.integers(1, 3)))
        assert np.array_equal(all_rows(rows), table)
        chosen = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))))
        some = rows.sample(chosen)
        assert (some.n, some.d, some.labels) == (len(chosen), 3, (0, 1, 2))
        assert np.array_equal(all_rows(some), table[chosen])
        fewer = np.arange(0, len(chosen), data.draw(st.integers(1, 4)))
        assert np.array_equal(all_rows(some.sample(fewer)), table[chosen[fewer]])
        (total,) = some.fold(lambda block: (block.astype(np.int64).sum(axis=0),))
        assert total.tolist() == table[chosen].sum(axis=0).tolist()


def test_a_row_is_never_taken_twice(tmp_path: Path, larger_than_memory: None) -> None:
    np.save(tmp_path / "t.npy", TABLE)
    rows = open_rows(tmp_path / "t.npy")
    for wrong in ([], [3, 3], [4, 3], [-1], [9000]):
        with pytest.raises(ArgumentError, match="strictly increasing"):
            rows.sample(np.array(wrong, np.int64))


def test_passes_are_those_over_the_source(tmp_path: Path, larger_than_memory: None) -> None:
    WRITERS["t.csv"](tmp_path / "t.csv", TABLE)
    rows = open_rows(tmp_path / "t.csv")
    assert rows.passes == 1  # its records were counted
    sample = rows.sample(np.arange(0, 9000, 9))
    assert rows.passes == 2
    all_rows(sample)
    all_rows(sample.sample(np.arange(10)))
    assert rows.passes == 2  # it is held
    all_rows(rows)
    assert rows.passes == 3


def test_small_files_are_read_once_and_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the public number of values alone: how often a file was read is on the receipt."""
    np.save(tmp_path / "t.npy", TABLE)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", TABLE.size)
    assert not isinstance(open_rows(tmp_path / "t.npy"), StreamedRows)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", TABLE.size - 1)
    assert isinstance(open_rows(tmp_path / "t.npy"), StreamedRows)


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "?", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("skipped", [1, 10**9])
def test_arrays_of_any_type_and_order(
    tmp_path: Path, dtype: str, order: Any, skipped: int, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plandp.data.npy_file.SKIPPED", skipped)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 100)
    array = np.asarray(np.random.default_rng(1).integers(-5, 100, size=(200, 4)).astype(dtype), order=order)
    np.save(tmp_path / "t.npy", array)
    rows = open_rows(tmp_path / "t.npy", columns=[3, 1])
    expected = array[:, [3, 1]].astype(np.float64)
    assert np.array_equal(all_rows(rows), expected)
    chosen = np.array([0, 7, 24, 25, 26, 199])
    assert np.array_equal(all_rows(rows.sample(chosen)), expected[chosen])


def wide_table(n: int, d: int) -> Any:
    table = np.random.default_rng(2).normal(size=(n, d))
    columns = {f"c{place}": pyarrow.array(table[:, place], mask=table[:, place] > 2) for place in range(d)}
    return pyarrow.table(columns), np.where(table > 2, np.nan, table)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("asked", [None, ["c39", "c0", "c7", "c8", "c9"]])
def test_very_many_columns_are_read_in_groups(
    tmp_path: Path, suffix: str, asked: list[str] | None, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, value in (
        ("parquet_file", "MOST_TOGETHER", 3),
        ("parquet_file", "FEW_VALUES", 0),
        ("parquet_file", "ROWS_AT_A_TIME", 13),
        ("arrow_file", "LARGE", 10),
        ("arrow_file", "MOST_TOGETHER", 3),
        ("arrow_file", "ROWS_OF_A_GROUP", 13),
        ("column_groups", "GROUP", 4),
        ("column_groups", "WINDOW", 900),
        ("column_groups", "WHOLE", 0),
        ("batches", "VALUES_AT_A_TIME", 300),
    ):
        monkeypatch.setattr(f"plandp.data.{module}.{name}", value)
    stored, table = wide_table(120, 40)
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        parquet.write_table(stored, path, row_group_size=50)
    else:
        feather.write_feather(stored, str(path), chunksize=50)
    lengths: set[int] = set()
    read = column_groups.ColumnGroups.read

    def noted(self: Any, rows: Any) -> Any:
        lengths.add(self.n)
        return read(self, rows)

    monkeypatch.setattr(column_groups.ColumnGroups, "read", noted)
    rows = open_rows(path, columns=asked)
    expected = table if asked is None else table[:, [int(name[1:]) for name in asked]]
    assert np.array_equal(all_rows(rows), expected, equal_nan=True)
    assert lengths == {50, 20}
    for chosen in (np.array([0, 12, 13, 49, 50, 119]), np.arange(51, 99), np.array([119])):
        assert np.array_equal(all_rows(rows.sample(chosen)), expected[chosen], equal_nan=True)


@pytest.fixture
def in_groups(larger_than_memory: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of forty columns are read by groups of four, and nobody lays them side by side."""
    for module, name, value in (
        ("parquet_file", "MOST_TOGETHER", 3),
        ("parquet_file", "FEW_VALUES", 0),
        ("parquet_file", "ROWS_AT_A_TIME", 13),
        ("column_groups", "GROUP", 4),
        ("streamed_rows", "HELD", 0),
    ):
        monkeypatch.setattr(f"plandp.data.{module}.{name}", value)

    def never(self: Any, rows: Any) -> Any:
        raise AssertionError("brought together")

    monkeypatch.setattr(column_groups.ColumnGroups, "read", never)


def brought_together(rows: Rows) -> NDArray[np.float64]:
    whole, seen = np.full((rows.n, rows.d), -99.0), np.zeros((rows.n, rows.d), np.int64)
    for row, column, block in parts_of(rows):
        some = slice(row, row + len(block)), slice(column, column + block.shape[1])
        whole[some] = block
        seen[some] += 1
    assert (seen == 1).all()
    return whole


@pytest.mark.parametrize("chosen", [None, [0, 12, 13, 49, 50, 119], list(range(51, 99)), [119]])
def test_values_are_seen_in_parts(tmp_path: Path, chosen: list[int] | None, in_groups: None) -> None:
    stored, table = wide_table(120, 40)
    parquet.write_table(stored, tmp_path / "t.parquet", row_group_size=50)
    rows = open_rows(tmp_path / "t.parquet")
    some = rows if chosen is None else rows.sample(np.array(chosen))
    expected = table if chosen is None else table[chosen]
    np.testing.assert_array_equal(brought_together(some), expected)
    assert rows.passes == 1
    bounds = [(-9 - place, 9) for place in range(40)]
    lattice = Lattice.of(read_columns(labels=rows.labels, bounds=bounds, smallest_spread=0.01))
    for missing in (None, np.arange(40.0) / 9):
        keys, same = lattice_keys(some, lattice, missing), lattice_keys(open_rows(expected), lattice, missing)
        np.testing.assert_array_equal(keys.keys, same.keys)
        np.testing.assert_array_equal(keys.missing, same.missing)


class Counted:
    """Adding function: rows; it notes the blocks that sums of their own were made of."""

    def __init__(self) -> None:
        self.blocks: list[int] = []

    def __call__(self, block: NDArray[np.float64], /) -> Any:
        self.blocks.append(len(block))
        return (np.array([len(block)]),)

    def add_to(self, sums: Any, block: NDArray[np.float64], chosen: Any, /) -> None:
        sums[0][0] += len(block)


@pytest.mark.parametrize(("room", "alone"), [(8, True), (15, True), (16, False)])
def test_where_there_is_no_room_for_sums_of_every_block_one_thread_adds_up(
    tmp_path: Path, room: int, alone: bool, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SUMS", room)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 3000)
    np.save(tmp_path / "t.npy", TABLE)
    function = Counted()
    (count,) = open_rows(tmp_path / "t.npy", threads=2).fold(function)
    assert count.tolist() == [9000]
    assert (max(function.blocks) == 0) == alone


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_wide_files_that_are_held_are_read_without_a_window(
    tmp_path: Path, suffix: str, in_groups: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window of all columns beside the table would take as much memory again."""
    for module, name, value in (
        ("arrow_file", "LARGE", 10),
        ("arrow_file", "MOST_TOGETHER", 3),
        ("streamed_rows", "IN_MEMORY", 120 * 40),
    ):
        monkeypatch.setattr(f"plandp.data.{module}.{name}", value)
    stored, table = wide_table(120, 40)
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        parquet.write_table(stored, path, row_group_size=50)
    else:
        feather.write_feather(stored, str(path), chunksize=50)
    rows = open_rows(path)
    assert not isinstance(rows, StreamedRows)
    np.testing.assert_array_equal(all_rows(rows), table)


def test_a_nan_that_signals_is_a_value_like_any_other(tmp_path: Path, in_groups: None) -> None:
    """Widening it warns, and a warning would tell of a cell."""
    table = np.ones((120, 40), np.float32)
    table.view(np.uint32)[7, 9] = 0x7F800001
    columns = {f"c{place}": column for place, column in enumerate(table.T)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet", row_group_size=50)
    found = brought_together(open_rows(tmp_path / "t.parquet"))
    assert np.argwhere(np.isnan(found)).tolist() == [[7, 9]]


@pytest.mark.parametrize("index", [0, 6, 39, 40])
def test_numbered_and_unnumbered_rows_are_seen_in_parts(tmp_path: Path, index: int, in_groups: None) -> None:
    stored, table = wide_table(120, 40)
    order = np.random.default_rng(3).permutation(120)
    numbered = stored.add_column(index, "number", pyarrow.array(order))
    parquet.write_table(numbered, tmp_path / "t.parquet", row_group_size=50)
    rows = NumberedRows(open_rows(tmp_path / "t.parquet"), index=index)
    np.testing.assert_array_equal(brought_together(rows), table)
    np.testing.assert_array_equal(brought_together(rows), table)  # numbers are checked once
    everything = UnnumberedRows(open_rows(tmp_path / "t.parquet"))
    np.testing.assert_array_equal(np.delete(brought_together(everything), index, axis=1), table)
    held = NumberedRows(open_rows(np.insert(table, index, order, axis=1)), index=index)
    np.testing.assert_array_equal(brought_together(held), table)
    wrong = NumberedRows(open_rows(np.insert(table, index, order // 2, axis=1)), index=index)
    for _ in range(2):
        with pytest.raises(ArgumentError, match=r"^row_index"):
            brought_together(wrong)


def test_short_row_groups_of_many_columns_are_read_together(
    tmp_path: Path, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading some columns at a time costs a reader for each of them and each group, however short that is."""
    monkeypatch.setattr(parquet_file, "MOST_TOGETHER", 3)
    monkeypatch.setattr(parquet_file, "FEW_VALUES", 20 * 40)
    monkeypatch.setattr(column_groups, "GROUP", 25)
    lengths = [50, 20, 1, 20, 50, 30, 7]
    stored, table = wide_table(sum(lengths), 40)
    with parquet.ParquetWriter(tmp_path / "t.parquet", stored.schema) as file:
        for begin, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
            file.write_table(stored.slice(begin, length))
    asked: list[tuple[list[int], int]] = []
    read = parquet_file._batches

    def noted(file: Any, groups: list[int], names: Sequence[str], step: int) -> Iterator[Any]:
        asked.append((groups, len(names)))
        return read(file, groups, names, step)

    monkeypatch.setattr(parquet_file, "_batches", noted)
    rows = open_rows(tmp_path / "t.parquet")
    assert np.array_equal(all_rows(rows), table, equal_nan=True)
    by_columns = [[([group], 25), ([group], 15)] for group in (0, 4, 5)]
    assert asked == [*by_columns[0], ([1, 2, 3], 40), *by_columns[1], *by_columns[2], ([6], 40)]
    chosen = np.array([0, 49, 50, 70, 71, 90, 91, 177])
    assert np.array_equal(all_rows(rows.sample(chosen)), table[chosen], equal_nan=True)


@pytest.mark.parametrize(
    ("whole", "threads", "windows"), [(0, 1, 4), (120 * 40 - 1, 1, 4), (120 * 40, 1, 1), (120 * 40, 2, 4)]
)
@pytest.mark.parametrize("together", [10, 7])  # rows of a block: a window ends with one, or within one
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_one_window_is_held_at_a_time(
    tmp_path: Path,
    suffix: str,
    together: int,
    whole: int,
    threads: int,
    windows: int,
    larger_than_memory: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name, value in (
        ("parquet_file", "MOST_TOGETHER", 3),
        ("parquet_file", "FEW_VALUES", 0),
        ("arrow_file", "LARGE", 10),
        ("arrow_file", "MOST_TOGETHER", 3),
        ("column_groups", "WINDOW", 30 * 40),
        ("column_groups", "WHOLE", whole),
        ("batches", "VALUES_AT_A_TIME", together * 40),
    ):
        monkeypatch.setattr(f"plandp.data.{module}.{name}", value)
    stored, _ = wide_table(120, 40)
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        parquet.write_table(stored, path)
    else:
        feather.write_feather(stored, str(path))
    made: list[weakref.ref[NDArray[np.float64]]] = []
    read = column_groups.ColumnGroups.read

    def noted(self: Any, rows: Any) -> Any:
        assert not [window for window in made if window() is not None]
        window = read(self, rows)
        made.append(weakref.ref(window.base))
        return window

    monkeypatch.setattr(column_groups.ColumnGroups, "read", noted)
    seen = 0
    for block in open_rows(path, threads=threads).blocks():  # the last one is kept while the next is asked for
        seen += len(block)
    assert seen == 120
    assert len(made) == windows


@pytest.mark.parametrize(
    ("stretch", "tallest", "decoded"),
    [(3000, 9000, 1 + 3), (2250, 9000, 1 + 2), (500, 9000, 1 + 2), (2250, 8999, 1 + 4)],
)
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_what_would_be_read_from_the_first_row_on_many_times_is_looked_at_twice(
    tmp_path: Path,
    suffix: str,
    stretch: int,
    tallest: int,
    decoded: int,
    larger_than_memory: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once for the sample and twice for the sum, unless there are three stretches, or norms would take too much."""
    for module, name, value in (
        ("parquet_file", "MOST_TOGETHER", 3),
        ("parquet_file", "FEW_VALUES", 0),
        ("parquet_file", "ROWS_AT_A_TIME", 1300),
        ("arrow_file", "LARGE", 10),
        ("arrow_file", "MOST_TOGETHER", 3),
        ("arrow_file", "ROWS_OF_A_GROUP", 1300),
        ("column_groups", "WINDOW", 40 * stretch),
        ("column_groups", "WHOLE", 0),
        ("column_groups", "TALLEST", tallest),
    ):
        monkeypatch.setattr(f"plandp.data.{module}.{name}", value)
    stored, table = wide_table(9000, 40)
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        parquet.write_table(stored, path)
    else:
        feather.write_feather(stored, str(path), chunksize=9000)
    begun: list[tuple[str, ...]] = []
    made = column_groups.ColumnGroups.__init__

    def noted(self: Any, **fields: Any) -> None:
        opened = fields.pop("batches")

        def batches_of(names: Sequence[str]) -> Iterator[Any]:
            begun.append(tuple(names))
            return opened(names)

        made(self, batches=batches_of, **fields)

    monkeypatch.setattr(column_groups.ColumnGroups, "__init__", noted)
    release = plandp.mean(path, **PUBLIC)
    assert len(begun) == 2 * decoded  # 40 columns are two groups
    expected = plandp.mean(table, **PUBLIC)
    assert release.estimate.tobytes() == expected.estimate.tobytes()
    assert release.receipt.payments == expected.receipt.payments
    assert release.receipt.passes == 2 + (suffix == ".feather")
    monkeypatch.setattr(streamed_rows, "HELD", 0)  # nor is the sample then, which is not added up by columns
    assert plandp.mean(path, **PUBLIC).estimate.tobytes() == expected.estimate.tobytes()


class Changing:
    """An iterable whose passes have these numbers of rows, one after the other."""

    def __init__(self, *counts: int) -> None:
        self.counts = list(counts)

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        count = self.counts.pop(0)
        yield from np.array_split(np.zeros((count, 2)), 3)


@pytest.mark.parametrize("counts", [(10, 9), (10, 11), (10, 10, 0), (10, 10, 400)])
@pytest.mark.parametrize("in_memory", [0, 10**6])
def test_another_number_of_rows_in_a_later_pass_is_refused(
    counts: tuple[int, ...], in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", in_memory)
    if in_memory and len(counts) > 2:
        pytest.skip("it is read only once")

    def read() -> None:
        rows = open_rows(Changing(1, *counts))
        for _ in counts[1:]:
            all_rows(rows)

    with pytest.raises(ArgumentError, match="has another number of rows than when it was opened or counted"):
        read()


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Three rows, then one, then six, that take so many bytes where they are stored."""

    sizes: tuple[int, int, int]

    labels = (0, 1)
    n = 10

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def counts(self) -> Iterator[tuple[int, int]]:
        return zip((3, 1, 6), self.sizes, strict=True)

    def pieces(self) -> Iterator[batches.Piece]:
        for count, size in self.counts():
            yield ArrayTable(array=np.ones((count, 2)), labels=self.labels), size


@pytest.mark.parametrize("way", ["fold", "blocks", "sample", "held"])
@pytest.mark.parametrize("sizes", [(3, 1, 6), (1, 1, 1), (900, 1, 1), (1, 1, 900), (0, 0, 0)])
def test_how_the_bar_moves_does_not_depend_on_how_much_is_stored(
    way: str, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many bytes rows take in a CSV or Parquet file follows from what is in them."""
    moves: list[tuple[float, int, int]] = []

    @contextmanager
    def bar(description: str, n: int, d: int) -> Iterator[Callable[[int, int], None]]:
        yield lambda part, whole: moves.append((part / whole, n, d))

    monkeypatch.setattr(streamed_rows, "bar_of_bytes", bar)
    rows = StreamedRows(Pieces(sizes=sizes), n=10, passes=0, progress=True, threads=1)
    read: dict[str, Callable[[], object]] = {
        "fold": lambda: rows.fold(lambda block: (block.sum(axis=0),)),
        "blocks": lambda: list(rows.blocks()),
        "sample": lambda: rows.sample(np.array([0, 9])),
        "held": rows.held,
    }
    read[way]()
    assert moves == [(0.3, 10, 2), (0.4, 10, 2), (1.0, 10, 2)]


@pytest.mark.parametrize(("kind", "bounds"), [("binary", None), ("nonnegative", (0, 5))])
@pytest.mark.parametrize("name", ["t.csv", "t.npy"])
def test_items_in_a_dense_file_are_streamed_too(
    tmp_path: Path, name: str, kind: str, bounds: Any, larger_than_memory: None
) -> None:
    table = np.random.default_rng(3).poisson(0.4, size=(900, 3)).astype(float)
    WRITERS[name](tmp_path / name, table)
    public: dict[str, Any] = {"kind": kind, "bounds": bounds, "rho": 1, "testing_seed": 4}
    release, expected = plandp.mean(tmp_path / name, **public), plandp.mean(table, **public)
    assert release.estimate.tobytes() == expected.estimate.tobytes()
    assert release.receipt.passes == expected.receipt.passes + (name == "t.csv")


@pytest.mark.parametrize("method", ["unscaled", "gaussian", "plan-classic", "iome", "coinpress", "mahalanobis"])
def test_every_method_streams(tmp_path: Path, method: str, larger_than_memory: None) -> None:
    parquet.write_table(pyarrow.table({"a": TABLE[:600, 0], "b": TABLE[:600, 2]}), tmp_path / "t.parquet")
    release = plandp.mean(tmp_path / "t.parquet", method=method, **PUBLIC)
    expected = plandp.mean(TABLE[:600, [0, 2]], method=method, **PUBLIC)
    assert release.estimate.tobytes() == expected.estimate.tobytes()


@pytest.mark.parametrize("picked", [False, True])
@pytest.mark.parametrize("kind", ["Parquet", "Arrow stream"])
def test_empty_parts_of_wide_files_are_no_damage(
    tmp_path: Path, kind: str, picked: bool, larger_than_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_file, "LARGE", 0)
    values = np.arange(12.0 * 130).reshape(12, 130)
    table = pyarrow.table({f"c{place}": column for place, column in enumerate(values.T)})
    # beside categories every batch of a stream is read in pieces
    table = table.append_column("kind", pyarrow.array(["a", "b"] * 6).dictionary_encode())
    parts = [table.slice(0, 5), table.slice(5, 0), table.slice(5)]
    path = tmp_path / ("t.parquet" if kind == "Parquet" else "t.arrow")
    options = ipc.IpcWriteOptions(compression="lz4")
    with (
        parquet.ParquetWriter(path, table.schema)
        if kind == "Parquet"
        else ipc.new_stream(path, table.schema, options=options)
    ) as file:
        for part in parts:
            batch = part.to_batches() or [table.to_batches()[0].slice(0, 0)]
            file.write_batch(batch[0])
    rows = open_rows(path, columns=table.column_names[:130])
    chosen = np.array([0, 4, 5, 11]) if picked else np.arange(12)
    np.testing.assert_array_equal(all_rows(rows.sample(chosen) if picked else rows), values[chosen])
