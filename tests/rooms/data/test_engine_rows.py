"""Rows of an engine, without an engine: what is said when it brings other rows than it should, or none."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from plandp.data.array import ArrayTable
from plandp.data.engine_rows import EngineRows, undisclosed
from plandp.data.own_copy import PlandpCopy, own_copy, own_mark, run_if_same
from plandp.data.worker import Part, PartFunction, PartSums, fold_parts
from plandp.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Parts of an engine that has no task for a part without rows, as Spark has none."""

    parts: tuple[Part, ...]

    engine = "Dask"

    def fold(self, function: PartFunction) -> PartSums:
        return fold_parts(function, [part for part in self.parts if part.table.n])

    def picked(self, numbers: NDArray[np.int64]) -> "LeftOut":
        return LeftOut(parts=tuple(part.picked(numbers) for part in self.parts))


def rows(numbers: list[float], n: int) -> EngineRows:
    values = np.arange(len(numbers) * 2.0).reshape(-1, 2)
    column = ArrayTable(array=np.array(numbers).reshape(-1, 1), labels=(0,))
    part = Part(table=ArrayTable(array=values, labels=("a", "b")), column=column)
    return EngineRows(LeftOut(parts=(part,)), n=n, labels=("a", "b"), numbered=True, passes=1)


@pytest.mark.parametrize("numbers", [[3.0] * 4, [np.nan] * 4, [9.0, 8.0, 7.0, 6.0], [1.0, 2.0, 3.0, 4.0]])
def test_numbers_of_which_none_is_found_are_no_row_numbers(numbers: list[float]) -> None:
    with pytest.raises(ArgumentError, match=r"^row_index: the column does not hold each of the row numbers"):
        rows(numbers, n=4).sample(np.array([0]))


@pytest.mark.parametrize("wrong", [[1, 2, 3, 4], [0, 1, 2, 2], [0, 1, 2, np.nan], [0, 1, 2, 2.5], [0, 3, 3, 0]])
def test_wrong_numbers_are_seen_in_the_first_fold_whatever_the_sample(wrong: list[float]) -> None:
    misnumbered = rows(wrong, n=4)
    for _ in range(2):  # a check that failed is no check that was made
        with pytest.raises(ArgumentError, match=r"^row_index: the column does not hold each of the row numbers"):
            misnumbered.fold(lambda block: (block.sum(axis=0),))


def test_right_numbers_leave_the_sums_as_they_are() -> None:
    right = rows([2.0, 0.0, 3.0, 1.0], n=4)
    for _ in range(2):
        assert [sums.tolist() for sums in right.fold(lambda block: (block.sum(axis=0),))] == [[12.0, 16.0]]


def test_an_engine_that_brings_nothing_is_not_said_to_have_other_rows() -> None:
    with pytest.raises(ArgumentError, match=r"^data: Dask lost a part of the data or could not read it"):
        rows([], n=4).fold(lambda block: (block.sum(axis=0),))
    with pytest.raises(ArgumentError, match=r"^data: Dask brought 3 rows, and 4 before"):
        rows([0, 1, 2], n=4).fold(lambda block: (block.sum(axis=0),))


def test_a_worker_of_another_source_is_named_as_the_cause_whatever_the_engine_makes_of_its_error() -> None:
    def passed_on() -> None:
        try:
            run_if_same(PlandpCopy(version="9", source="7" * 64), own_mark(), len, "48.151623")
        except RuntimeError as error:
            raise OSError(f"job 3 failed at 48.151623:\n  RuntimeError: {error}\n  by worker 5") from error

    with pytest.raises(ArgumentError) as told:
        undisclosed("Spark", passed_on, argument="table")
    assert str(told.value) == (
        f"table: a worker of Spark has another source of plandp than this process, which has {own_copy()}, so that "
        "nothing is released; install the same on all workers"
    )
    assert told.value.__context__ is None


@pytest.mark.parametrize("mark", ["", "18ab5c0d7e3f2a10"])
def test_no_cell_can_pass_for_a_worker_of_another_source(mark: str) -> None:
    """Errors of engines hold cells, which could hold what a worker says, but not the mark of this process."""
    with pytest.raises(RuntimeError) as said:
        run_if_same(PlandpCopy(version="9", source="7" * 64), mark, len, "abc")

    def fails() -> None:
        raise ValueError(f"could not convert string to float: '{said.value}'")

    with pytest.raises(ArgumentError, match=r"^data: Dask lost a part of the data or could not read it"):
        undisclosed("Dask", fails)


def test_an_error_that_cannot_be_shown_is_not_shown() -> None:
    class Unshown(Exception):
        def __str__(self) -> str:
            raise ValueError("48.151623")

    def fails() -> None:
        raise Unshown

    with pytest.raises(ArgumentError, match=r"^data: Dask lost a part of the data or could not read it") as told:
        undisclosed("Dask", fails)
    assert told.value.__context__ is None
