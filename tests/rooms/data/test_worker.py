"""What workers of an engine do: fold, pick, merge; nothing that is handed out is changed, and nothing raises."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from plandp.data import worker
from plandp.data.array import ArrayTable
from plandp.data.dense_view import OnDenseBlocks
from plandp.data.folded_items import OnItems
from plandp.data.row_numbers import are_row_numbers
from plandp.data.worker import FoldBlocks, Occurrences, Part, fold_parts, merge_parts, without_cells
from plandp.mechanisms.item_rows import ItemCounts

VALUES = np.arange(30.0).reshape(10, 3)


def part(numbers: Any = None, first: int | None = None, values: np.ndarray = VALUES) -> Part:
    column = None if numbers is None else ArrayTable(array=np.array(numbers, float)[:, None], labels=(0,))
    return Part(table=ArrayTable(array=values, labels=("a", "b", "c")), first=first, column=column)


def total(block: np.ndarray, /) -> tuple[np.ndarray, ...]:
    return (block.sum(axis=0).astype(np.int64),)


@pytest.mark.parametrize("values_per_block", [1, 7, 30, 1_000])
def test_a_part_is_counted_and_added_up_however_it_is_cut(
    values_per_block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "VALUES_PER_BLOCK", values_per_block)
    found = fold_parts(FoldBlocks(function=total), [part(), part(values=VALUES[:0]), part(values=VALUES[:2])])
    assert found is not None
    assert [each.tolist() for each in found] == [[12], [138, 150, 162]]
    numbered = part(numbers=[4, 9, 2, 7, 0, 1, 3, 8, 5, 6])
    for kept in (
        numbered.picked(np.array([0, 2, 9])),
        numbered.picked(np.array([0, 2, 5, 9])).picked(np.array([0, 2, 9])),
    ):
        assert kept.table.read(slice(0, 3))[:, 0].tolist() == [3.0, 6.0, 12.0]
    assert part(first=100).picked(np.array([1, 103, 104, 110])).table.n == 2


@pytest.mark.parametrize("values_per_block", [1, 7, 30, 1_000])
def test_the_numbers_of_a_part_are_added_up_to_its_end(values_per_block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "VALUES_PER_BLOCK", values_per_block)
    order = np.random.default_rng(1).permutation(20)
    function = FoldBlocks(function=total, numbers_below=20)
    for parts in ([part(numbers=order[:10]), part(numbers=order[10:])], [part(first=10), part(first=0)]):
        found = fold_parts(function, parts)
        assert found is not None
        assert are_row_numbers(found[1], 20)
    wrong = fold_parts(function, [part(numbers=order[:10]), part(numbers=[*order[10:19], order[0]])])
    assert wrong is not None
    assert not are_row_numbers(wrong[1], 20)


def test_it_is_known_beforehand_how_large_sums_are() -> None:
    """Spark merges large ones in its workers; who counts items says so, however the rows are held."""
    assert FoldBlocks(function=OnItems(function=ItemCounts(d=90), binary=True)).size(90) == 90 * 8
    dense = OnDenseBlocks(function=total, d=3)  # which takes no block without rows
    assert FoldBlocks(function=OnItems(function=dense, binary=True)).size(3) == 3 * 8
    assert Occurrences(numbers=np.arange(7)).size(90) == 7 * 8
    assert FoldBlocks(function=total).size(3) == 0  # a function of somebody's own may not want to be asked


def test_no_rows_are_nothing_and_not_a_failure() -> None:
    assert fold_parts(FoldBlocks(function=total), [part(values=VALUES[:0])]) == ()
    assert fold_parts(FoldBlocks(function=total), []) == ()
    assert merge_parts([(), (np.array([3]),), ()]) == ([3],)
    assert merge_parts([]) == ()


def test_numbers_that_are_none_are_never_found() -> None:
    strange = part(numbers=[0, np.nan, 1.5, -1, 2**60, np.inf, 2, 2, -np.inf, 7])
    (found,) = Occurrences(numbers=np.array([0, 1, 2, 3]))(strange)
    assert found.tolist() == [1, 0, 2, 0]


def test_what_was_found_is_left_alone() -> None:
    """An engine may hand out the same sums again, to a task that is tried twice."""
    sums = [(np.array([1]), np.array([5, 6])), (np.array([2]), np.array([7, 8]))]
    for _ in range(2):
        merged = merge_parts(sums)
        assert merged is not None
        assert [each.tolist() for each in merged] == [[3], [12, 14]]


def test_a_failure_carries_no_cell() -> None:
    def raises(_: Any) -> Any:
        raise ValueError("cannot read 48.151623")

    assert fold_parts(raises, [part()]) is None
    assert merge_parts([(np.array([3]),), None]) is None
    with pytest.raises(RuntimeError, match=r"^a part of the data could not be read$") as told:
        without_cells(lambda: raises(None))
    assert told.value.__context__ is None
    assert told.value.__cause__ is None


def test_what_an_engine_fails_to_bring_is_raised_without_its_text() -> None:
    """So it tries again: what is returned is taken for a success."""

    def cut_off() -> Iterator[Part]:
        yield part()
        raise OSError("connection lost at 48.151623")

    with pytest.raises(RuntimeError, match=r"^a part of the data could not be read$") as told:
        fold_parts(FoldBlocks(function=total), cut_off())
    assert told.value.__context__ is None
    assert told.value.__cause__ is None


def test_no_value_warns_on_a_worker() -> None:
    wild = np.array([[np.nan, np.inf, 1e308], [-np.inf, 1.0, 1e308]])
    with np.errstate(all="raise"):
        assert fold_parts(FoldBlocks(function=lambda block: total(block * 10.0 - block)), [part(values=wild)])
