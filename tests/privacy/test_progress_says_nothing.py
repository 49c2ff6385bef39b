"""Bars show hundredths, one by one: neither totals nor steps depend on how much is stored or written."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
import scipy.sparse as sp
import tqdm.auto

import plandp
import plandp.data.csv_file
import plandp.data.open_sparse
from plandp.data.events import open_events
from plandp.data.open_sparse import open_sparse_rows


class Recorder:
    """A bar that notes all that it is told."""

    told: list[Any]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.told.append((arguments, options))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *error: object) -> None:
        self.told.append("end")

    def update(self, steps: int = 1) -> None:
        self.told.append(steps)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    notes: list[Any] = []
    monkeypatch.setattr(Recorder, "told", notes, raising=False)
    monkeypatch.setattr(tqdm.auto, "tqdm", Recorder)
    return notes


def test_bars_of_matrices_do_not_show_how_much_is_stored(told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plandp.data.open_sparse, "ENTRIES_PER_BLOCK", 16)
    monkeypatch.setattr(plandp.data.open_sparse, "TIMES_OF_SETS", 1)
    monkeypatch.setattr(plandp.data.open_sparse, "ENTRIES_PER_COLUMN", 0)
    seen = []
    for row in (np.zeros(300), np.ones(300)):
        table = np.eye(40, 300)
        table[7] = row
        told.clear()
        rows = open_sparse_rows(sp.csr_array(table), binary=True, progress=True)
        rows.fold(lambda block: (np.zeros(1, np.int64),))
        seen.append(told.copy())
    assert seen[0] == seen[1]
    assert seen[0].count(1) == 100


@pytest.mark.parametrize(("n", "d"), [(5000, 64), (600_000, 16)])
def test_bars_of_arrow_tables_do_not_show_nulls(n: int, d: int, told: list[Any]) -> None:
    # columns without nulls are read where they lie, in other blocks
    values = np.random.default_rng(3).standard_normal((n, d))
    seen = []
    for somebody in (0.5, None):
        first = pa.array([somebody, *values[1:, 0]], pa.float64())
        table = pa.table([first, *map(pa.array, values.T[1:])], names=[f"c{place}" for place in range(d)])
        told.clear()
        plandp.mean(table, bounds=(-9, 9), rho=1, testing_seed=1, progress=True)
        seen.append(told.copy())
    assert seen[0] == seen[1]
    assert seen[0].count(1) % 100 == 0


def test_bars_of_files_do_not_show_how_much_is_written(
    told: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plandp.data.csv_file, "BYTES_PER_BLOCK", 16)
    seen = []
    for events in ("", "1,a\n", "1,a\n" * 500, '1,"a\n' * 3):
        (tmp_path / "t.csv").write_text("p,i\n" + events)
        told.clear()
        open_events(tmp_path / "t.csv", person="p", item="i", items=["a"], people=3, measure="presence", progress=True)
        seen.append(told.copy())
    assert all(told == seen[0] for told in seen)
    assert seen[0].count(1) == 100
