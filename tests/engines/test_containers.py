"""One body, every container: the same numbers give the same bits, and nothing else of it shows."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from plandp.data import blocks
from plandp.data.open import open_rows
from plandp.data.rows import FloatBlock, Sums

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

Cells = list[list[Any]]  # rows of numbers and None

TOP = 2**53 + 1  # the first integer that float64 rounds


@dataclass(frozen=True)
class Fingerprint:
    """Exact integer sums of the bit patterns of each column, and of a square that ties the cells of a row."""

    def __call__(self, block: FloatBlock, /) -> Sums:
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        assert block.flags.aligned
        patterns = np.where(np.isnan(block), np.nan, block).view(np.int64).astype(object)
        weights = np.arange(1, block.shape[1] + 1).astype(object)
        return patterns.sum(axis=0), ((patterns * weights).sum(axis=1) ** 2).sum(keepdims=True)


@dataclass(frozen=True)
class Patterns:
    """The bit patterns of a table that is one block."""

    def __call__(self, block: FloatBlock, /) -> Sums:
        return (np.where(np.isnan(block), np.nan, block).view(np.int64),)


def as_array(cells: Cells, dtype: Any) -> NDArray[Any]:
    return np.array([[np.nan if cell is None else cell for cell in row] for row in cells], dtype=dtype)


def transposed(cells: Cells) -> dict[str, list[Any]]:
    return {f"c{position}": list(column) for position, column in enumerate(zip(*cells, strict=True))}


def strided(array: NDArray[Any]) -> NDArray[Any]:
    bigger = np.full((2 * array.shape[0], 3 * array.shape[1]), 77).astype(array.dtype)
    bigger[::-2, 1::3] = array
    return bigger[::-2, 1::3]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array: NDArray[Any]) -> NDArray[Any]:
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def chunked(cells: Cells, dtype: Any) -> Any:
    columns = {
        name: pyarrow.chunked_array([pyarrow.array(column[:2], dtype), pyarrow.array(column[2:], dtype)])
        for name, column in transposed(cells).items()
    }
    return pyarrow.table(columns)


def batch(cells: Cells, dtype: Any) -> Any:
    columns = transposed(cells)
    return pyarrow.record_batch([pyarrow.array(c, dtype) for c in columns.values()], names=list(columns))


def nullable(cells: Cells, dtype: str) -> Any:
    return pandas.DataFrame({name: pandas.array(c, dtype=dtype) for name, c in transposed(cells).items()})


def arrow_backed(cells: Cells, dtype: Any) -> Any:
    return nullable(cells, pandas.ArrowDtype(dtype))


def half_nullable(cells: Cells, dtype: str) -> Any:
    """The first column of a NumPy dtype, the others nullable."""
    frame = nullable(cells, dtype)
    return frame.assign(c0=as_array(cells, np.float64)[:, 0])


def polars_frame(cells: Cells, dtype: Any) -> Any:
    return polars.DataFrame({name: polars.Series(c, dtype=dtype) for name, c in transposed(cells).items()})


Build = Callable[[Cells], Any]

ARRAYS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "C": lambda array: array,
    "F": np.asfortranarray,
    "read-only": read_only,
    "strided": strided,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "unaligned": unaligned,
    "pandas": pandas.DataFrame,
    "pandas by column": lambda array: pandas.DataFrame({i: array[:, i].copy() for i in range(array.shape[1])}),
}


def of_dtype(dtype: Any) -> dict[str, Build]:
    def build(name: str) -> Build:
        return lambda cells: ARRAYS[name](as_array(cells, dtype))

    return {f"{np.dtype(dtype).name} {name}": build(name) for name in ARRAYS}


def of_types(arrow: Any, masked: str, other: Any) -> dict[str, Build]:
    """The containers that know nulls."""
    return {
        f"arrow table {arrow}": lambda cells: chunked(cells, arrow),
        f"arrow batch {arrow}": lambda cells: batch(cells, arrow),
        f"pandas on arrow {arrow}": lambda cells: arrow_backed(cells, arrow),
        f"pandas {masked}": lambda cells: nullable(cells, masked),
        f"polars {other}": lambda cells: polars_frame(cells, other),
    }


FLOAT64 = {
    **of_dtype(np.float64),
    **of_types(pyarrow.float64(), "Float64", polars.Float64),
    "pandas half nullable": lambda cells: half_nullable(cells, "Float64"),
    "longdouble": lambda cells: as_array(cells, np.longdouble),
    "list": lambda cells: cells,
}
FLOAT32 = {**of_dtype(np.float32), **of_types(pyarrow.float32(), "Float32", polars.Float32)}
FLOAT16 = {
    "float16": lambda cells: as_array(cells, np.float16),
    "arrow halffloat": lambda cells: chunked(
        [[None if c is None else np.float16(c) for c in row] for row in cells], pyarrow.float16()
    ),
}
INT64 = {
    **of_dtype(np.int64),
    **of_types(pyarrow.int64(), "Int64", polars.Int64),
    "list": lambda cells: cells,
}
UINT64 = {**of_dtype(np.uint64), **of_types(pyarrow.uint64(), "UInt64", polars.UInt64)}
INT8 = {**of_dtype(np.int8), **of_types(pyarrow.int8(), "Int8", polars.Int8)}
BOOL = {
    **of_dtype(np.bool),
    **of_types(pyarrow.bool_(), "boolean", polars.Boolean),
    "list": lambda cells: cells,
}

DECIMAL = {
    "arrow table decimal128": lambda cells: chunked(cells, pyarrow.decimal128(30, 10)),
    "arrow batch decimal256": lambda cells: batch(cells, pyarrow.decimal256(60, 20)),
    "pandas on arrow decimal128": lambda cells: arrow_backed(cells, pyarrow.decimal128(38, 12)),
    "polars Decimal": lambda cells: polars_frame(cells, polars.Decimal(38, 10)),
}

KNOWS_NULL = ("arrow", "polars", "pandas Int64", "pandas UInt64", "pandas Int8", "pandas boolean", "list")

WILD: Cells = [
    [0.0, -0.0, 1.5],
    [float("nan"), float("inf"), float("-inf")],
    [1.7e308, 5e-324, -1.7e308],
    [0.1, 1 / 3, -(2.0**-1074)],
    [None, 3.0, None],
]
SINGLE: Cells = [
    [0.0, -0.0, float(np.float32(0.1))],
    [float("nan"), float("inf"), float("-inf")],
    [2.0**127, 2.0**-149, -(2.0**-126)],
    [None, 3.0, None],
]
HALF: Cells = [
    [0.5, -0.0, 65504.0],
    [float("nan"), None, float("-inf")],
    [2.0**-24, 1.0, None],
    [2.0, 3.0, 4.0],
]
LONG: Cells = [[TOP, -TOP, 3], [2**63 - 1, -(2**63), 0], [TOP + 2, 1, 2**62 + 2**8 + 1]]
UNSIGNED: Cells = [[TOP, 2**64 - 1, 3], [2**63, 0, 2**63 + 2**10 + 1], [1, 2, 3]]
SMALL: Cells = [[-128, 127, 0], [1, 2, 3], [4, 5, 6]]
MONEY: Cells = [
    [Decimal("0.07"), Decimal("-1234567890123456.78"), Decimal("1.15")],
    [Decimal("0.0000000001"), None, Decimal("9007199254740993")],
    [None, Decimal("-0.29"), Decimal("73.4900000001")],
]
BITS: Cells = [[True, False, True], [False, False, True], [True, True, True]]


def with_nulls(cells: Cells) -> Cells:
    return [[None if (i + j) % 3 == 0 else cell for j, cell in enumerate(row)] for i, row in enumerate(cells)]


def cases() -> Sequence[Any]:
    listed = []
    for kind, cells, builds in (
        ("wild", WILD, FLOAT64),
        ("single", SINGLE, FLOAT32),
        ("half", HALF, FLOAT16),
        ("long", LONG, INT64),
        ("unsigned", UNSIGNED, UINT64),
        ("small", SMALL, INT8),
        ("bits", BITS, BOOL),
        ("money", MONEY, DECIMAL),
    ):
        for name, build in builds.items():
            listed.append(pytest.param(cells, build, id=f"{kind}: {name}"))
            if cells[0][0] is not None and isinstance(cells[0][0], int) and name.startswith(KNOWS_NULL):
                listed.append(pytest.param(with_nulls(cells), build, id=f"{kind} with nulls: {name}"))
    return listed


def expected(cells: Cells) -> FloatBlock:
    """Each cell converted alone, by Python."""
    return np.array([[np.nan if cell is None else float(cell) for cell in row] for row in cells])


@pytest.mark.parametrize("values_per_block", [1, 4, 6, 2**20])
@pytest.mark.parametrize(("cells", "build"), cases())
def test_the_same_numbers_give_the_same_bits(
    cells: Cells, build: Build, values_per_block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = Fingerprint()(expected(cells))
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", values_per_block)
    rows = open_rows(build(cells))
    with np.errstate(all="raise"):
        sums = rows.fold(Fingerprint())
        every_other = rows.sample(np.arange(0, len(cells), 2)).fold(Fingerprint())
    assert [part.tolist() for part in sums] == [part.tolist() for part in reference]
    part_reference = Fingerprint()(expected(cells[::2]))
    assert [part.tolist() for part in every_other] == [part.tolist() for part in part_reference]


def contents(data: Any) -> bytes:
    """Every byte of a container."""
    if isinstance(data, list):
        return repr(data).encode()
    if isinstance(data, np.ndarray):
        whole = data if data.base is None else data.base
        return whole.tobytes() + str((data.shape, data.strides, data.dtype, data.flags)).encode()
    if isinstance(data, pandas.DataFrame):
        data = pyarrow.Table.from_pandas(data)
    elif isinstance(data, polars.DataFrame):
        data = data.to_arrow()
    file = io.BytesIO()
    with pyarrow.ipc.new_stream(file, data.schema) as writer:
        writer.write(data)
    return file.getvalue()


@pytest.mark.parametrize(("cells", "build"), cases())
def test_reading_changes_nothing(cells: Cells, build: Build) -> None:
    data = build(cells)
    if getattr(data, "dtype", None) == np.longdouble:
        before = data.copy()
        open_rows(data).fold(Fingerprint())
        assert np.array_equal(before, data, equal_nan=True)  # its padding bytes are not its own
        return
    before_bytes = contents(data)
    rows = open_rows(data)
    rows.fold(Fingerprint())
    rows.sample(np.array([0, 1])).fold(Fingerprint())
    assert contents(data) == before_bytes


ints = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5))
floats = st.floats()


@settings(max_examples=40, deadline=None)
@given(
    rest=st.lists(st.tuples(st.one_of(st.none(), ints)), min_size=3, max_size=6),
    one=st.one_of(st.none(), ints),
    other=st.one_of(st.none(), ints),
)
@pytest.mark.parametrize("name", [name for name in INT64 if name.startswith(KNOWS_NULL)])
def test_one_integer_row_never_changes_how_the_others_are_read(
    name: str, rest: list[tuple[Any]], one: Any, other: Any
) -> None:
    check_others(INT64[name], rest, one, other)


@settings(max_examples=40, deadline=None)
@given(
    rest=st.lists(st.tuples(st.one_of(st.none(), floats)), min_size=3, max_size=6),
    one=st.one_of(st.none(), floats),
    other=st.one_of(st.none(), floats),
)
@pytest.mark.parametrize("name", list(FLOAT64))
def test_one_float_row_never_changes_how_the_others_are_read(
    name: str, rest: list[tuple[Any]], one: Any, other: Any
) -> None:
    check_others(FLOAT64[name], rest, one, other)


def check_others(build: Build, rest: list[tuple[Any]], one: Any, other: Any) -> None:
    tail = [[cell] for (cell,) in rest]
    (first,) = open_rows(build([[one], *tail])).fold(Patterns())
    (second,) = open_rows(build([[other], *tail])).fold(Patterns())
    assert first[1:].tolist() == second[1:].tolist()
    assert first[1:].tolist() == Patterns()(expected(tail))[0].tolist()
