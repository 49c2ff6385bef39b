"""Decimals: each becomes the nearest float64 on its own, and none can raise, not even one that breaks its own type."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plandp
from plandp.data import arrow_file, batches, streamed_rows
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
from pyarrow import feather, ipc, parquet  # noqa: E402

pytestmark = pytest.mark.usefixtures("own_folder")


def some(precision: int, scale: int) -> list[Decimal]:
    """Decimals of every length that the type allows."""
    rng = np.random.default_rng(precision)
    digits = ["".join(map(str, rng.integers(0, 10, length))) for length in range(1, precision + 1)] * 20
    return [Decimal(f"{sign}{text}E-{scale}") for text in digits for sign in ("", "-")]


def stream(table: Any, name: str) -> None:
    with ipc.new_stream(name, table.schema) as sink:
        sink.write_table(table)


WRITERS = {"t.parquet": parquet.write_table, "t.feather": feather.write_feather, "t.arrows": stream}


@pytest.mark.parametrize(
    "dtype",
    [pyarrow.decimal128(5, 2), pyarrow.decimal128(18, 18), pyarrow.decimal128(38, 10), pyarrow.decimal256(76, 30)],
    ids=str,
)
def test_each_becomes_the_nearest_float(dtype: Any) -> None:
    cells = some(dtype.precision, dtype.scale)
    table = pyarrow.table({"x": pyarrow.array(cells, dtype)})
    sources: list[object] = [table]
    if dtype.precision <= 38:
        sources.append(polars.from_arrow(table))
    for name, write in WRITERS.items():
        write(table, name)
        sources.append(name)
    expected = np.array([float(cell) for cell in cells])
    for source in sources:
        assert np.concatenate(list(open_rows(source).blocks()))[:, 0].tobytes() == (expected + 0.0).tobytes()


@pytest.mark.parametrize("name", [None, *WRITERS])
def test_more_digits_than_declared_are_a_value_like_any_other(name: str | None) -> None:
    raw = np.array([2**23 - 1, 0, 7, 0], np.uint64)  # as many digits as fit into the bytes of a file, and 0.07
    broken = pyarrow.Array.from_buffers(pyarrow.decimal128(5, 2), 2, [None, pyarrow.py_buffer(raw.tobytes())])
    table = pyarrow.table({"x": broken, "user": [1, 2], "page": ["a", "a"]})
    if name is not None:
        WRITERS[name](table, name)
    source: Any = table if name is None else name
    assert next(open_rows(source, columns=["x"]).blocks())[:, 0].tolist() == [83886.07, 0.07]
    assert plandp.mean_of_events(
        source, person="user", item="page", items=["a"], people=2, measure="x", bounds=(0, 1), rho=1
    ).labels == ("a",)


LISTS = {"fixed": lambda held: pyarrow.list_(held, 2), "loose": pyarrow.list_, "large": pyarrow.large_list}


@pytest.mark.parametrize("lists", LISTS)
@pytest.mark.parametrize("name", [None, *WRITERS])
def test_lists_hold_decimals_too_and_broken_ones(name: str | None, lists: str) -> None:
    raw = np.array([2**23 - 1, 0, 7, 0, 5, 0, 100, 0], np.uint64)
    broken = pyarrow.Array.from_buffers(pyarrow.decimal128(5, 2), 4, [None, pyarrow.py_buffer(raw.tobytes())])
    if lists == "fixed":
        column = pyarrow.FixedSizeListArray.from_arrays(broken, 2)
    else:
        kind = pyarrow.LargeListArray if lists == "large" else pyarrow.ListArray
        column = kind.from_arrays([0, 2, 4], broken)
    assert column.type == LISTS[lists](pyarrow.decimal128(5, 2))
    table = pyarrow.table({"x": column})
    if name is not None:
        WRITERS[name](table, name)
    rows = open_rows(table if name is None else name, columns=["x[0]", "x[1]"])
    assert np.concatenate(list(rows.blocks())).tolist() == [[83886.07, 0.07], [0.05, 1.0]]


@pytest.mark.parametrize("lists", LISTS)
@pytest.mark.parametrize("held", [pyarrow.decimal128(5, 2), pyarrow.decimal256(50, 2)], ids=str)
def test_lists_of_decimals_are_read_in_pieces(held: Any, lists: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_file, "LARGE", 0)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 20)
    cells = [None if row % 7 == 0 else [Decimal(row), Decimal(row) / 4] for row in range(100)]
    feather.write_feather(pyarrow.table({"x": pyarrow.array(cells, LISTS[lists](held))}), "t.feather")
    found = np.concatenate(list(open_rows("t.feather", columns=[1, 0]).blocks()))
    expected = [[np.nan] * 2 if row % 7 == 0 else [row / 4, row] for row in range(100)]
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("dtype", [pyarrow.decimal128(5, -2), pyarrow.decimal128(5, 7)], ids=str)
def test_other_scales_are_refused_by_their_type(dtype: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^data: column 'x' has dtype decimal128\(5, .*which is not numeric"):
        open_rows(pyarrow.table({"x": pyarrow.nulls(3, dtype)}))


def test_of_a_damaged_file_nothing_is_read() -> None:
    parquet.write_table(pyarrow.table({"x": pyarrow.array(some(18, 2), pyarrow.decimal128(18, 2))}), "t.parquet")
    whole = Path("t.parquet").read_bytes()
    Path("t.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArgumentError, match=r"^data: the file 't.parquet' is cut off, damaged"):
        open_rows("t.parquet")
