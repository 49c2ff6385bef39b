"""Row numbers: by position, by a column, or none; the same rows and numbers give the same bits wherever rows lie."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest

import plandp
from plandp.data import streamed_rows
from plandp.data.numbered_rows import NumberedRows
from plandp.data.open import open_rows
from plandp.data.rows import Sums
from plandp.methods import NAMES

N = 12_000
RNG = np.random.default_rng(7)
TABLE = RNG.normal([3.0, -40.0, 0.0], [1.0, 15.0, 4.0], (N, 3))
ORDER = RNG.permutation(N)
FINE: dict[str, Any] = {"bounds": (-500, 500), "smallest_spread": 0.25, "rho": 0.5, "testing_seed": 5}
UNORDERED = [name for name in NAMES if name != "plan-classic"]


def shuffled(label_first: bool) -> pandas.DataFrame:
    """The table in another order, its numbers in a column between the others or behind them."""
    frame = pandas.DataFrame(TABLE, columns=["a", "b", "c"])[["a", "b", "c"]]
    frame.insert(1 if label_first else 3, "number", np.arange(N))
    return frame.iloc[ORDER].reset_index(drop=True)


def bits(release: plandp.MeanRelease) -> tuple[bytes, ...]:
    return release.estimate.tobytes(), release.noise_std.tobytes(), release.center.tobytes()


@pytest.mark.parametrize("method", UNORDERED)
def test_a_column_of_numbers_is_as_good_as_the_order(method: str) -> None:
    by_position = plandp.mean(TABLE, method=method, **FINE)
    for label_first in (True, False):
        by_column = plandp.mean(shuffled(label_first), method=method, row_index="number", **FINE)
        assert bits(by_column) == bits(by_position)
        assert by_column.labels == ("a", "b", "c")


@pytest.mark.parametrize("method", UNORDERED)
def test_rows_without_numbers_have_no_order(method: str) -> None:
    releases = [
        plandp.mean(table, method=method, row_index=False, **FINE) for table in (TABLE, TABLE[ORDER], TABLE[::-1])
    ]
    assert len({bits(release) for release in releases}) == 1


def test_without_numbers_all_rows_are_read() -> None:
    """The sample of 4,096 rows is another set: other bits, from another split of the budget."""
    assert bits(plandp.mean(TABLE, row_index=False, **FINE)) != bits(plandp.mean(TABLE, **FINE))


def test_columns_and_bounds_choose_beside_the_numbers() -> None:
    expected = plandp.mean(TABLE[:, [2, 0]], **FINE)
    frame = shuffled(True)
    assert bits(plandp.mean(frame, columns=["c", "a"], row_index="number", **FINE)) == bits(expected)
    bounds = {"bounds": {"c": (-500, 500), "a": (-500, 500)}}
    named = plandp.mean(frame, row_index="number", **(FINE | bounds))
    assert named.labels == ("a", "c")
    assert bits(named) == bits(plandp.mean(TABLE[:, [0, 2]], **FINE))
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: 'a' is a column to release"):
        plandp.mean(frame, row_index="a", **(FINE | bounds))


@pytest.mark.parametrize("columns", [None, ["a"], {"a"}, {"a": 1}.keys()])
def test_an_unknown_column_of_numbers_is_refused(columns: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the data has no column 'id'; its columns are 'a'"):
        plandp.mean(shuffled(True), columns=columns, row_index="id", **FINE)


def test_a_number_of_numpy_names_a_column_too() -> None:
    numbered = np.column_stack([TABLE[ORDER], ORDER])
    assert bits(plandp.mean(numbered, row_index=np.int64(3), **FINE)) == bits(plandp.mean(TABLE, **FINE))
    for wrong in (True, np.True_, 3.0, np.array([3]), 2**200):
        with pytest.raises(plandp.ArgumentError, match=r"^row_index: must be the name of the column"):
            plandp.mean(numbered, row_index=wrong, **FINE)


@pytest.mark.parametrize("columns", [None, ["a"]])
def test_numbers_of_another_type_are_refused_as_such(columns: Any) -> None:
    frame = shuffled(True)
    for wrong in (frame["number"].astype(str), pandas.to_datetime(frame["number"])):
        with pytest.raises(
            plandp.ArgumentError, match=r"^row_index: column 'number' has dtype .*; row numbers are 0, 1"
        ):
            plandp.mean(frame.assign(number=wrong), columns=columns, row_index="number", **FINE)


def test_a_table_of_numbers_alone_is_refused() -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^data: there is no column but that of the row numbers"):
        plandp.mean(shuffled(True)[["number"]], row_index="number", **FINE)


def test_nothing_is_released_of_rows_that_are_not_numbered(tmp_path: Any) -> None:
    frame = shuffled(False)
    frame.loc[frame["number"] == N - 1, "number"] = 0
    insecure = {name: value for name, value in FINE.items() if name != "testing_seed"}
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("d", rho=1)
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each"):
        plandp.mean(frame, row_index="number", ledger=ledger, dataset="d", **insecure)
    assert ledger.status("d").left == 1  # of a table in memory public numbers are checked before it is spent
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each"):
        plandp.mean(tmp_path / "t.csv", row_index="number", ledger=ledger, dataset="d", **insecure)
    assert ledger.status("d").left == Fraction(1, 2)  # rows were read: what was reserved stays spent


def from_one(numbers: np.ndarray) -> None:
    numbers += 1


def one_twice(numbers: np.ndarray) -> None:
    numbers[numbers == 17] = 9_000


def one_missing(numbers: np.ndarray) -> None:
    numbers[numbers == N - 1] = np.nan


def one_fraction(numbers: np.ndarray) -> None:
    numbers[numbers == 17] = 17.5


def two_for_two(numbers: np.ndarray) -> None:
    numbers[numbers == 17] = 18
    numbers[numbers == 20] = 19  # the same sum


WRONG = [from_one, one_twice, one_missing, one_fraction, two_for_two]

PLACES: dict[str, Callable[[pandas.DataFrame], object]] = {
    "pandas": lambda frame: frame,
    "array": lambda frame: frame.to_numpy(),
    "list": lambda frame: frame.to_numpy().tolist(),
    "arrow": pyarrow.Table.from_pandas,
    "polars": lambda frame: polars.DataFrame({name: frame[name].to_numpy() for name in frame}),
    "file": lambda frame: written(frame),
    "batches": lambda frame: [frame.iloc[:5_000], frame.iloc[5_000:5_001], frame.iloc[5_001:]],
}


def written(frame: pandas.DataFrame) -> Path:
    path = Path("numbered.parquet").resolve()
    frame.to_parquet(path)
    return path


@pytest.mark.parametrize("spoil", WRONG)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("held", [True, False])
def test_wrong_numbers_are_always_seen(
    place: str, spoil: Callable[[np.ndarray], None], held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever sample is drawn, and also where none is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 2**25 if held else 0)
    frame = shuffled(False)
    numbers = frame["number"].to_numpy(np.float64, copy=True)
    spoil(numbers)
    data, label = PLACES[place](frame.assign(number=numbers)), 3 if place in ("array", "list") else "number"
    for method in ("plan", "gaussian"):
        with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each"):
            plandp.mean(data, row_index=label, method=method, **FINE)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("held", [True, False])
def test_right_numbers_are_taken_and_checked_in_no_pass_of_their_own(
    place: str, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 2**25 if held else 0)
    # between the others: whatever else were looked at would be wrong
    data, label = PLACES[place](shuffled(True)), 1 if place in ("array", "list") else "number"
    for method in ("plan", "gaussian"):
        release = plandp.mean(data, row_index=label, method=method, **FINE)
        assert bits(release) == bits(plandp.mean(TABLE, method=method, **FINE))
    counted = place == "batches" and not held
    assert release.receipt.passes == 1 + counted  # of the Gaussian mechanism


@pytest.mark.parametrize("kind", ["binary", "nonnegative"])
def test_items_have_no_row_numbers(kind: str) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: is for kind='real' only"):
        plandp.mean(np.eye(4), kind=kind, bounds=(0, 1), rho=1, row_index=False)


def rows_of(block: np.ndarray) -> Sums:
    """The first column of every row, as a sum of its powers: which rows they are, whatever their order."""
    first = np.rint(block[:, 0]).astype(object)
    return (np.array([(first**power).sum() for power in range(4)], dtype=object),)


def test_samples_of_samples_go_by_number() -> None:
    values = np.arange(100.0)
    plain = open_rows(np.column_stack([values, values]))
    order = np.random.default_rng(1).permutation(100)
    numbered = open_rows(np.column_stack([values, values, values])[order], row_index=2)
    chosen = np.array([0, 3, 4, 50, 77, 98, 99])
    for indices in (np.array([0, 2, 4, 6]), np.array([1, 5])):
        expected = plain.sample(chosen).sample(indices).fold(rows_of)
        assert numbered.sample(chosen).sample(indices).fold(rows_of)[0].tolist() == expected[0].tolist()
    assert (numbered.passes, numbered.numbered, numbered.ordered) == (2, True, False)


def test_a_number_that_occurs_twice_in_a_sample_is_never_counted_twice() -> None:
    numbers = np.arange(100.0)
    numbers[60] = 3.0
    table = np.column_stack([np.ones(100), numbers])
    with pytest.raises(plandp.ArgumentError, match=r"^row_index"):
        open_rows(table, row_index=1)
    unseen = NumberedRows(open_rows(table), index=1, checked=True)
    with pytest.raises(plandp.ArgumentError, match=r"^row_index"):
        unseen.sample(np.array([1, 3, 7]))
    (found,) = unseen.sample(np.array([1, 2, 7])).fold(rows_of)
    assert found[0] == 3


def test_numbers_that_are_read_block_by_block_are_checked_too() -> None:
    table = np.column_stack([np.ones(100), np.arange(100.0)])
    rows = NumberedRows(open_rows(table), index=1)
    assert sum(map(len, rows.blocks())) == 100
    table[60, 1] = 3.0
    assert sum(map(len, rows.blocks())) == 100  # once is enough: they were right
    wrong = NumberedRows(open_rows(table), index=1)
    for read in (wrong.blocks, wrong.blocks, lambda: wrong.fold(rows_of), lambda: wrong.sample(np.array([1, 2, 7]))):
        with pytest.raises(plandp.ArgumentError, match=r"^row_index"):
            list(read())  # each time: a check that failed is no check that was made


def test_row_numbers_cost_no_passes_where_the_sample_is_all_rows() -> None:
    table = pandas.DataFrame(np.random.default_rng(2).normal(5.0, 1.0, (800, 2)), columns=["a", "b"])
    fine = {"bounds": (0, 10), "rho": 1, "testing_seed": 3}  # lattices too fine to be tallied
    without = plandp.mean(table, row_index=False, **fine)
    numbered = plandp.mean(table.assign(number=np.arange(800)[::-1].copy()), row_index="number", **fine)
    assert numbered.estimate.tobytes() == without.estimate.tobytes()
    assert numbered.receipt.passes == without.receipt.passes <= 5
