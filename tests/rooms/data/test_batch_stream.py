"""Iterables of batches: begun anew in every pass, and what can be gone through only once is refused untouched."""

import io
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.typing import NDArray

import plandp
from plandp.data import batches, streamed_rows
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

TABLE = np.random.default_rng(10).normal(size=(9000, 3))
PARTS = np.array_split(TABLE, [0, 100, 101, 5000])
NAMES = ["a", "b", "c"]


class Anew:
    """An object whose iter() starts anew each time."""

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)


BATCHES: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "arrays": lambda part: part,
    "record batches": lambda part: pyarrow.record_batch(list(part.T.copy()), names=NAMES),
    "arrow tables": lambda part: pyarrow.table(list(part.T.copy()), names=NAMES),
    "pandas": lambda part: pandas.DataFrame(part, columns=NAMES),
    "polars": lambda part: polars.DataFrame(part, schema=NAMES),
}
WAYS: dict[str, Callable[[list[Any]], Any]] = {
    "function": lambda batches: lambda: iter(batches),
    "partial of a generator": lambda batches: partial(generated, batches),
    "object": Anew,
    "list": list,
    "tuple": tuple,
    "deque": deque,
}


def generated(batches: list[Any]) -> Iterator[Any]:
    yield from batches


@pytest.mark.parametrize(
    ("kind", "way", "in_memory"),
    [*((kind, "function", 0) for kind in BATCHES), *(("arrays", way, 0) for way in WAYS), ("pandas", "list", 10**6)],
)
def test_batches_give_the_release_of_the_array(
    kind: str, way: str, in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", in_memory)
    public: dict[str, Any] = {"bounds": (-9, 9), "rho": 1, "testing_seed": 4}
    data = WAYS[way]([BATCHES[kind](part) for part in PARTS])
    release = plandp.mean(data, **public)
    expected = plandp.mean(TABLE, **public)
    assert release.estimate.tobytes() == expected.estimate.tobytes()
    assert release.labels == ((0, 1, 2) if kind == "arrays" else tuple(NAMES))
    assert release.receipt.passes == (expected.receipt.passes if in_memory else 3)  # counted, sample, everything


def test_columns_are_chosen_in_every_batch() -> None:
    frames = [BATCHES["pandas"](PARTS[1]), BATCHES["pandas"](PARTS[4])[["c", "a", "b"]]]
    rows = open_rows(frames, columns=["c", "a"])
    expected = np.concatenate([PARTS[1], PARTS[4]])[:, [2, 0]]
    assert np.array_equal(np.concatenate(list(rows.blocks())), expected)
    with pytest.raises(ArgumentError, match=r"^data: a batch has other columns than the first"):
        open_rows(frames)
    with pytest.raises(ArgumentError, match=r"^columns: the data has no column 'd'"):
        open_rows(frames, columns=["d"])


def reader() -> Any:
    return pyarrow.RecordBatchReader.from_batches(
        BATCHES["record batches"](TABLE).schema, [BATCHES["record batches"](part) for part in PARTS]
    )


def chunks() -> Any:
    text = "a,b,c\n" + "1,2,3\n" * len(TABLE)
    return pytest.importorskip("pandas").read_csv(io.StringIO(text), chunksize=700)


ONCE: dict[str, Callable[[], Any]] = {
    "generator": lambda: generated(PARTS),
    "iterator": lambda: iter(PARTS),
    "map": lambda: map(np.asarray, PARTS),
    "reader": reader,
    "chunks": chunks,
}


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("kind", ONCE)
def test_what_can_be_gone_through_once_is_refused_and_loses_nothing(kind: str, called: bool) -> None:
    once = ONCE[kind]()
    with pytest.raises(ArgumentError, match=r"^data: .*only once"):
        open_rows((lambda: once) if called else once)
    assert sum(len(batch) for batch in once) == len(TABLE)


def test_a_function_that_goes_on_where_it_was_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    once = generated(PARTS[1:])
    with pytest.raises(ArgumentError, match="another number of rows"):
        open_rows(lambda: (batch for batch in once))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (lambda: [], "there is no batch; pass at least one"),
        (lambda path: [], "a function must be one without arguments"),
        (len, "a function must be one without arguments"),
        (partial(generated, [], []), "a function must be one without arguments"),
        (lambda: 7, "the function must return an iterator of batches, not an int"),
        (lambda: "canary", "the function must return an iterator of batches, not a str"),
        (lambda: [[1.0, 2.0]], "a list is no batch; pass arrays of rows × columns"),
        (lambda: [np.ones(3)], "an array that is not two-dimensional is no batch"),
        (lambda: [np.ones((2, 2)), np.ones(2)], "an array that is not two-dimensional is no batch"),
        (lambda: [np.ones((2, 2)), np.ones((2, 3))], "a batch has other columns than the first"),
        (lambda: [np.ones((2, 2)), np.full((2, 2), "canary")], "the array holds text, which is not numeric"),
        (lambda: [np.ones((0, 2))], "a table of 0 rows × 2 columns has no mean"),
        ({"a": [1]}, "a dict is not accepted"),
        ({1, 2}, "a set is not accepted"),
        (range(3), "a range is not accepted"),
        (b"canary", "a bytes is not accepted"),
        (np.ndarray, "a type is not accepted"),
    ],
)
def test_what_holds_no_batches_is_refused(data: Any, problem: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        open_rows(data)
    assert str(caught.value).startswith(f"data: {problem}")
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None


VECTORS: dict[str, Callable[[list[float]], Any]] = {
    "NumPy": np.array,
    "pandas": pandas.Series,
    "index": pandas.Index,
    "pandas array": pandas.array,
    "polars": polars.Series,
    "Arrow": pyarrow.array,
    "Arrow in chunks": lambda row: pyarrow.chunked_array([row]),
    "Python": lambda row: array("d", row),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_a_list_of_vectors_could_be_rows_or_parts_of_a_column(vector: str) -> None:
    rows = TABLE[:5].tolist()
    vectors = [VECTORS[vector](row) for row in rows]
    for listed in (vectors, tuple(vectors), [vectors[0], *rows]):
        with pytest.raises(ArgumentError, match=r"^data: a list of one-dimensional arrays may hold rows, or parts of"):
            open_rows(listed)
    assert np.array_equal(next(open_rows(np.vstack(vectors)).blocks()), TABLE[:5], equal_nan=True)  # as it says
    assert open_rows(np.concatenate(vectors)).d == 1


def test_other_things_in_a_list_are_no_vectors() -> None:
    for item in (np.float64(1), np.eye(2), pandas.DataFrame([[1.0]]), polars.DataFrame({"a": [1.0]}), np.array(1.0)):
        with pytest.raises(ArgumentError, match=r"^data: a list must hold rows of equal length"):
            open_rows([item, [1.0, 2.0, 3.0]])
    with pytest.raises(ArgumentError, match=r"^data: a list must hold rows of equal length"):
        open_rows([pyarrow.table({"a": [1.0]}), [1.0, 2.0, 3.0]])


def test_what_an_iterable_raises_is_raised() -> None:
    def broken() -> Iterator[Any]:
        yield PARTS[4]
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError, match="lost"):
        open_rows(broken)


def test_batches_of_items_are_sparse_rows() -> None:
    """kind="binary" goes through batches as through any other table."""
    table = (np.random.default_rng(3).random((400, 6)) < 0.3).astype(float)
    public: dict[str, Any] = {"kind": "binary", "rho": 1, "testing_seed": 4}
    release = plandp.mean([table[:150], table[150:]], **public)
    assert release.estimate.tobytes() == plandp.mean(table, **public).estimate.tobytes()


def column_sums(block: NDArray[np.float64], /) -> tuple[NDArray[np.int64], ...]:
    return (np.rint(block * 2.0**20).astype(np.int64).sum(axis=0),)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [7, 256, 300, 4500])
def test_an_owner_may_fill_the_same_memory_again(size: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that wait for a block to be whole must not become those of the next batch: they would count many times."""
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 256 * 3)

    def refilled() -> Iterator[NDArray[np.float64]]:
        memory = np.empty((size, 3))
        for first in range(0, len(TABLE), size):
            part = TABLE[first : first + size]
            memory[: len(part)] = part
            yield memory[: len(part)]

    rows = open_rows(refilled, threads=threads)
    assert rows.fold(column_sums)[0].tolist() == column_sums(TABLE)[0].tolist()
    chosen = np.arange(3, len(TABLE), 5)
    assert rows.sample(chosen).fold(column_sums)[0].tolist() == column_sums(TABLE[chosen])[0].tolist()
