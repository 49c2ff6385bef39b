"""Neighbouring tables in every container: two that differ in one row, which holds anything that its container can."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from plandp_lab.fuzz.canary import CANARY, CANARY_TEXT
from plandp_lab.fuzz.values import (
    NUMERIC_DTYPES,
    OTHER_DTYPES,
    Draw,
    floats,
    integers,
    numbers,
    numpy_cells,
    one_in,
    texts,
    valid_texts,
)


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ in one row, and the labels of their columns; `one is other` where there is one alone."""

    one: Any
    other: Any
    labels: tuple[Any, ...]


def numeric(draw: Draw, dtype: str, most_rows: int = 12) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two arrays of a dtype that differ in one row."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, 4))
    one = draw(numpy_cells(dtype, n * d)).reshape(n, d)
    other = one.copy()
    other[draw(st.integers(0, n - 1))] = draw(numpy_cells(dtype, d))
    return one, other


LAYOUTS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "as it is": lambda array: array,
    "columns first": np.asfortranarray,
    "every other row": lambda array: np.repeat(array, 2, axis=0)[::2],
    "backwards": lambda array: array[::-1],
    "read-only": lambda array: _locked(array.copy()),
    "vector": lambda array: array[:, 0],
    "matrix": lambda array: array.view(np.matrix),
    "memory map": lambda array: array.view(np.memmap) if array.flags.c_contiguous else array,
    "record array": lambda array: array.view(np.recarray),
    "unaligned": lambda array: _unaligned(array),
    "masked": lambda array: np.ma.array(array, mask=False),
    "three dimensions": lambda array: array[np.newaxis],
    "no dimensions": lambda array: np.array(array[0, 0]),
    "no rows": lambda array: array[:0],
    "no columns": lambda array: array[:, :0],
}


def arrays(draw: Draw) -> Neighbours:
    """NumPy arrays of all dtypes and layouts."""
    if one_in(draw, 5):
        return _other_arrays(draw)
    one, other = numeric(draw, draw(st.sampled_from(NUMERIC_DTYPES)))
    layout = LAYOUTS[draw(st.sampled_from(["as it is"] * 5 + list(LAYOUTS)))]
    return Neighbours(layout(one), layout(other), tuple(range(one.shape[1])))


def _other_arrays(draw: Draw) -> Neighbours:
    dtype = draw(st.sampled_from(OTHER_DTYPES))
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    cells: dict[str, st.SearchStrategy[Any]] = {
        "O": st.one_of(numbers, texts),
        "U": valid_texts,
        "S": st.binary(max_size=4),
        "M": st.integers(-(10**9), 10**9),
        "m": st.integers(-(10**9), 10**9),
        "c": st.complex_numbers(),
        "V": st.just(0),
    }

    def filled() -> NDArray[Any]:
        array = np.zeros((n, d), dtype)
        with np.errstate(all="ignore"):
            for place in np.ndindex(n, d) if array.dtype.kind != "V" else ():
                array[place] = draw(cells[array.dtype.kind])
        return array

    one = filled()
    other = one.copy()
    other[draw(st.integers(0, n - 1))] = filled()[0]
    return Neighbours(one, other, tuple(range(d)))


def batches(draw: Draw) -> Neighbours:
    """Draw arrays that are cut into batches, some of them empty, or that do not fit together."""
    one, other = numeric(draw, draw(st.sampled_from(NUMERIC_DTYPES)))
    cuts = sorted(draw(st.lists(st.integers(0, len(one)), max_size=3)))
    parts, others = ([table[:0], *np.split(table, cuts)] for table in (one, other))
    if one_in(draw, 8):
        strange = draw(st.sampled_from([one[:, :1], one[0], None, "canary", one.astype(str)]))
        parts, others = [*parts, strange], [*others, strange]
    return Neighbours(parts, others, tuple(range(one.shape[1])))


def lists(draw: Draw) -> Neighbours:
    """Lists of rows; that all cells are numbers or None, and rows equally long, is public."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    cell = st.one_of(
        numbers, numpy_cells(draw(st.sampled_from(["f4", "i2", "u8", "f2", "g"])), 1).map(lambda one: one[0])
    )
    rows = [[draw(cell) for _ in range(d)] for _ in range(n)]
    changed = [list(row) for row in rows]
    changed[draw(st.integers(0, n - 1))] = [draw(cell) for _ in range(d)]
    form = draw(st.sampled_from([list, list, tuple]))
    return Neighbours(form(map(form, rows)), form(map(form, changed)), tuple(range(d)))


def strange_lists(draw: Draw) -> Neighbours:
    """Lists that are no table of numbers."""
    cell = st.one_of(
        numbers,
        texts,
        st.sampled_from(
            [
                1j,
                b"x",
                {},
                [],
                (1,),
                {1},
                np.timedelta64(1, "s"),
                np.timedelta64("NaT"),
                np.datetime64("2020"),
                object(),
                np.array([1, 2]),
                np.array(3),
                np.ma.masked,
                CANARY_TEXT,
                np.str_("7"),
                np.bool_(True),
                range(2),
            ]
        ),
    )
    rows = draw(st.lists(st.one_of(st.lists(cell, max_size=3), cell), max_size=5))
    return Neighbours(rows, rows, ())


PANDAS_DTYPES = (
    "float64", "float64", "float32", "float16", "int64", "int8", "uint64", "bool", "Int64", "UInt8", "Float32",
    "Float64",
    "boolean", "double[pyarrow]", "int64[pyarrow]", "uint8[pyarrow]", "bool[pyarrow]", "float[pyarrow]",
)  # fmt: skip
OTHER_PANDAS_DTYPES = (
    "object", "str", "string", "category", "datetime64[ns]", "timedelta64[ns]", "complex128", "Sparse[float64]",
    "period[D]",
    "string[pyarrow]", "timestamp[ns][pyarrow]", "datetime64[ns, UTC]", "decimal",
)  # fmt: skip


def _pandas_column(dtype: str, values: list[Any]) -> Any:
    """Return a column of a dtype; a value that does not fit it is missing where that is possible, else 0."""
    import pandas
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    if dtype == "decimal":
        return pandas.Series(values, dtype=pandas.ArrowDtype(pyarrow.decimal128(20, 2)))
    with np.errstate(all="ignore"):  # floats that are infinite in fewer bits
        return pandas.Series(values, dtype=dtype)


def _pandas_cells(dtype: str) -> st.SearchStrategy[Any]:
    import pandas

    lower = dtype.lower()
    plain = lower.removesuffix("[pyarrow]")
    missing = [] if dtype == plain and dtype == lower and dtype != "boolean" else [st.none()]
    if "int" in plain:
        return st.one_of(numpy_cells(plain, 1).map(lambda one: int(one[0])), *missing)
    if "bool" in plain:
        return st.one_of(st.booleans(), *missing)
    if plain in ("double", "float") or plain.startswith("float") or plain.startswith("sparse"):
        return st.one_of(floats, *missing)
    if plain.startswith(("datetime", "timestamp")):
        return st.datetimes(min_value=pandas.Timestamp(1700, 1, 1), max_value=pandas.Timestamp(2200, 1, 1)).map(
            lambda day: pandas.Timestamp(day, tz="UTC" if "utc" in plain else None)
        )
    if plain.startswith("timedelta"):
        return st.integers(-(10**12), 10**12)
    if plain.startswith("period"):
        return st.sampled_from(["2020-01-01", "1999-12-31"])
    if plain == "complex128":
        return st.complex_numbers()
    if plain == "decimal":
        return st.one_of(st.integers(-(10**9), 10**9), st.just(CANARY), st.none())
    if plain == "object":
        return st.one_of(numbers, texts)
    return st.one_of(valid_texts, st.none())


str_labels = st.one_of(
    st.sampled_from(["age", "income", "a", "", "a,b", "ä", "0", "1", "with space", "new\nline", 'q"', "x" * 300]),
    st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace").decode()),
)
any_labels = st.one_of(
    str_labels, st.integers(0, 5), st.sampled_from([10**30, None, 1.5, (1, 2), True, b"x", np.int64(3)])
)


def _columns(draw: Draw, dtypes: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    count = draw(st.integers(1, 4))
    pool = dtypes + others * 3 if one_in(draw, 4) else dtypes
    same = draw(st.booleans())  # frames of one dtype take another way
    chosen = [draw(st.sampled_from(pool)) for _ in range(1 if same else count)]
    return chosen * count if same else chosen


def _labels(draw: Draw, count: int, strategy: st.SearchStrategy[Any], *, repeated: bool) -> list[Any]:
    if not one_in(draw, 3):
        return ["age", "income", "height", "weight"][:count]
    labels = [draw(strategy) for _ in range(count)]
    if repeated:
        return labels
    return [label if label not in labels[:place] else f"{label}{place}" for place, label in enumerate(labels)]


def _cells(draw: Draw, kinds: list[st.SearchStrategy[Any]]) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the columns of two tables that differ in one row."""
    n = 0 if one_in(draw, 20) else draw(st.integers(1, 10))
    one = [[draw(kind) for _ in range(n)] for kind in kinds]
    other = [list(column) for column in one]
    row = draw(st.integers(0, n - 1)) if n else None
    for kind, column in zip(kinds, other, strict=True):
        if row is not None:
            column[row] = draw(kind)
    return one, other


def pandas_frames(draw: Draw) -> Neighbours:
    """pandas frames and series of NumPy, nullable, Arrow and other dtypes."""
    import pandas

    dtypes = _columns(draw, PANDAS_DTYPES, OTHER_PANDAS_DTYPES)
    labels = _labels(draw, len(dtypes), any_labels, repeated=True)
    tables = _cells(draw, [_pandas_cells(dtype) for dtype in dtypes])

    def frame(columns: list[list[Any]]) -> Any:
        made = pandas.concat(
            [_pandas_column(dtype, values) for dtype, values in zip(dtypes, columns, strict=True)], axis=1
        )
        made.columns = pandas.Index(labels, dtype=object)
        if len(dtypes) == 1 and as_series:
            return made.iloc[:, 0]
        return made.set_index(pandas.Index(list(range(len(made)))[::-1])) if reindexed else made

    as_series, reindexed = draw(st.booleans()), draw(st.booleans())
    return Neighbours(frame(tables[0]), frame(tables[1]), tuple(labels))


def polars_frames(draw: Draw) -> Neighbours:
    """polars frames and series of numeric and other dtypes."""
    import polars

    numeric_types = {
        "Float64": floats, "Float32": floats, "Int64": None, "Int8": None, "UInt64": None, "Boolean": st.booleans(),
        "Null": st.none(), "Int128": None,
    }  # fmt: skip
    others = {"String": valid_texts, "Categorical": valid_texts, "Date": st.dates(), "Binary": st.binary(max_size=5),
              "Time": st.times(), "Object": st.one_of(numbers, texts)}  # fmt: skip
    dtypes = _columns(draw, tuple(numeric_types), tuple(others))

    def cells(dtype: str) -> st.SearchStrategy[Any]:
        found = (numeric_types | others)[dtype]
        if found is None:
            found = integers.map(lambda number: number % 2 ** (7 if dtype == "Int8" else 63))
        return st.one_of(found, st.none())

    labels = _labels(draw, len(dtypes), str_labels, repeated=False)
    tables = _cells(draw, [cells(dtype) for dtype in dtypes])

    def frame(columns: list[list[Any]]) -> Any:
        made = polars.DataFrame(
            [
                polars.Series(label, values, dtype=getattr(polars, dtype), strict=False)
                for label, dtype, values in zip(labels, dtypes, columns, strict=True)
            ]
        )
        if form == "two chunks":
            return polars.concat([made, made], rechunk=False)
        if form == "lazy":
            return made.lazy()
        return made.to_series(0) if form == "series" and len(dtypes) == 1 else made

    form = draw(st.sampled_from(["frame"] * 4 + ["series", "two chunks", "lazy"]))
    one, other = frame(tables[0]), frame(tables[1])
    return Neighbours(one, one if form == "two chunks" else other, tuple(labels))


def arrow_tables(draw: Draw) -> Neighbours:
    """Arrow tables and record batches of numeric and other types."""
    import pyarrow

    numeric_types = {
        pyarrow.float64(): floats, pyarrow.float32(): floats, pyarrow.int64(): None, pyarrow.int8(): None,
        pyarrow.uint64(): None, pyarrow.bool_(): st.booleans(), pyarrow.null(): st.none(),
        pyarrow.float16(): numpy_cells("f2", 1).map(lambda one: one[0]),
    }  # fmt: skip
    others = {
        pyarrow.string(): valid_texts, pyarrow.large_binary(): st.binary(max_size=5), pyarrow.date32(): st.dates(),
        pyarrow.decimal128(30, 2): st.integers(-CANARY, CANARY), pyarrow.list_(pyarrow.float64()): st.lists(floats,
        max_size=2),
        pyarrow.dictionary(pyarrow.int8(), pyarrow.string()): valid_texts,
        pyarrow.struct([("x", pyarrow.int8())]): st.just({"x": 1}),
    }  # fmt: skip
    types = numeric_types | others
    by_name = {str(kind): kind for kind in types}
    chosen = _columns(draw, tuple(map(str, numeric_types)), tuple(map(str, others)))

    def cells(name: str) -> st.SearchStrategy[Any]:
        found = types[by_name[name]]
        if found is None:
            found = integers.map(lambda number: number % 2 ** (7 if name == "int8" else 63))
        return st.one_of(found, st.none())

    labels = _labels(draw, len(chosen), str_labels, repeated=True)
    tables = _cells(draw, [cells(name) for name in chosen])

    def table(columns: list[list[Any]]) -> Any:
        made = pyarrow.Table.from_arrays(
            [pyarrow.array(values, type=by_name[name]) for name, values in zip(chosen, columns, strict=True)],
            names=labels,
        )
        if form == "batch":
            batches = made.to_batches()
            return batches[0] if batches else made
        return pyarrow.concat_tables([made.slice(0, 1), made.slice(1)]) if form == "two chunks" else made

    form = draw(st.sampled_from(["table", "table", "batch", "two chunks"]))
    return Neighbours(table(tables[0]), table(tables[1]), tuple(labels))


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _unaligned(array: NDArray[Any]) -> NDArray[Any]:
    memory = np.zeros(array.nbytes + 1, np.uint8)
    place = memory[1:].view(array.dtype).reshape(array.shape)
    place[...] = array
    return place
