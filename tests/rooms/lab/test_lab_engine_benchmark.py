"""The benchmark of engines: what it writes and how it reckons; what it finds is for people to read."""

from contextlib import contextmanager

import numpy as np
import pytest

import plandp_lab.engine_benchmark as benchmark
from plandp_lab.engine_benchmark import ARRAYS, HALF, WAYS, WHOLE, Cost, table, write_files

parquet = pytest.importorskip("pyarrow.parquet")


def fake(seconds, bits="same"):
    """Ways that take so many seconds for plan, and for gaussian a second more for all files than for half of them."""

    @contextmanager
    def started(way, folder):
        def ask(method, part):
            cpu = seconds[way] if method == "plan" else 1.0 + (part == WHOLE)
            return Cost(wall=cpu / way.workers, cpu=cpu, bits=bits + (way.engine if bits != "same" else ""))

        yield ask

    return started


def test_times_are_those_of_one_process(monkeypatch, tmp_path):
    ways = WAYS[:3]
    monkeypatch.setattr(benchmark, "started", fake(dict(zip(ways, (2.0, 5.0, 6.0), strict=True))))
    _, one, dask, two = table(ways, tmp_path, values=10**9, repeats=2)
    assert one[1:] == ("2.0 s", "2.0 s", "1.0", "1.0", "2")
    assert dask == ("Dask, 1 worker", "5.0 s", "5.0 s", "2.5", "2.5", "2")
    assert two == ("Dask, 2 workers", "3.0 s", "6.0 s", "1.5", "3.0", "2")


def test_other_bits_are_no_benchmark(monkeypatch, tmp_path):
    monkeypatch.setattr(benchmark, "started", fake(dict.fromkeys(WAYS, 1.0), bits="other"))
    with pytest.raises(AssertionError, match="differs between engines"):
        table(WAYS, tmp_path, values=10**9, repeats=2)


def test_all_files_hold_the_same_rows(tmp_path):
    write_files(tmp_path, rows=100, columns=3)
    whole, arrays = (parquet.read_table(tmp_path / kind) for kind in (WHOLE, ARRAYS + WHOLE))
    numbers = whole["number"].to_numpy()
    assert sorted(numbers) == list(range(100))
    by_column = np.column_stack([whole[f"c{place}"].to_numpy() for place in range(3)])[np.argsort(numbers)]
    order = np.argsort(arrays["number"].to_numpy())
    np.testing.assert_array_equal(np.array(arrays["x"].to_pylist())[order], by_column)
    for part in (HALF, ARRAYS + HALF):
        assert len(parquet.read_table(tmp_path / part)) == 50
