"""The fold: each row once, any block size, no warning, no write, and a sample that keeps its promises."""

import pickle
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plandp.data import blocks
from plandp.data.open import open_rows
from plandp.data.rows import FloatBlock, Rows, Sums
from plandp.errors import ArgumentError


@dataclass(frozen=True)
class CountAndSum:
    """How many rows, and their sum: enough to see a row left out or counted twice."""

    def __call__(self, block: FloatBlock, /) -> Sums:
        return np.asarray(len(block)), block.astype(np.int64).sum(axis=0)


@dataclass(frozen=True)
class Shapes:
    """Counts the blocks of each length."""

    longest: int

    def __call__(self, block: FloatBlock, /) -> Sums:
        return (np.bincount([len(block)], minlength=self.longest + 1),)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 40), d=st.integers(1, 5), values_per_block=st.integers(1, 300))
def test_every_row_is_in_exactly_one_block(n: int, d: int, values_per_block: int) -> None:
    table = 7 ** np.arange(n * d, dtype=np.float64).reshape(n, d) % 1000003
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "VALUES_PER_BLOCK", values_per_block)
        count, total = open_rows(table).fold(CountAndSum())
    assert count == n
    assert total.tolist() == table.astype(np.int64).sum(axis=0).tolist()


def test_blocks_are_cut_by_shape_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 10)
    for table in (np.zeros((11, 3)), np.full((11, 3), np.nan), np.arange(33).reshape(11, 3)):
        (lengths,) = open_rows(table).fold(Shapes(longest=4))
        assert lengths.tolist() == [
            0,
            0,
            1,
            3,
            0,
        ]  # three blocks of 10 // 3 rows, one of the two that are left


def test_a_row_wider_than_a_block_is_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 4)
    (lengths,) = open_rows(np.zeros((3, 9))).fold(Shapes(longest=1))
    assert lengths.tolist() == [0, 3]


def test_blocks_hold_about_four_million_values() -> None:
    (lengths,) = open_rows(np.zeros((2**20 + 1, 4), dtype=np.int8)).fold(Shapes(longest=2**20))
    assert lengths[2**20] == 1
    assert lengths[1] == 1


def test_passes_count_full_folds_and_a_sample_starts_anew() -> None:
    rows: Rows = open_rows(np.arange(12.0).reshape(6, 2))
    assert rows.passes == 0
    first = rows.fold(CountAndSum())
    sample = rows.sample(np.array([1, 4]))
    assert (rows.passes, sample.passes) == (1, 0)
    second = rows.fold(CountAndSum())
    assert rows.passes == 2
    assert [part.tolist() for part in first] == [part.tolist() for part in second]


def test_blocks_are_all_rows_in_order_and_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 6)
    table = np.arange(22.0).reshape(11, 2)
    rows = open_rows(table)
    pieces = list(rows.blocks())
    assert [len(piece) for piece in pieces] == [3, 3, 3, 2]
    assert np.concatenate(pieces).tolist() == table.tolist()
    assert not any(piece.flags.writeable for piece in pieces)
    assert rows.passes == 1


def test_blocks_neither_warn_nor_keep_the_callers_own_settings_silent() -> None:
    with np.errstate(all="raise"):
        for _ in open_rows(np.full((2, 2), 1e300, dtype=np.longdouble) * np.longdouble(1e300)).blocks():
            with pytest.raises(FloatingPointError):
                np.ones(1) / np.zeros(1)


def test_object_sums_stay_exact_beyond_int64(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Huge:
        def __call__(self, block: FloatBlock, /) -> Sums:
            return np.array([2**80 * len(block)], dtype=object), np.asarray(2**70 * len(block), dtype=object)

    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 2)
    vector, scalar = open_rows(np.zeros((5, 1))).fold(Huge())
    assert vector[0] == 5 * 2**80
    assert isinstance(scalar, np.ndarray)
    assert scalar.item() == 5 * 2**70


def test_merging_leaves_the_arrays_of_the_block_function_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.ones(2, dtype=np.int64)

    @dataclass(frozen=True)
    class Cached:
        def __call__(self, block: FloatBlock, /) -> Sums:
            return (one,)

    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 1)
    (total,) = open_rows(np.zeros((4, 1))).fold(Cached())
    assert total.tolist() == [4, 4]
    assert one.tolist() == [1, 1]


def test_no_value_can_raise_or_warn_whatever_the_caller_set() -> None:
    @dataclass(frozen=True)
    class Careless:
        def __call__(self, block: FloatBlock, /) -> Sums:
            return ((np.sqrt(block) / block * block * 1e300).astype(np.int64).sum(axis=0),)

    wide = np.array([[0.0, -1.0, np.nan], [np.inf, 1e-320, 1.7e308]]).astype(np.longdouble) * 2
    with np.errstate(all="raise"):
        rows = open_rows(wide)
        rows.fold(Careless())
        rows.sample(np.array([0, 1])).fold(Careless())


def test_blocks_cannot_be_written_to() -> None:
    @dataclass(frozen=True)
    class Writes:
        def __call__(self, block: FloatBlock, /) -> Sums:
            block[0, 0] = 99.0
            return (np.zeros(1, dtype=np.int64),)

    table = np.zeros((3, 2))
    for rows in (open_rows(table), open_rows(table).sample(np.array([0, 2]))):
        with pytest.raises(ValueError, match="read-only"):
            rows.fold(Writes())
    assert not table.any()
    assert table.flags.writeable


def test_a_float64_array_is_not_copied() -> None:
    @dataclass(frozen=True)
    class SharesMemory:
        table: FloatBlock

        def __call__(self, block: FloatBlock, /) -> Sums:
            return (np.asarray(int(np.shares_memory(block, self.table))),)

    table = np.zeros((3, 2))
    assert open_rows(table).fold(SharesMemory(table))[0] == 1
    assert open_rows(table.astype(np.float32)).fold(SharesMemory(table))[0] == 0


@pytest.mark.parametrize("n", [10, 40], ids=["read when needed", "held"])
def test_a_sample_is_those_rows(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = open_rows(np.arange(2.0 * n).reshape(n, 2), columns=[1, 0])
    sample = rows.sample(np.array([0, 3, 9]))
    assert (sample.n, sample.d, sample.labels) == (3, 2, (1, 0))
    for per_block in (1, 4, 100):
        monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", per_block)
        assert sample.fold(CountAndSum())[1].tolist() == [1 + 7 + 19, 0 + 6 + 18]
        assert sample.sample(np.array([1])).fold(CountAndSum())[1].tolist() == [7, 6]


def test_a_small_sample_is_held_and_a_large_one_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.zeros((60, 2))
    rows = open_rows(table)
    small, large = rows.sample(np.arange(10)), rows.sample(np.arange(11))
    monkeypatch.setattr(blocks, "IN_CACHE", 19)
    held = rows.sample(np.arange(10))  # by those who would have to copy it for every pass, as without a compiler
    monkeypatch.setattr(blocks, "worth_a_loop", lambda values: True)
    beyond_cache, copied = rows.sample(np.arange(10)), open_rows(table, columns=[1, 0]).sample(np.arange(10))
    table[:] = 1.0
    assert small.fold(CountAndSum())[1].tolist() == [0, 0]
    assert large.fold(CountAndSum())[1].tolist() == [11, 11]
    assert held.fold(CountAndSum())[1].tolist() == [0, 0]
    assert beyond_cache.fold(CountAndSum())[1].tolist() == [10, 10]
    assert copied.fold(CountAndSum())[1].tolist() == [0, 0]  # chosen columns do not lie in order


@pytest.mark.parametrize("indices", [[], [-1, 2], [0, 10], [1, 1], [3, 2]])
def test_a_sample_takes_no_row_twice(indices: list[int]) -> None:
    rows = open_rows(np.zeros((10, 2)))
    with pytest.raises(ArgumentError, match=r"strictly increasing within 0 … 9"):
        rows.sample(np.array(indices, dtype=np.int64))


def test_nothing_prints_a_value() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    array = np.full((2, 2), 4321.5)
    for data in (array, pandas.DataFrame(array), polars.DataFrame(array), polars.DataFrame(array).to_arrow()):
        rows = open_rows(data)
        for thing in (rows, *vars(rows).values()):
            assert "4321" not in repr(thing)


def test_block_functions_travel() -> None:
    function = pickle.loads(pickle.dumps(CountAndSum()))
    assert open_rows(np.ones((3, 1))).fold(function)[0] == 3


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_thread_warns_of_what_columns_hold(threads: int) -> None:
    class Overflows:
        takes_columns = True

        def __call__(self, block: FloatBlock, /) -> Sums:
            return (np.zeros(1, np.int64),)

        def add_to(self, sums: Sums, block: FloatBlock, chosen: Any, /) -> None:
            raise AssertionError("columns are read where they lie")

        def add_columns(self, sums: Sums, values: FloatBlock, begins: Any, rows: range, /) -> None:
            sums[0][0] += int(np.isinf(values[begins[0] + rows.start : begins[0] + rows.stop] * 10.0).sum())

    table = np.full((2**17, 2), 1e308, order="F")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_rows(table, threads=threads).fold(Overflows())[0] == len(table)
