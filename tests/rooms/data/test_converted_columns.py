"""Columns that are no float64 as they lie are converted and added up one by one, in every container, not as rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.typing import NDArray

import plandp
from plandp.data import arrow_file, batches, blocks, side_by_side, streamed_rows
from plandp.data.array import ArrayTable
from plandp.data.pandas_frame import PandasTable
from plandp.kernels.compiler import compiled
from plandp.kernels.norm_cells import add_up_cells
from plandp.kernels.norm_cells_by_column import add_up_columns
from plandp.mechanisms import lattice, lattice_counts, norm_cells

N, D = 70_000, 8
SAMPLE = 4_096


def stored() -> list[NDArray[Any]]:
    """Columns of several types."""
    rng = np.random.default_rng(2)
    makers: list[Callable[[], NDArray[Any]]] = [
        lambda: rng.integers(-60, 60, N),
        lambda: rng.random(N) < 0.3,
        lambda: rng.normal(0, 9, N).astype(np.float32),
        lambda: rng.normal(0, 9, N),
    ]
    return [makers[place % 4]() for place in range(D)]


def absent() -> NDArray[np.bool_]:
    return np.random.default_rng(3).random((D, N)) < 0.1


def mixed_frame(columns: list[NDArray[Any]]) -> Any:
    return pandas.DataFrame({f"c{place}": column for place, column in enumerate(columns)})


CONTAINERS: dict[str, Callable[[list[NDArray[Any]]], Any]] = {
    "pandas": mixed_frame,
    "pandas, nullable": lambda columns: mixed_frame(columns).convert_dtypes(),
    "pandas, Arrow": lambda columns: mixed_frame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda columns: polars.DataFrame({f"c{place}": column for place, column in enumerate(columns)}),
    "polars, in pieces": lambda columns: polars.concat(
        [CONTAINERS["polars"](columns)[:30_001], CONTAINERS["polars"](columns)[30_001:]], rechunk=False
    ),
    "Arrow": lambda columns: pa.table(columns, names=[f"c{place}" for place in range(D)]),
    "Arrow, in pieces": lambda columns: pa.concat_tables(
        [CONTAINERS["Arrow"](columns).slice(0, 30_001), CONTAINERS["Arrow"](columns).slice(30_001)]
    ),
    "Arrow, with nulls": lambda columns: pa.table(
        [pa.array(column, mask=lost) for column, lost in zip(columns, absent(), strict=True)],
        names=[f"c{place}" for place in range(D)],
    ),
    "polars, with nulls": lambda columns: polars.from_arrow(CONTAINERS["Arrow, with nulls"](columns)),
    "pandas, with nulls": lambda columns: polars.from_arrow(CONTAINERS["Arrow, with nulls"](columns)).to_pandas(
        use_pyarrow_extension_array=True
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CONTAINERS)
def test_the_release_is_that_of_the_rows(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = stored()
    rows = np.array([column.astype(np.float64) for column in columns]).T
    if "with nulls" in name:
        rows[absent().T] = np.nan
    seen = {add_up_cells: 0, add_up_columns: 0}
    compiled = norm_cells.compiled

    def told(loop: Any) -> Any:
        run = compiled(loop)
        assert run is not None, "the tests need the extra plandp[fast]"

        def counted(*arguments: Any) -> None:
            seen[loop] += arguments[3] if loop is add_up_columns else len(arguments[1]) or len(arguments[0])
            run(*arguments)

        return counted

    def release(data: Any, columns: list[Any]) -> plandp.MeanRelease:
        return plandp.mean(
            data, columns=columns, bounds=(-60, 60), rho=1.0, missing=0.0, testing_seed=4, threads=threads
        )

    order = [6, 2, 7, 0, 5]
    wanted = release(rows, order)
    monkeypatch.setattr(norm_cells, "compiled", told)
    monkeypatch.setattr(blocks, "CONVERTED", 7_001 * D)
    monkeypatch.setattr(blocks, "SHARED", 2**17)
    found = release(CONTAINERS[name](columns), [f"c{place}" for place in order])
    assert found.estimate.tobytes() == wanted.estimate.tobytes()
    assert seen == {add_up_cells: 3 * SAMPLE, add_up_columns: N}  # three looks at the sample, and the sum
    assert found.receipt.passes == wanted.receipt.passes == 1


def test_columns_are_converted_a_stretch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much memory as a stretch is held, not as a table; and each is converted by itself."""
    frame, lengths, write = mixed_frame(stored()), [], PandasTable.write_columns

    def noted(table: PandasTable, rows: slice, floats: Any) -> None:
        lengths.append((rows.stop - rows.start, floats.shape))
        write(table, rows, floats)

    monkeypatch.setattr(PandasTable, "write_columns", noted)
    monkeypatch.setattr(blocks, "CONVERTED", 7_001 * D)
    plandp.mean(frame, bounds=(-60, 60), rho=1.0)
    assert lengths == [*[(7_001, (D, 7_001))] * 9, (N - 9 * 7_001, (D, N - 9 * 7_001))]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_nan_that_signals_does_not_warn(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SHARED", 2**12)
    monkeypatch.setattr(blocks, "CONVERTED", 900 * D)
    columns = stored()
    for place in (2, 6):
        columns[place].view(np.uint32)[::3] = 0x7F800001
    with np.errstate(all="raise"):
        plandp.mean(mixed_frame(columns), bounds=(-60, 60), rho=1.0, threads=threads)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("kind", ["Arrow", "Parquet", "stream", "stream, small batches", "file, one column"])
def test_which_loops_are_compiled_does_not_follow_from_nulls(
    kind: str, dtype: Any, many: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Caches and logs tell it: of each loop and each type of its arguments."""
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(blocks, "OTHERS", 0 if many else 10**9)
    alone = kind == "file, one column"
    if alone:  # with nulls it is read in pieces, the last of which is too short to be read by columns
        for module, name, values in (
            (blocks, "OTHERS", 0),  # as of whatever is streamed
            (side_by_side, "COMPILED", 20_000),
            (arrow_file, "LARGE", 30_000),
            (batches, "VALUES_AT_A_TIME", 30_000),
        ):
            monkeypatch.setattr(module, name, values)
    called: set[Any] = set()

    def kinds(argument: Any) -> Any:
        if not isinstance(argument, np.ndarray):
            return type(argument)
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable, flags.aligned

    def told(loop: Any) -> Any:
        run = compiled(loop)
        assert run is not None, "the tests need the extra plandp[fast]"

        def noted(*arguments: Any) -> None:
            called.add((loop.__name__, *map(kinds, arguments)))
            run(*arguments)

        return noted

    for module in (norm_cells, side_by_side, lattice, lattice_counts):
        monkeypatch.setattr(module, "compiled", told)
    found = []
    for nulls in (0, 1):
        columns = [np.random.default_rng(place).normal(0, 9, N).astype(dtype) for place in range(1 if alone else D)]
        names = [f"c{place}" for place in range(len(columns))]
        table = pa.table([pa.array(columns[0], mask=np.arange(N) < nulls), *columns[1:]], names=names)
        data: Any = table
        if alone:
            data = tmp_path / f"{nulls}.arrow"
            with pa.ipc.new_file(data, table.schema) as file:
                file.write_table(table)
        elif kind == "Parquet":
            data = tmp_path / f"{nulls}.parquet"
            pa.parquet.write_table(table, data)
        elif kind != "Arrow":
            data = tmp_path / f"{nulls}.arrows"
            with pa.ipc.new_stream(data, table.schema) as file:
                file.write_table(table, 40_000 if kind == "stream" else 9_000)
        called.clear()
        plandp.mean(data, bounds=(-60, 60), rho=1.0)
        found.append(set(called))
    assert found[0] == found[1]


def test_frames_of_several_byte_orders_are_read() -> None:
    values = np.random.default_rng(1).normal(0, 9, (N, 3))
    frame = pandas.DataFrame({place: values[:, place].astype(">f8" if place else "<f8") for place in range(3)})
    found, wanted = (plandp.mean(data, bounds=(-60, 60), rho=1.0, testing_seed=1) for data in (frame, values))
    assert found.estimate.tobytes() == wanted.estimate.tobytes()


def test_arrays_are_not_converted_column_by_column() -> None:
    table = ArrayTable(array=np.ones((N, D), np.float32), labels=tuple(range(D)))
    assert blocks.converter_of(table) is None
