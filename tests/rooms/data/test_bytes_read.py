"""What a release reads, counted, not timed: passes over the rows, values that loops see, bytes that are copied."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import plandp
from plandp.data import blocks, npy_file, stored_columns, streamed_rows
from plandp.data.array import ArrayTable
from plandp.data.side_by_side import ColumnsInMemory
from plandp.kernels.compiler import compiled
from plandp.mechanisms import lattice, lattice_counts, norm_cells

N, D = 60_000, 64
TABLE = np.random.default_rng(6).standard_normal((N, D))


@dataclass(kw_only=True)
class Seen:
    """Values that each loop was given, and bytes of copies that `read` made."""

    values: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    copied: int = 0
    largest_copy: int = 0


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    found = Seen()

    def counting(loop: Callable[..., None]) -> Callable[..., None]:
        run = compiled(loop)
        assert run is not None, "the tests need the extra plandp[fast]"

        def counted(*arguments: Any) -> None:
            found.calls[loop.__name__] += 1
            run(*arguments)
            if loop.__name__ == "add_up_columns":
                _, begins, _, count, *_ = arguments
                found.values[loop.__name__] += count * len(begins)
                return
            block = arguments[0]
            chosen = len(arguments[1]) if loop.__name__ in ("add_up_cells", "tally_values", "write_keys") else 0
            found.values[loop.__name__] += (chosen or len(block)) * block.shape[1]

        return counted

    read = ArrayTable.read

    def watched(table: ArrayTable, rows: Any) -> Any:
        block = read(table, rows)
        if block.size and not np.shares_memory(block, table.array):
            found.copied += block.nbytes
            found.largest_copy = max(found.largest_copy, block.nbytes)
        return block

    monkeypatch.setattr(norm_cells, "compiled", counting)
    monkeypatch.setattr(lattice, "compiled", counting)
    monkeypatch.setattr(lattice_counts, "compiled", counting)
    monkeypatch.setattr(ArrayTable, "read", watched)
    return found


def release(data: NDArray[Any], rho: float) -> plandp.MeanRelease:
    return plandp.mean(data, bounds=(-200, 200), rho=rho, smallest_spread=2.0**-4, testing_seed=5)


def test_a_small_sample_is_copied_once_and_all_rows_are_added_up_once(seen: Seen) -> None:
    found = release(TABLE, rho=1.0)
    sample, rounds = 4_096, 21  # rows for the rough steps, rounds of the search: public
    assert seen.values == {
        "add_up_cells": (N + 3 * sample) * D,  # the sum, and three looks at the spread
        "write_keys": sample * D,
        "count_below": rounds * sample * D,
    }
    assert seen.copied == sample * D * 8
    assert found.receipt.passes == 1


def test_a_large_sample_is_read_where_it_lies(seen: Seen) -> None:
    release(TABLE, rho=0.01)
    sample, points = 16_627, 12_801
    assert seen.values == {
        "add_up_cells": (N + 3 * sample) * D,
        "tally_values": sample * D,  # counts for all thresholds at once
    }
    assert 4 * points <= lattice_counts.TALLIED * 2 * sample
    assert seen.copied == 0


def test_keys_of_a_sample_that_is_not_held_are_written_from_where_it_lies(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "IN_CACHE", 0)
    release(TABLE, rho=1.0)
    assert seen.values["write_keys"] == 4_096 * D
    assert seen.calls["write_keys"] == 1
    assert seen.copied == 0


def test_columns_are_added_up_where_they_lie(seen: Seen) -> None:
    release(np.asfortranarray(TABLE), rho=1.0)
    sample = 4_096
    assert seen.values["add_up_columns"] == N * D
    assert seen.values["add_up_cells"] == 3 * sample * D
    assert seen.calls["add_up_columns"] == 1
    assert seen.copied == sample * D * 8


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_must_be_copied_is_copied_in_small_pieces(order: Literal["C", "F"], seen: Seen) -> None:
    release(TABLE.astype(np.float32, order=order), rho=1.0)
    sample = 4_096
    assert seen.values["add_up_cells"] == (N + 3 * sample) * D
    assert seen.copied == (N + sample) * D * 8
    assert seen.largest_copy == max(2**20, sample * D * 8)  # the sample is held


def test_a_pass_makes_few_calls(seen: Seen) -> None:
    release(TABLE, rho=1.0)
    assert seen.calls["add_up_cells"] <= 3 * 3 + 2  # blocks of four million values, and one of none for every fold


@pytest.mark.parametrize("skipped", [stored_columns.SKIPPED, 2**9])
def test_a_stream_is_added_up_where_it_was_read_to(
    skipped: int, seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_columns, "SKIPPED", skipped)
    if skipped == 2**9:  # in most stretches there is one group of rows
        monkeypatch.setattr(stored_columns, "STRETCH", 8 * D * 400)
    schema = pa.schema([(str(place), pa.float64()) for place in range(D)])
    with pa.ipc.new_stream(tmp_path / "t.arrow", schema) as file:
        file.write_table(pa.Table.from_arrays([pa.array(column) for column in TABLE.T.copy()], schema=schema), 20_000)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    fill, rows = stored_columns._fill, ColumnsInMemory.rows
    read, blocks = 0, []

    def watched_fill(file: Any, part: Any, begin: int) -> None:
        nonlocal read
        read += len(part)
        fill(file, part, begin)

    def watched_rows(columns: ColumnsInMemory, chosen: Any) -> Any:
        blocks.append(rows(columns, chosen).nbytes)
        return rows(columns, chosen)

    monkeypatch.setattr(stored_columns, "_fill", watched_fill)
    monkeypatch.setattr(ColumnsInMemory, "rows", watched_rows)
    found = plandp.mean(tmp_path / "t.arrow", bounds=(-200, 200), rho=1.0, smallest_spread=2.0**-4, testing_seed=5)
    sample = 4_096
    assert found.estimate.tobytes() == release(TABLE, rho=1.0).estimate.tobytes()
    assert found.receipt.passes == 3  # counted, sampled, added up
    # for the sample what lies between its rows too, if that is little; then all to be added up
    assert read == TABLE.nbytes + (TABLE.nbytes if skipped > 2**9 else sample * D * 8)
    assert sum(blocks) == sample * D * 8
    assert seen.values["add_up_columns"] == N * D


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_numbers_are_added_up_as_they_are_stored(
    order: Literal["C", "F"], kind: Any, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table that is large enough to have loops compiled for its type."""
    monkeypatch.setattr(blocks, "OTHERS", N * D)
    table = (9 * TABLE).astype(kind, order=order)
    found = release(table, rho=1.0)
    sample = 4_096
    assert seen.copied == sample * D * 8
    by_row = 3 * sample * D
    if order == "C":
        assert seen.values["add_up_cells"] == N * D + by_row
    else:
        assert seen.values["add_up_columns"] == N * D
        assert seen.values["add_up_cells"] == by_row
    assert found.estimate.tobytes() == release(table.astype(np.float64), rho=1.0).estimate.tobytes()


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32])
def test_of_an_array_in_a_file_the_sample_and_then_all_rows_are_read(
    kind: Any, seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(blocks, "OTHERS", 0)
    monkeypatch.setattr(npy_file, "SKIPPED", 2**12)
    table = (9 * TABLE).astype(kind)
    np.save(tmp_path / "t.npy", table)
    fill, read = npy_file.NpyRows._fill, []

    def watched(rows: npy_file.NpyRows, values: NDArray[Any], start: int) -> None:
        read.append(values.nbytes)
        fill(rows, values, start)

    monkeypatch.setattr(npy_file.NpyRows, "_fill", watched)
    found = plandp.mean(tmp_path / "t.npy", bounds=(-200, 200), rho=1.0, smallest_spread=2.0**-4, testing_seed=5)
    sample, together = 4_096, 16
    assert sum(read) == (N + sample) * D * table.itemsize
    assert len(read) <= 2 + sample // together  # neighbours by one call
    assert seen.values["add_up_cells"] == (N + 3 * sample) * D
    assert found.estimate.tobytes() == release(table.astype(np.float64), rho=1.0).estimate.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
def test_flags_are_one_whatever_their_byte_is(order: Literal["C", "F"], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "OTHERS", 0)
    flags = TABLE > 1
    strange = flags.copy(order=order)
    strange.view(np.uint8)[strange] = 200
    assert release(strange, rho=1.0).estimate.tobytes() == release(flags, rho=1.0).estimate.tobytes()


@pytest.mark.parametrize("kind", [">f4", ">i8", "f2", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_that_loops_do_not_read_are_converted(
    order: Literal["C", "F"], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OTHERS", 0)
    table = (9 * TABLE).astype(kind, order=order)
    assert release(table, rho=1.0).estimate.tobytes() == release(table.astype(np.float64), rho=1.0).estimate.tobytes()
