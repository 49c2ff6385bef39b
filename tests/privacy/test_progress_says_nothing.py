"""Bars go by hundredths of public totals: neither these nor steps depend on how much is stored or written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
import scipy.sparse as sp
import tqdm.auto

import plandp
import plandp.data.csv_file
import plandp.data.open_sparse
import plandp.data.streamed_rows
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


def bars(told: list[Any]) -> list[tuple[dict[str, Any], list[int]]]:
    """Every bar that was shown, one after the other: its options and its steps."""
    found: list[tuple[dict[str, Any], list[int]]] = []
    for note in told:
        if isinstance(note, tuple):
            found.append((note[1], []))
        elif note != "end":
            found[-1][1].append(note)
    return found


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
    ((options, steps),) = bars(seen[0])
    assert (options["total"], options["unit"], sum(steps), len(steps)) == (40, " rows", 40, 100)


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
    for options, steps in bars(seen[0]):
        assert (options["unit"], options["unit_scale"]) == (" rows", True)
        assert sum(steps) == options["total"] <= n
        assert len(steps) == 100


FILES: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "t.csv": lambda frame, path: frame.to_csv(path, index=False),
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.feather": lambda frame, path: frame.to_feather(path),
}


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_bars_of_tables_in_files_do_not_show_how_long_cells_are(
    name: str, held: bool, told: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The shape is public, and so are the bytes of all numbers once they are read; those of the file are not."""
    monkeypatch.setattr(plandp.data.csv_file, "BYTES_PER_BLOCK", 4096)
    monkeypatch.setattr(plandp.data.streamed_rows, "IN_MEMORY", 2**25 if held else 0)
    seen, sizes = [], []
    for somebody in (1.0, 1 / 3):
        values = np.ones((20_000, 2))
        values[7] = somebody
        FILES[name](pd.DataFrame(values, columns=["a", "b"]), tmp_path / name)
        sizes.append((tmp_path / name).stat().st_size)
        told.clear()
        plandp.mean(tmp_path / name, bounds=(0, 9), rho=1, testing_seed=1, progress=True)
        seen.append(told.copy())
    assert sizes[0] != sizes[1]
    assert seen[0] == seen[1]
    shown = [(options["desc"], options["total"], options["unit"], sum(steps)) for options, steps in bars(seen[0])]
    counted = name != "t.parquet"
    if counted:
        assert shown.pop(0) == ("counting rows, pass 1", 100, "%", 100)
    assert shown[0] == (f"reading file, pass {1 + counted}", 20_000 * 2 * 8, "B", 20_000 * 2 * 8)
    if not held:
        assert shown[-1] == (f"reading file, pass {2 + counted}", 20_000 * 2 * 8, "B", 20_000 * 2 * 8)


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


def test_rows_of_batches_are_counted_by_thousands_however_they_are_cut(
    told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # whoever cuts batches by their bytes cuts them by their cells
    monkeypatch.setattr(plandp.data.streamed_rows, "IN_MEMORY", 0)
    seen = []
    for counts in ((700, 1, 3_000), (701, 2_999, 1), (3_701,)):
        batches = [np.ones((count, 2)) for count in counts]
        told.clear()
        plandp.mean(lambda batches=batches: iter(batches), bounds=(0, 9), rho=1, testing_seed=1, progress=True)
        seen.append(bars(told)[0])
    assert seen[0] == seen[1] == seen[2]
    options, steps = seen[0]
    assert (options["desc"], options["unit"], options.get("total")) == ("counting rows, pass 1", " rows", None)
    assert steps == [1_000, 1_000, 1_000, 701]
