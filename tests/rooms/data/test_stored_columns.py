"""Columns of Arrow files that are read as they are stored: what pyarrow reads of them, whatever lies beside them."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from plandp.data import batches, side_by_side, stored_columns, streamed_rows
from plandp.data.arrow_file import open_ipc
from plandp.data.arrow_numbers import arrow_floats
from plandp.data.open import open_rows
from plandp.data.read_room import LINE, ReadRoom
from plandp.data.stored_columns import StoredColumns
from plandp.errors import ArgumentError

N, D = 1_003, 5
RNG = np.random.default_rng(12)
KINDS = [np.float64, np.float32, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.fixture(autouse=True)
def _small_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(side_by_side, "COMPILED", 1)
    monkeypatch.setattr(stored_columns, "STRETCH", 600)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 64 * D)


@pytest.fixture
def stretches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of every stretch that is read."""
    found: list[int] = []
    read = stored_columns.stretches

    def noted(*arguments: Any, **more: Any) -> Iterator[StoredColumns]:
        for table in read(*arguments, **more):
            found.append(table.n)
            yield table
            del table

    monkeypatch.setattr("plandp.data.arrow_file.stretches", noted)
    return found


def numbers(kind: Any) -> pa.Table:
    bits = RNG.integers(0, 256, (D, N * np.dtype(kind).itemsize), np.uint8)
    with np.errstate(all="ignore"):
        return pa.table({f"c{place}": line.view(kind) for place, line in enumerate(bits)})


def write(table: pa.Table, *, stream: bool, rows: int = 700) -> None:
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)("t.arrow", table.schema) as file:
        file.write_table(table, rows)


def cells(asked: list[str] | None = None) -> np.ndarray:
    return np.concatenate(list(open_rows("t.arrow", columns=asked).blocks()))


@pytest.mark.parametrize("skipped", [0, 10**6])  # rows are picked one by one, or from the whole stretch
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_all_bits_are_read(
    kind: Any, stream: bool, skipped: int, stretches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_columns, "SKIPPED", skipped)
    table = numbers(kind)
    write(table, stream=stream)
    for asked in (table.column_names, ["c3"], ["c4", "c0"]):
        stretches.clear()
        wanted = np.array([arrow_floats(table[name]) for name in asked]).T
        assert cells(asked).tobytes() == wanted.tobytes()
        assert sum(stretches) == N
        assert len(stretches) > 2
        some = np.flatnonzero(np.isin(np.arange(N) % 7, [0, 1, 3]))
        picked = open_rows("t.arrow", columns=asked).sample(some)
        assert np.concatenate(list(picked.blocks())).tobytes() == wanted[some].tobytes()


@pytest.mark.parametrize("stream", [False, True])
def test_other_columns_lie_between_and_some_batches_have_nulls(stream: bool, stretches: list[int]) -> None:
    x, y = RNG.normal(size=(2, N))
    texts = ["a text that is too long for its view"] * N
    parts = []
    for place, rows in enumerate(np.array_split(np.arange(N), 4)):
        lost = np.full(len(rows), place == 2) & (rows % 3 == 0)
        columns = {
            "flags": pa.array(x[rows] > 0),
            "views": pa.array(texts[: len(rows)], pa.string_view()),
            "x": pa.array(x[rows], mask=lost),
            "lists": pa.array([[1.0, None]] * len(rows)),
            "y": pa.array(y[rows]),
        }
        parts.append(pa.table(columns))
    write(pa.concat_tables(parts), stream=stream, rows=N)
    wanted = np.array([y, x]).T
    third = np.array_split(np.arange(N), 4)[2]
    wanted[third[third % 3 == 0], 1] = np.nan
    assert cells(["y", "x"]).tobytes() == wanted.tobytes()
    assert sum(stretches) == N - len(third)


@pytest.mark.parametrize("cut", [0, 7])
def test_a_stretch_that_is_cut_off_is_refused(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write(numbers(np.float64), stream=True, rows=N)
    whole = Path("t.arrow").read_bytes()
    for rows in (slice(0, 1), np.array([0])):
        for skipped in (0, 10**6):
            monkeypatch.setattr(stored_columns, "SKIPPED", skipped)
            Path("t.arrow").write_bytes(whole)
            *_, (last, _) = open_ipc(Path("t.arrow"), None).pieces()
            assert isinstance(last, StoredColumns)
            with Path("t.arrow").open("rb", buffering=0) as file:
                os.truncate("t.arrow", last.begins[-1] + cut)
                with pytest.raises(EOFError):
                    replace(last, file=file).read(rows)


def test_columns_that_are_shorter_than_their_batch_are_refused() -> None:
    """What lies behind their buffers would count as their values."""
    write(numbers(np.float64), stream=True, rows=N)
    good = Path("t.arrow").read_bytes()
    promised, first = (N).to_bytes(8, "little"), bytes(8) + (8 * N).to_bytes(8, "little")
    # at 0 the first column begins; of the second no bytes are stored of what is missing
    assert (good.count(promised), good.count(first)) == (1 + D, 2)
    begin = good.index(promised)
    for changed in (
        good.replace(first, bytes(8) + (8 * N - 8).to_bytes(8, "little"), 1),
        good[: begin + 8] + good[begin + 8 :].replace(promised, (N - 1).to_bytes(8, "little"), 1),
    ):
        Path("t.arrow").write_bytes(changed)
        with pytest.raises(ArgumentError, match=r"'t.arrow' is cut off, damaged or not"):
            cells()


@pytest.mark.parametrize("stream", [False, True])
def test_columns_that_are_compressed_are_not_read_as_they_are_stored(stream: bool, stretches: list[int]) -> None:
    table = numbers(np.float64)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)("t.arrow", table.schema, options=options) as file:
        file.write_table(table)
    assert cells().tobytes() == np.array([column.to_numpy() for column in table.columns]).T.tobytes()
    assert stretches == []


def test_memory_is_lent_again_only_when_nobody_holds_it() -> None:
    room = ReadRoom()
    first = room.lend(1000)
    first[:] = 7
    second = room.lend(1000)
    second[:] = 8
    assert (first == 7).all()
    place = second.ctypes.data
    del second
    third = room.lend(900)
    assert third.ctypes.data == place
    assert third.ctypes.data % LINE == 0
    assert len(third) == 900
    del third
    assert room.lend(5000).ctypes.data % LINE == 0


def test_a_table_that_is_kept_stays_as_it_was() -> None:
    """The sums of several threads are made of blocks that are still held when the next stretch is read."""
    table = numbers(np.float64)
    write(table, stream=True)
    held: list[tuple[int, Any]] = []
    for piece, _ in open_ipc(Path("t.arrow"), None).pieces():
        assert isinstance(piece, StoredColumns)
        held.append((piece.n, piece.columns))
        del piece
    found = np.concatenate([np.stack(list(columns.each(n)), axis=1) for n, columns in held])
    assert found.tobytes() == np.array([column.to_numpy() for column in table.columns]).T.tobytes()


def test_the_same_memory_takes_one_stretch_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: whoever holds a stretch while the next is read would have the system find new memory for each."""
    write(numbers(np.float64), stream=True)
    places: set[int] = set()
    lend = ReadRoom.lend

    def noted(room: ReadRoom, size: int) -> Any:
        found = lend(room, size)
        places.add(room._room.ctypes.data)
        return found

    monkeypatch.setattr(ReadRoom, "lend", noted)
    rows = open_rows("t.arrow")
    rows.sample(np.arange(0, N, 9))
    assert len(places) <= 2  # the first stretch is as long as any of its batch
    places.clear()
    rows.fold(_Counts())
    assert len(places) <= 2


class _Counts:
    """A function that can add to its sums, and see columns where they lie."""

    takes_columns = True

    def __call__(self, block: Any, /) -> tuple[Any, ...]:
        return (np.array([len(block)]),)

    def add_to(self, sums: Any, block: Any, chosen: Any, /) -> None:
        sums[0][0] += len(block) if chosen is None else len(chosen)

    def add_columns(self, sums: Any, values: Any, begins: Any, rows: range, /) -> None:
        sums[0][0] += len(rows)
