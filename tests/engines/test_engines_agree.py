"""One table, four ways to hold it: the same numbers and the same row numbers give the same bits, wherever rows lie."""

from pathlib import Path
from typing import Any

import pytest
from engine_table import COLUMNS, FRAME, QUICK, SHUFFLED, N, bits

import plandp

NUMBERS = [pytest.param({"row_index": False}, id="all rows"), pytest.param({"row_index": "number"}, id="numbered")]


def chosen(numbers: dict[str, Any]) -> dict[str, Any]:
    return QUICK | {"columns": COLUMNS} | numbers


@pytest.mark.parametrize("numbers", NUMBERS)
def test_memory_files_and_dask(numbers: dict[str, Any], parquet_files: Path, tmp_path: Path, dask_cluster: Any) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    expected = plandp.mean(FRAME, **chosen(numbers))
    assert bits(plandp.mean(SHUFFLED, **chosen(numbers))) == bits(expected)
    one_file = tmp_path / "table.parquet"
    SHUFFLED.to_parquet(one_file, index=False)
    assert bits(plandp.mean(one_file, **chosen(numbers))) == bits(expected)
    with dask_cluster.as_current():
        made = plandp.mean(dataframe.read_parquet(parquet_files), **chosen(numbers))
    assert bits(made) == bits(expected)
    assert made.receipt.n == N


@pytest.mark.parametrize("numbers", NUMBERS)
def test_memory_and_spark(numbers: dict[str, Any], parquet_files: Path, spark: Any) -> None:
    made = plandp.mean(spark.read.parquet(str(parquet_files)), **chosen(numbers))
    assert bits(made) == bits(plandp.mean(FRAME, **chosen(numbers)))
    assert made.receipt.n == N
