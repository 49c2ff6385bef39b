"""`python -m plandp_lab.stream_benchmark`: a release from a file larger than memory, beside reading the file once."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from numpy.typing import NDArray
from pyarrow import ipc, parquet
from tqdm import tqdm

import plandp
from plandp.data import streamed_rows
from plandp.data.parquet_file import WORTH_A_THREAD, parquet_reader
from plandp_lab.gauge import cpu_seconds_of, resident_peak

REPEATS = 3
RHO = 1.0
MOST_TIMES, MOST_MEGABYTES = 3.0, 1000.0  # required: times reading once, and of resident memory in all
VALUES_AT_A_TIME = 2**22
BATCH = 2**16  # rows, as `write_feather` has them
FILE_ROWS = 2_000
CSV_COLUMNS = 16
HEADINGS = "file", "rows", "columns", "GB", "passes", "reading", "release", "times", "memory", "required"
WIDTHS = 33, 10, 7, 5, 6, 8, 8, 5, 7, 18


Make = Callable[[NDArray[np.float64]], Any]

OTHER_NUMBERS: dict[str, Make] = {
    "whole numbers": lambda column: pa.array((20 * column).astype(np.int64)),
    "float32": lambda column: pa.array(column.astype(np.float32)),
    "flags": lambda column: pa.array(column > 0.5),
    "30% nulls": lambda column: pa.array(column, mask=np.roll(column, 1) < -0.52),
}
"""Columns that are not float64 as they lie, made of some that are."""


@dataclass(frozen=True, kw_only=True)
class FileCase:
    """A kind of file: how it is written, and how it is read once by those who only want to see its values."""

    name: str
    file: str
    d: int
    write: Callable[[Path, int, int], None]
    read: Callable[[Path], None]
    share: float = 1.0  # of the asked size: text takes long


@dataclass(frozen=True, kw_only=True)
class FileCost:
    """Medians of interleaved repeats in CPU seconds; the resident memory of another process at its peak."""

    case: FileCase
    n: int
    size: int  # bytes
    passes: int
    reading: float
    release: float
    megabytes: float

    @property
    def times(self) -> float:
        """Release over reading once."""
        return self.release / self.reading

    @property
    def reached(self) -> bool:
        """Whether the case is within what is required of it."""
        return self.times <= MOST_TIMES and self.megabytes <= MOST_MEGABYTES


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.stream_benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="files of 1 MB, to see that it works")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="about how large the files are (default: 3)")
    parser.add_argument("--folder", type=Path, help="where they are written, one at a time (default: a temporary one)")
    parser.add_argument("--only", metavar="TEXT", default="", help="only files whose name contains this")
    asked = parser.parse_args(arguments)
    gigabytes = 0.001 if asked.quick else asked.gigabytes
    print(f"Gaussian columns, float64 where nothing else is said, rho={RHO:g}, exact noise.  CPU time, medians of")
    print(f"{REPEATS} interleaved repeats; memory is the most that a process held that made one release.\n")
    cases = [case for case in CASES if asked.only in case.name]
    print(_spaced(HEADINGS))
    with TemporaryDirectory(dir=asked.folder) as folder:
        for case in tqdm(cases, desc="files", leave=False):
            tqdm.write(_spaced(_line(cost_of(case, Path(folder), gigabytes))))


def cost_of(case: FileCase, folder: Path, gigabytes: float) -> FileCost:
    """Time reading and release in turns, in a process of their own; then a release alone, for its memory."""
    path, n = folder / case.file, max(100, int(case.share * gigabytes * 1e9 / 8 / case.d))
    case.write(path, n, case.d)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        passes, reading, release = process.submit(seconds_of_both, case.read, path).result()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        megabytes = process.submit(peak_megabytes, path).result()
    size = sum(file.stat().st_size for file in _files(path))
    for file in _files(path):
        file.unlink()
    return FileCost(case=case, n=n, size=size, passes=passes, reading=reading, release=release, megabytes=megabytes)


def seconds_of_both(read: Callable[[Path], None], path: Path) -> tuple[int, float, float]:
    """How often a release reads the file, and the CPU seconds of reading it once and of the release."""
    _warm()
    passes = _release(path).receipt.passes
    found = [(cpu_seconds_of(partial(read, path)), cpu_seconds_of(partial(_release, path))) for _ in range(REPEATS)]
    reading, release = (median(column) for column in zip(*found, strict=True))
    return passes, reading, release


def peak_megabytes(path: Path) -> float:
    """Make one release, and return the most that this process held at a time."""
    _release(path)
    return resident_peak() / 1e6


def _warm() -> None:
    table = np.random.default_rng(0).standard_normal((6000, 3))
    plandp.mean(table, bounds=(-100, 100), rho=RHO)


def _release(path: Path) -> plandp.MeanRelease:
    streamed_rows.IN_MEMORY = 0  # in this process: files are streamed, however small
    return plandp.mean(path, bounds=(-100.0, 100.0), rho=RHO)


def _parts(n: int, d: int) -> Iterator[NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    step = max(1, VALUES_AT_A_TIME // d)
    for first in range(0, n, step):
        yield rng.standard_normal((min(step, n - first), d))


def _names(d: int) -> list[str]:
    return [f"c{place}" for place in range(d)]


def write_npy(path: Path, n: int, d: int, *, kind: str = "<f8") -> None:
    """An array, row by row."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": (n, d)})
        for part in _parts(n, d):
            file.write(part.astype(kind).data)


def write_lists(path: Path, n: int, d: int) -> None:
    """A Parquet file with one column of lists, in pyarrow's usual row groups."""
    kind = pa.list_(pa.float64(), d)
    with parquet.ParquetWriter(path, pa.schema([("x", kind)])) as file:
        for part in _parts(n, d):
            file.write_table(pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), type=kind)}))


def write_columns(path: Path, n: int, d: int, *, group: int, make: Make = pa.array) -> None:
    """A Parquet file with a column for each number, in row groups of about `group` rows."""
    schema = pa.schema([(name, make(np.zeros(1)).type) for name in _names(d)])
    waiting: list[NDArray[np.float64]] = []
    with parquet.ParquetWriter(path, schema) as file:
        for part in _parts(n, d):
            waiting.append(part)
            if sum(map(len, waiting)) >= group:
                file.write_table(_columns(waiting, schema, make), row_group_size=group)
                waiting.clear()
        if waiting:
            file.write_table(_columns(waiting, schema, make), row_group_size=group)


def write_files(path: Path, n: int, d: int) -> None:
    """A directory of Parquet files with a column for each number, of `FILE_ROWS` rows each."""
    path.mkdir()
    schema = pa.schema([(name, pa.float64()) for name in _names(d)])
    rows = (part[first : first + FILE_ROWS] for part in _parts(n, d) for first in range(0, len(part), FILE_ROWS))
    for number, part in enumerate(rows):
        parquet.write_table(_columns([part], schema), path / f"{number:05}.parquet")


def write_stream(path: Path, n: int, d: int, *, make: Make = pa.array) -> None:
    """An Arrow IPC stream."""
    schema = pa.schema([(name, make(np.zeros(1)).type) for name in _names(d)])
    with ipc.new_stream(path, schema) as file:
        for part in _parts(n, d):
            file.write_table(_columns([part], schema, make))


def write_feather(path: Path, n: int, d: int, *, lists: bool, compression: str | None = "lz4") -> None:
    """A Feather file with the batches that pyarrow's `write_feather` makes."""
    kind = pa.list_(pa.float64(), d)
    schema = pa.schema([("x", kind)] if lists else [(name, pa.float64()) for name in _names(d)])
    with ipc.new_file(path, schema, options=ipc.IpcWriteOptions(compression=compression)) as file:
        waiting: list[NDArray[np.float64]] = []
        for part in _parts(n, d):
            waiting.append(part)
            if sum(map(len, waiting)) >= BATCH:
                file.write_batch(_batch(waiting, schema, kind if lists else None))
                waiting.clear()
        if waiting:
            file.write_batch(_batch(waiting, schema, kind if lists else None))


def _batch(parts: Sequence[NDArray[np.float64]], schema: pa.Schema, kind: pa.DataType | None) -> pa.RecordBatch:
    if kind is None:
        return _columns(parts, schema).combine_chunks().to_batches()[0]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(parts).ravel()), type=kind)
    return pa.RecordBatch.from_arrays([lists], schema=schema)


def write_csv(path: Path, n: int, d: int) -> None:
    """A text file with six digits a number."""
    with path.open("w") as file:
        file.write(",".join(_names(d)) + "\n")
        for part in _parts(n, d):
            np.savetxt(file, part, fmt="%.6g", delimiter=",")


def _columns(parts: Sequence[NDArray[np.float64]], schema: pa.Schema, make: Make = pa.array) -> pa.Table:
    table = np.concatenate(parts)
    return pa.Table.from_arrays([make(column) for column in table.T.copy()], schema=schema)


def read_npy(path: Path) -> None:
    """Read the file block by block."""
    block = bytearray(8 * VALUES_AT_A_TIME)
    with path.open("rb") as file:
        while file.readinto(block):
            pass


def read_parquet(path: Path) -> None:
    """Read all batches, buffered, which takes less time than pyarrow's usual way; by threads where a release does."""
    for part in _files(path):
        with parquet_reader(part) as file:
            d = sum(max(1, getattr(field.type, "list_size", 1)) for field in file.schema_arrow)
            long = file.metadata.row_group(0).num_rows >= WORTH_A_THREAD
            for _ in file.iter_batches(batch_size=max(1, VALUES_AT_A_TIME // d), use_threads=long):
                pass


def _files(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else [path]


def read_stream(path: Path) -> None:
    """Read all batches."""
    with pa.OSFile(str(path)) as source:
        for _ in ipc.open_stream(source):
            pass


def read_feather(path: Path) -> None:
    """Read all batches."""
    with pa.OSFile(str(path)) as source:
        file = ipc.open_file(source)
        for number in range(file.num_record_batches):
            file.get_batch(number)


def read_csv(path: Path) -> None:
    """Turn all cells into numbers by pandas, which guesses types and stops at what it cannot read."""
    with pandas.read_csv(path, chunksize=VALUES_AT_A_TIME // CSV_COLUMNS) as chunks:
        for _ in chunks:
            pass


CASES = (
    FileCase(name=".npy", file="t.npy", d=1_024, write=write_npy, read=read_npy),
    FileCase(name=".npy, float32", file="t.npy", d=256, write=partial(write_npy, kind="<f4"), read=read_npy, share=0.7),
    FileCase(name="Parquet, a list", file="t.parquet", d=1_024, write=write_lists, read=read_parquet),
    FileCase(
        name="Parquet, groups of 1,048,576 rows",
        file="t.parquet",
        d=64,
        write=partial(write_columns, group=2**20),
        read=read_parquet,
    ),
    FileCase(
        name="Parquet, groups of 16,384 rows",
        file="t.parquet",
        d=1_024,
        write=partial(write_columns, group=2**14),
        read=read_parquet,
    ),
    FileCase(
        name="Parquet, groups of 1,000 rows",
        file="t.parquet",
        d=1_024,
        write=partial(write_columns, group=1_000),
        read=read_parquet,
    ),
    *(
        FileCase(
            name=f"Parquet, {kind}",
            file="t.parquet",
            d=64,
            write=partial(write_columns, group=2**20, make=make),
            read=read_parquet,
            share=0.5,
        )
        for kind, make in OTHER_NUMBERS.items()
    ),
    FileCase(name="Parquet, files of 1 MB", file="t", d=64, write=write_files, read=read_parquet, share=0.1),
    FileCase(name="Arrow stream", file="t.arrow", d=64, write=write_stream, read=read_stream),
    *(
        FileCase(
            name=f"Arrow stream, {kind}",
            file="t.arrow",
            d=64,
            write=partial(write_stream, make=OTHER_NUMBERS[kind]),
            read=read_stream,
            share=0.7,
        )
        for kind in ("whole numbers", "float32")
    ),
    FileCase(
        name="Feather, not compressed",
        file="t.feather",
        d=64,
        write=partial(write_feather, lists=False, compression=None),
        read=read_feather,
        share=0.5,
    ),
    *(
        FileCase(
            name=f"Feather (LZ4), {'a list' if lists else 'columns'}",
            file="t.feather",
            d=d,
            write=partial(write_feather, lists=lists),
            read=read_feather,
        )
        for lists, d in ((False, 64), (True, 1_024))
    ),
    FileCase(name="CSV", file="t.csv", d=CSV_COLUMNS, write=write_csv, read=read_csv, share=0.1),
    FileCase(
        name="Parquet, one group of all rows",
        file="t.parquet",
        d=1_024,
        write=partial(write_columns, group=2**18),
        read=read_parquet,
        share=0.5,
    ),
)


def _spaced(cells: Sequence[str]) -> str:
    """A line of the table, printed as soon as it is known."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def _line(cost: FileCost) -> tuple[str, ...]:
    required = f"{MOST_TIMES:g} times, {MOST_MEGABYTES:g} MB"
    return (
        cost.case.name,
        f"{cost.n:,}",
        f"{cost.case.d:,}",
        f"{cost.size / 1e9:.2f}",
        str(cost.passes),
        f"{cost.reading:.2f} s",
        f"{cost.release:.2f} s",
        f"{cost.times:.1f}",
        f"{cost.megabytes:.0f} MB",
        required + ("" if cost.reached else ": NOT REACHED"),
    )


if __name__ == "__main__":
    main()
