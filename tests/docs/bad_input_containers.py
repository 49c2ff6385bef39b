"""One table in every container that plandp reads, in memory and in files of the working directory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
from numpy.typing import NDArray

NAMES = ("age", "income", *(f"c{place}" for place in range(2, 40)))


@dataclass(frozen=True)
class Container:
    """How a table of numbers gets into a container, and what its columns are called there."""

    name: str
    put: Callable[[NDArray[np.float64]], object]
    numbered: bool = False
    file: str | None = None

    def labels(self, d: int) -> tuple[str | int, ...]:
        return tuple(range(d)) if self.numbered else NAMES[:d]


def _named(table: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return dict(zip(NAMES, table.T.copy(), strict=False))


def _csv(mark: str, suffix: str) -> Callable[[NDArray[np.float64]], object]:
    def put(table: NDArray[np.float64]) -> object:
        lines = [mark.join(NAMES[: table.shape[1]]), *(mark.join(map(repr, row)) for row in table.tolist())]
        Path(f"survey{suffix}").write_text("\n".join([*lines, ""]), encoding="utf-8")
        return f"survey{suffix}"

    return put


def _parquet(table: NDArray[np.float64]) -> object:
    pyarrow.parquet.write_table(pyarrow.table(_named(table)), "survey.parquet")
    return Path("survey.parquet")


def _feather(table: NDArray[np.float64]) -> object:
    pyarrow.feather.write_feather(pyarrow.table(_named(table)), "survey.feather")
    return "survey.feather"


def _arrow(table: NDArray[np.float64]) -> object:
    data = pyarrow.table(_named(table))
    with pyarrow.OSFile("survey.arrow", "wb") as file, pyarrow.ipc.new_stream(file, data.schema) as stream:
        stream.write_table(data)
    return "survey.arrow"


def _npy(table: NDArray[np.float64]) -> object:
    np.save("survey.npy", table)
    return "survey.npy"


def _npz(table: NDArray[np.float64]) -> object:
    np.savez("survey.npz", table)
    return "survey.npz"


CONTAINERS = (
    Container("array", lambda table: table, numbered=True),
    Container("list", lambda table: table.tolist(), numbered=True),
    Container("pandas", lambda table: pandas.DataFrame(_named(table))),
    Container("pandas nullable", lambda table: pandas.DataFrame(_named(table)).astype("Float64")),
    Container("polars", lambda table: polars.DataFrame(_named(table))),
    Container("Arrow table", lambda table: pyarrow.table(_named(table))),
    Container("record batch", lambda table: pyarrow.RecordBatch.from_pydict(_named(table))),
    Container("csv", _csv(",", ".csv"), file="survey.csv"),
    Container("tsv", _csv("\t", ".tsv"), file="survey.tsv"),
    Container("parquet", _parquet, file="survey.parquet"),
    Container("feather", _feather, file="survey.feather"),
    Container("arrow file", _arrow, file="survey.arrow"),
    Container("npy", _npy, numbered=True, file="survey.npy"),
    Container("npz", _npz, numbered=True, file="survey.npz"),
)


def in_files() -> Iterator[Container]:
    return (container for container in CONTAINERS if container.file)
