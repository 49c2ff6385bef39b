"""Threads beside this one: what they find, what stops them, and that they stop when nobody waits for them."""

from threading import Event, Thread, current_thread, main_thread

import numpy as np
import pytest

from plandp.data import blocks
from plandp.data.open import open_rows
from plandp.data.rows import FloatBlock, Sums
from plandp.data.side_thread import SideThread


def test_it_begins_at_once_and_beside_this_thread() -> None:
    begun, asked = Event(), Event()

    def work() -> str:
        begun.set()
        assert asked.wait(60)
        return current_thread().name

    thread = SideThread(work)
    assert begun.wait(60)  # before anybody asks for a result
    asked.set()
    assert thread.result() != main_thread().name


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), SystemExit(3)])
def test_what_stops_it_is_raised_where_somebody_waits(error: BaseException) -> None:
    def work() -> None:
        raise error

    thread = SideThread(work)
    with pytest.raises(type(error)) as raised:
        thread.result()
    assert raised.value is error


def test_where_this_thread_is_stopped_the_others_take_no_further_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SHARED", 1)
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 10)
    stopped, read = Event(), [0]

    def function(block: FloatBlock, /) -> Sums:
        if current_thread() is main_thread():
            stopped.set()
            raise KeyboardInterrupt
        assert stopped.wait(60)
        read[0] += 1
        return (np.zeros(1, np.int64),)

    with pytest.raises(KeyboardInterrupt):
        open_rows(np.zeros((1_000_000, 1)), threads=2).fold(function)
    after = read[0]
    assert after < 50_000  # of 100,000 blocks
    assert open_rows(np.zeros((100, 1)), threads=2).fold(lambda block: (np.asarray([len(block)]),))[0] == 100
    assert read[0] == after


def test_where_another_thread_fails_alone_no_sums_are_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    # those of its blocks would be missing
    monkeypatch.setattr(blocks, "SHARED", 1)
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 10)
    failed = Event()

    def function(block: FloatBlock, /) -> Sums:
        if current_thread() is main_thread():
            assert failed.wait(60)
            return (np.asarray([len(block)]),)
        failed.set()
        raise MemoryError

    with pytest.raises(MemoryError):
        open_rows(np.zeros((1_000, 1)), threads=3).fold(function)


@pytest.mark.parametrize("given", [0, 1, 2])
def test_where_no_further_thread_can_begin_fewer_add_up_the_same(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # rho is spent by then, and those that had begun would read on when the release is stopped
    monkeypatch.setattr(blocks, "SHARED", 1)
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 10)
    start, begun = Thread.start, [0]

    def start_some(thread: Thread) -> None:
        if begun[0] == given:
            raise RuntimeError("can't start new thread")
        begun[0] += 1
        start(thread)

    monkeypatch.setattr(Thread, "start", start_some)
    table = np.arange(1_000.0)[:, None]
    count, total = open_rows(table, threads=4).fold(lambda block: (np.asarray([len(block)]), block.sum(axis=0)))
    assert (count.tolist(), total.tolist(), begun) == ([1_000], [499_500.0], [given])


def test_a_stop_while_threads_begin_is_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SHARED", 1)
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 10)

    def stopped(_: Thread) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Thread, "start", stopped)
    with pytest.raises(KeyboardInterrupt):
        open_rows(np.zeros((1_000, 1)), threads=3).fold(lambda block: (np.asarray([len(block)]),))


def test_an_error_of_this_thread_is_not_taken_for_that_of_a_thread_that_cannot_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "SHARED", 1)
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 10)
    failed = Event()

    def function(block: FloatBlock, /) -> Sums:
        if current_thread() is main_thread():
            failed.set()
            raise RuntimeError("of this thread")
        assert failed.wait(60)
        return (np.asarray([len(block)]),)

    with pytest.raises(RuntimeError, match="of this thread"):
        open_rows(np.zeros((1_000, 1)), threads=3).fold(function)
