"""Columns of Arrow become float64, each value on its own: the same as Arrow's own conversion makes of them."""

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plandp
from plandp.data import arrow_table, blocks, side_by_side, streamed_rows
from plandp.data.arrow_numbers import arrow_floats, arrow_numbers, refuse_damaged, write_floats
from plandp.data.open import open_rows
from plandp.kernels.norm_cells import add_up_cells
from plandp.mechanisms import norm_cells

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 1_003
WHOLE = {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
FLOATS = {f"float{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)}


def values(kind: str) -> Any:
    """Random numbers of a type among its awkward ones."""
    rng = np.random.default_rng(len(kind))
    if kind == "bool":
        return rng.random(N) < 0.3
    if kind in WHOLE:
        ends = np.iinfo(WHOLE[kind])
        drawn = rng.integers(ends.min, ends.max, N, WHOLE[kind], endpoint=True)
        drawn[:5] = ends.max, ends.min, ends.max - 1, 0, 1  # 2**63 - 1 and others are no float64
        return drawn
    drawn = rng.normal(0, 100, N).astype(FLOATS[kind])
    drawn[:7] = (
        np.nan,
        np.inf,
        -np.inf,
        -0.0,
        0.0,
        np.finfo(FLOATS[kind]).max,
        np.finfo(FLOATS[kind]).smallest_subnormal,
    )
    return drawn


def columns(kind: str) -> dict[str, Any]:
    """The same values as Arrow may hold them."""
    drawn, rng = values(kind), np.random.default_rng(1)
    plain, some = pa.array(drawn), pa.array(drawn, mask=rng.random(N) < 0.3)
    return {
        "plain": plain,
        "with nulls": some,
        "all nulls": pa.array(drawn, mask=np.ones(N, bool)),
        "nulls alone": pa.nulls(N, plain.type),
        "a slice": plain.slice(3, N - 13),
        "a slice with nulls": some.slice(13, N - 29),
        "a slice without nulls of what has some": pa.concat_arrays([some, plain]).slice(N + 5, 900),
        "nothing": some.slice(7, 0),
        "chunks": pa.chunked_array([some.slice(0, 11), plain, some.slice(5, 0), some.slice(9)]),
        "no chunks": pa.chunked_array([], plain.type),
    }


def of_each_value(column: Any) -> list[float]:
    """What each value is by itself, as Python has it."""
    return [np.nan if value is None else float(value) for value in column.to_pylist()]


@pytest.mark.parametrize("kind", ["bool", *WHOLE, *FLOATS])
def test_values_of_any_type_are_converted_each_by_itself(kind: str) -> None:
    for column in columns(kind).values():
        floats = np.full(len(column) + 2, 7.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            write_floats(column, floats[1:-1])
            assert arrow_floats(column).dtype == np.float64
        wanted = np.array(of_each_value(column), np.float64)
        np.testing.assert_array_equal(floats[1:-1], wanted)
        np.testing.assert_array_equal(np.signbit(floats[1:-1])[wanted == 0], np.signbit(wanted)[wanted == 0])
        absent = np.array([value is None for value in column.to_pylist()], bool)
        assert floats[1:-1][absent].tobytes() == np.full(absent.sum(), np.nan).tobytes()
        assert floats[0] == floats[-1] == 7.0
        np.testing.assert_array_equal(arrow_floats(column), wanted)
        np.testing.assert_array_equal(arrow_numbers(column).astype(np.float64), wanted)


@pytest.mark.parametrize("chunked", [False, True])
def test_decimals_are_rounded_once(chunked: bool) -> None:
    stored = [Decimal("0.1"), None, Decimal("-12345678901234567.8"), Decimal("9007199254740993.0")]
    column = pa.array(stored, pa.decimal128(30, 1))
    found = np.zeros(4)
    write_floats(pa.chunked_array([column]) if chunked else column, found)
    np.testing.assert_array_equal(found, [0.1, np.nan, -12345678901234567.8, 9007199254740993.0])
    empty = np.zeros(3)
    write_floats(pa.nulls(3, pa.null()), empty)
    assert np.isnan(empty).all()


def test_a_nan_that_signals_does_not_warn() -> None:
    signalling = np.array([0x7F800001] * 40, np.uint32).view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(arrow_floats(pa.array(signalling))).all()
        assert np.isnan(arrow_floats(pa.array(signalling, mask=np.arange(40) % 2 == 0))).all()


def test_a_batch_that_counts_its_nulls_wrongly_is_refused() -> None:
    """Values are masked where it says that there are nulls."""
    values = pa.array(np.arange(16.0)).buffers()[1]
    valid = pa.py_buffer(np.packbits([1] * 10 + [0] * 6, bitorder="little"))
    for nulls in (5, 7):
        column = pa.Array.from_buffers(pa.float64(), 16, [valid, values], nulls)
        with pytest.raises(pa.ArrowInvalid):
            refuse_damaged(pa.record_batch([column], names=["x"]))
    refuse_damaged(pa.record_batch([pa.Array.from_buffers(pa.float64(), 16, [valid, values], 6)], names=["x"]))


def table(kind: str, n: int, d: int) -> Any:
    """Columns of one type, or of several, that are not float64 as they lie."""
    rng = np.random.default_rng(5)
    absent = rng.random((d, n)) < 0.1
    made = {
        "whole": lambda place: pa.array(rng.integers(-50, 50, n)),
        "flags": lambda place: pa.array(rng.random(n) < 0.4),
        "float32": lambda place: pa.array(rng.normal(0, 9, n).astype(np.float32)),
        "nulls": lambda place: pa.array(rng.normal(0, 9, n), mask=absent[place]),
    }
    kinds = list(made) if kind == "mixed" else [kind]
    return pa.table({f"c{place}": made[kinds[place % len(kinds)]](place) for place in range(d)})


@pytest.mark.parametrize("names", [None, ["c3", "c1", "c6"]])
@pytest.mark.parametrize("kind", ["whole", "flags", "float32", "nulls", "mixed"])
def test_converted_columns_give_the_release_of_the_rows(
    kind: str, names: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = table(kind, 6_500, 8)
    parquet.write_table(made, tmp_path / "t.parquet", row_group_size=1_900)
    with pa.ipc.new_stream(tmp_path / "t.arrows", made.schema) as file:
        file.write_table(made, 2_100)
    rows = np.array([arrow_floats(made[name]) for name in names or made.column_names]).T

    def release(data: Any, **which: Any) -> bytes:
        found = plandp.mean(data, bounds=(-60, 60), rho=1.0, testing_seed=3, missing=0.0, **which)
        return found.estimate.tobytes()

    wanted = release(rows)
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(side_by_side, "COMPILED", 1)
    monkeypatch.setattr(streamed_rows.sources, "VALUES_AT_A_TIME", 500 * 8)
    looped: list[int] = []
    compiled = norm_cells.compiled

    def told(loop: Any) -> Any:
        run = compiled(loop)
        return run if loop is not add_up_cells else lambda block, *rest: (looped.append(len(block)), run(block, *rest))

    monkeypatch.setattr(norm_cells, "compiled", told)
    sources = {
        "Parquet": tmp_path / "t.parquet",
        "stream": tmp_path / "t.arrows",
        "batches": lambda: iter(made.to_batches(1_700)),
    }
    for source in sources.values():
        looped.clear()
        assert release(source, columns=names) == wanted
        assert sum(looped) == 3 * 4_096  # three looks at the sample: the sum is over columns


def test_what_holds_lists_or_is_small_is_not_converted() -> None:
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(12, dtype=np.int32)), 3)
    for held, converts in (
        (pa.table({"x": lists}), False),
        (table("whole", 40, 3), False),
        (table("whole", 90_000, 3), True),
    ):
        opened = arrow_table.open_arrow(held, None)
        assert opened is not None
        assert (blocks.converter_of(opened) is not None) == converts
    assert blocks.converter_of(open_rows(np.ones((3, 2))).table) is None  # type: ignore[attr-defined]  # rows of a table
