"""Threads add up whole numbers: the sums, and so the release, are the same with any number of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event, Lock, get_ident
from typing import Any
from weakref import finalize

import numpy as np
import pytest
from numpy.typing import NDArray

import plandp
from plandp.data import batches, blocks, streamed_rows
from plandp.data.chosen_rows import ChosenRows
from plandp.data.numbered_rows import WithoutColumn
from plandp.data.open import open_rows
from plandp.data.rows import FloatBlock, Sums
from plandp.errors import ArgumentError

N, D = 20_000, 7


@dataclass(frozen=True, kw_only=True)
class WhoReads:
    """Block function: rows and their sum; it notes which thread read how many."""

    readers: dict[int, int]

    def __call__(self, block: FloatBlock, /) -> Sums:
        self.readers[get_ident()] = self.readers.get(get_ident(), 0) + len(block)
        return np.asarray([len(block)]), block.astype(np.int64).sum(axis=0)


class AddedRows:
    """Adding function: rows, and their sum, with rows of a block that are chosen."""

    def __call__(self, block: FloatBlock, /) -> Sums:
        sums = np.zeros(1, np.int64), np.zeros(block.shape[1], np.int64)
        self.add_to(sums, block, None)
        return sums

    def add_to(self, sums: Sums, block: FloatBlock, chosen: NDArray[np.int64] | None, /) -> None:
        rows = block if chosen is None else block[chosen]
        sums[0][0] += len(rows)
        sums[1][:] += rows.astype(np.int64).sum(axis=0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 40 * D)
    monkeypatch.setattr(blocks, "COPIED", 13 * D)
    monkeypatch.setattr(blocks, "SHARED", 1)


def containers() -> Iterator[Any]:
    table = np.random.default_rng(4).normal(3.0, np.geomspace(0.1, 9.0, D), (N, D)).astype(np.float32)
    table[::50, 2] = np.nan
    wide = table.astype(np.float64)
    yield pytest.param(wide, id="C order")
    yield pytest.param(np.asfortranarray(wide), id="F order")
    yield pytest.param(table, id="float32")
    yield pytest.param(wide[::-1][::-1], id="a view")
    yield pytest.param(wide.astype(">f8"), id="other byte order")


@pytest.mark.parametrize("data", [*containers()])
def test_a_release_is_the_same_with_any_number_of_threads(data: NDArray[Any]) -> None:
    def release(data: object, threads: int) -> plandp.MeanRelease:
        # with so small a ρ the sample is large, and of rows in order read where it lies
        return plandp.mean(data, bounds=(-40, 40), rho=0.01, smallest_spread=0.5, testing_seed=8, threads=threads)

    reference = release(np.ascontiguousarray(data, np.float64), 1)
    assert reference.spread is not None
    for threads in (1, 2, 3, 64):
        same = release(data, threads)
        assert same.estimate.tobytes() == reference.estimate.tobytes()
        assert same.receipt == reference.receipt


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 2, 40, 41, 1_000])
def test_every_row_is_read_by_one_thread(n: int, threads: int) -> None:
    table = np.arange(float(n * D)).reshape(n, D)
    rows = open_rows(table, threads=threads)
    readers: dict[int, int] = {}
    count, total = rows.fold(WhoReads(readers=readers))
    assert count.tolist() == [n]
    assert total.tolist() == table.sum(axis=0).tolist()
    assert sum(readers.values()) == n
    assert rows.passes == 1


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [39, 40, 41, 300, 1_000])
def test_every_chosen_row_is_added_once(count: int, threads: int) -> None:
    table = np.arange(1_000.0 * D).reshape(1_000, D)
    indices = np.sort(np.random.default_rng(count).permutation(1_000)[:count])
    sample = blocks.TableRows(
        ChosenRows(table=blocks.ArrayTable(array=table, labels=tuple(range(D))), indices=indices), threads=threads
    )
    number, total = sample.fold(AddedRows())
    assert number.tolist() == [count]
    assert total.tolist() == table[indices].sum(axis=0).tolist()


def test_every_thread_has_blocks_to_take() -> None:
    rows = blocks.TableRows(blocks.ArrayTable(array=np.zeros((1_000, D)), labels=tuple(range(D))), threads=3)
    starts, step = rows._cut(40 * D, 3)
    assert step <= 40
    assert len(starts) % 3 == 0
    assert starts[-1] < 1_000 <= starts[-1] + step


@pytest.mark.parametrize(("n", "readers"), [(1, 1), (399, 1), (400, 2), (599, 2), (600, 3), (10_000, 3)])
def test_few_values_are_not_worth_a_thread(n: int, readers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SHARED", 200 * D)
    shared: list[int] = []
    share_out = blocks.TableRows._shared_out

    def watched(rows: blocks.TableRows, *arguments: Any) -> Sums | None:
        shared.append(arguments[-1])
        return share_out(rows, *arguments)

    monkeypatch.setattr(blocks.TableRows, "_shared_out", watched)
    number, _ = open_rows(np.ones((n, D)), threads=3).fold(AddedRows())
    assert number.tolist() == [n]
    assert shared == ([readers] if readers > 1 else [])


@pytest.mark.parametrize("count", [1, 5, 1_000])
def test_chosen_rows_of_chosen_rows_are_rows_of_the_table(count: int) -> None:
    table = np.arange(3_000.0 * D).reshape(3_000, D)
    some = np.arange(1, 3_000, 2)
    once = blocks.TableRows(
        ChosenRows(table=blocks.ArrayTable(array=table, labels=tuple(range(D))), indices=some.copy())
    )
    every = np.sort(np.random.default_rng(3).choice(len(some), count, replace=False))
    twice = blocks.TableRows(blocks._chosen(once._table, every))
    lying = twice.in_place()
    assert lying is not None
    array, indices = lying
    assert np.shares_memory(array, table)
    assert indices.tolist() == some[every].tolist()
    assert np.array_equal(np.concatenate([*once.sample(every).blocks()]), table[some[every]])


def test_nobody_waits_for_a_slower_thread() -> None:
    # one thread does not come back before all other blocks are done
    table, done, slow = np.arange(1_000.0)[:, None], [0], Event()

    def function(block: FloatBlock, /) -> Sums:
        if block[0, 0] == 0.0:
            assert slow.wait(60), "the other blocks wait for this one"
        else:
            done[0] += len(block)
            if done[0] + 40 * D >= len(table):
                slow.set()
        return np.asarray([len(block)]), block.astype(np.int64).sum(axis=0)

    count, total = open_rows(table, threads=2).fold(function)
    assert (count.tolist(), total.tolist()) == ([1_000], [499_500])


def test_a_thread_that_fails_fails_the_fold() -> None:
    def broken(block: FloatBlock, /) -> Sums:
        if block[0, 0] >= 500.0:
            raise MemoryError
        return (np.zeros(1, np.int64),)

    with pytest.raises(MemoryError):
        open_rows(np.arange(1_000.0)[:, None], threads=2).fold(broken)


class LargeSums:
    """Adding function with 800 bytes of sums; it notes which threads began some."""

    def __init__(self) -> None:
        self.began: set[int] = set()

    def __call__(self, block: FloatBlock, /) -> Sums:
        if len(block) == 0:
            self.began.add(get_ident())
        return (np.full(100, len(block)),)

    def add_to(self, sums: Sums, block: FloatBlock, chosen: NDArray[np.int64] | None, /) -> None:
        sums[0][:] += len(block)


@pytest.mark.parametrize(("room", "most"), [(2400, 3), (2399, 2), (1599, 1), (10, 1)])
def test_no_more_threads_have_sums_than_there_is_room_for(
    room: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SUMS", room)
    assert blocks.room_for(LargeSums(), D, 3) == most
    assert blocks.room_for(WhoReads(readers={}), D, 3) == 3  # a function whose sums are not known beforehand
    function = LargeSums()
    (sums,) = open_rows(np.ones((1_000, D)), threads=3).fold(function)
    assert sums.tolist() == [1_000] * 100
    assert len(function.began) <= most


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("room", "most"), [(2400, 3), (1600, 2), (800, 1)])
def test_nor_where_they_do_not_see_the_column_of_row_numbers(
    streamed: bool, room: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a function has the blocks of all threads added up anew: so many sums are there at a time."""
    there = largest = 0
    lock = Lock()

    class Counted(LargeSums):
        def __call__(self, block: FloatBlock, /) -> Sums:
            nonlocal there, largest
            sums = super().__call__(block)
            with lock:
                there += 1
                largest = max(largest, there)
            finalize(sums[0], gone)
            return sums

    def gone() -> None:
        nonlocal there
        there -= 1

    monkeypatch.setattr(blocks, "SUMS", room)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0 if streamed else 10**9)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 40 * (D + 1))
    table = np.ones((1_000, D + 1))
    data: Any = (lambda: iter([table])) if streamed else table
    rows = open_rows(data, threads=8)
    function = WithoutColumn(function=Counted(), index=0)
    assert blocks.room_for(function, D + 1, 8) == most
    there = largest = 0
    (sums,) = rows.fold(function)
    assert sums.tolist() == [1_000] * 100
    assert largest <= 2 * most + 2  # what is added up, and what it is added to


def test_numpys_integers_are_numbers_of_threads() -> None:
    table = np.zeros((10, 2))
    releases = [plandp.mean(table, bounds=(0, 1), rho=1, threads=two, testing_seed=1) for two in (2, np.int64(2))]
    assert releases[0].estimate.tobytes() == releases[1].estimate.tobytes()


@pytest.mark.parametrize("threads", [0, 65, -1, 1.0, "2", None, True, np.True_, np.int64(0), np.float64(2.0)])
def test_other_numbers_of_threads_are_refused(threads: Any) -> None:
    with pytest.raises(ArgumentError, match="threads: must be a whole number from 1 to 64"):
        plandp.mean(np.zeros((10, 2)), bounds=(0, 1), rho=1, threads=threads)
