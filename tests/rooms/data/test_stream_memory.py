"""What a release from a large file holds: the resident memory of a new process hardly grows, whatever the file is."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

N, D = 1_000_000, 8
SIZE = 8 * N * D

SCRIPT = """
import sys
import plandp
from plandp.data import arrow_file, batches, stored_columns, streamed_rows
from plandp_lab.gauge import resident_peak

batches.VALUES_AT_A_TIME = arrow_file.LARGE = stored_columns.STRETCH = 2**16
streamed_rows.IN_MEMORY = int(sys.argv[1])
for small, large in zip(sys.argv[2::2], sys.argv[3::2]):
    plandp.mean(small, bounds=(-10, 10), rho=1)  # all that is needed is loaded
    before = resident_peak()
    release = plandp.mean(large, bounds=(-10, 10), rho=1)
    print(release.receipt.n, resident_peak() - before)
"""


def write(folder: Path, n: int) -> list[str]:
    table = np.random.default_rng(0).normal(size=(n, D))
    np.save(folder / f"{n}.npy", table)
    lists = pyarrow.table({"x": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(table.ravel()), D)})
    parquet.write_table(lists, folder / f"{n}-lists.parquet", row_group_size=n, use_dictionary=False)
    columns = pyarrow.table({f"c{place}": table[:, place] for place in range(D)})
    parquet.write_table(columns, folder / f"{n}.parquet", row_group_size=n, use_dictionary=False)
    feather.write_feather(columns, str(folder / f"{n}.feather"), chunksize=10_000)
    names = [f"{n}.npy", f"{n}-lists.parquet", f"{n}.parquet", f"{n}.feather"]
    for codec in (None, "lz4", "zstd"):
        for kind, stored in (("lists", lists), ("columns", columns)):
            for form, opened in (("file", pyarrow.ipc.new_file), ("stream", pyarrow.ipc.new_stream)):
                names.append(f"{n}-{codec}-{kind}-{form}.arrow")
                options = pyarrow.ipc.IpcWriteOptions(compression=codec)
                with opened(folder / names[-1], stored.schema, options=options) as file:
                    file.write_table(stored, n)  # one batch
    return [str(folder / name) for name in names]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is told by Linux only")
@pytest.mark.parametrize(("in_memory", "held"), [(0, False), (10**9, True)])
def test_a_file_that_is_streamed_is_not_held(tmp_path: Path, in_memory: int, held: bool) -> None:
    """Power: the same files, held in memory, are seen."""
    names = [name for pair in zip(write(tmp_path, 10_000), write(tmp_path, N), strict=True) for name in pair]
    names = names[:2] if held else names
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(in_memory), *names], capture_output=True, text=True, check=True
    )
    for name, line in zip(names[1::2], ran.stdout.splitlines(), strict=True):
        n, grown = map(int, line.split())
        assert n == N
        assert (grown > 0.9 * SIZE) == held, f"{name}: {grown / SIZE:.2f} of the file"
        assert held or grown < 0.4 * SIZE, f"{name}: {grown / SIZE:.2f} of the file"


OF_PLACES = """
import sys
import plandp
from plandp.data import arrow_file, arrow_table, batches, streamed_rows
from plandp_lab.gauge import resident_peak

batches.VALUES_AT_A_TIME = arrow_file.LARGE = 2**16
arrow_table.ANY_WIDTH = 64
streamed_rows.IN_MEMORY = 0
for small, large in zip(sys.argv[1::2], sys.argv[2::2]):
    plandp.mean(small, columns=["x[3]"], bounds=(-10, 10), rho=1)
    before = resident_peak()
    release = plandp.mean(large, columns=["x[3]"], bounds=(-10, 10), rho=1)
    print(release.receipt.n, resident_peak() - before)
"""
WIDTH = 64


def write_lists(folder: Path, n: int) -> list[str]:
    values = pyarrow.array(np.random.default_rng(0).normal(size=n * WIDTH))
    offsets = pyarrow.array(np.arange(0, n * WIDTH + 1, WIDTH, dtype=np.int32))
    names = []
    for kind, lists in (
        ("fixed", pyarrow.FixedSizeListArray.from_arrays(values, WIDTH)),
        ("any", pyarrow.ListArray.from_arrays(offsets, values)),
    ):
        table = pyarrow.table({"x": lists, "y": np.zeros(n)})
        names += [str(folder / f"{n}-{kind}{ending}") for ending in (".parquet", ".feather")]
        parquet.write_table(table, names[-2], row_group_size=n, use_dictionary=False)
        feather.write_feather(table, names[-1], chunksize=n)
    return names


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is told by Linux only")
def test_of_lists_of_which_one_place_is_read_a_few_are_unpacked_at_a_time(tmp_path: Path) -> None:
    n = 120_000
    names = [name for pair in zip(write_lists(tmp_path, 2_000), write_lists(tmp_path, n), strict=True) for name in pair]
    ran = subprocess.run([sys.executable, "-c", OF_PLACES, *names], capture_output=True, text=True, check=True)
    for name, line in zip(names[1::2], ran.stdout.splitlines(), strict=True):
        rows, grown = map(int, line.split())
        assert rows == n
        assert grown < 0.5 * 8 * n * WIDTH, f"{name}: {grown / (8 * n * WIDTH):.2f} of the file"
