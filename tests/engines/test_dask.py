"""Dask: the same bits as NumPy however the table is cut, on threads and on worker processes, killed ones included."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_table import CANARY, COLUMNS, FINE, FRAME, SHUFFLED, TABLE, N, bits, shown

import plandp
from plandp.data import dask_collections, dask_workers
from plandp.data.open import open_rows
from plandp.methods import NAMES

dask = pytest.importorskip("dask")
array = pytest.importorskip("dask.array")
dataframe = pytest.importorskip("dask.dataframe")

UNORDERED = [name for name in NAMES if name != "plan-classic"]


def frames(partitions: int) -> Any:
    return dataframe.from_pandas(SHUFFLED, npartitions=partitions, sort=False)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_workers_without_this_plandp_are_found_before_anything_is_spent(
    kind: str, dask_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("people", rho=1)
    data = array.from_array(TABLE, chunks=(2_500, 2)) if kind == "array" else frames(2)[COLUMNS]

    def release() -> plandp.MeanRelease:
        return plandp.mean(data, **{**FINE, "rho": 0.5, "testing_seed": None}, ledger=ledger, dataset="people")

    monkeypatch.setattr(dask_workers, "ASKED", "plandp_of_nobody.data.own_copy.own_copy")
    with pytest.raises(plandp.ArgumentError, match=r"^data: a worker of Dask cannot run this plandp; install"):
        release()  # without a cluster
    monkeypatch.undo()
    assert ledger.status("people").spent == 0
    with dask_cluster.as_current():
        release()
    assert ledger.status("people").spent == Fraction(1, 2)


@pytest.mark.parametrize("lacks", [True, False], ids=["none", "altered"])
def test_each_worker_is_asked_before_anything_is_spent_and_none_leaves_the_cluster(
    lacks: bool, dask_cluster: Any, altered_copy: Path, tmp_path: Path
) -> None:
    """One that cannot unpickle a task would leave: it may be somebody else's, and hold their data."""
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("people", rho=1)
    if lacks:
        (tmp_path / "plandp.py").write_text("raise ModuleNotFoundError('plandp')")
    said = "cannot run this plandp; install" if lacks else r"has plandp 0\.1\.0 \(source .*, and this process has "
    data = array.from_array(TABLE, chunks=(2_500, 2))
    with another_worker(dask_cluster, tmp_path if lacks else altered_copy, tmp_path / "log"), on(dask_cluster):
        workers = dask_cluster.nthreads()
        for _ in range(3):
            with pytest.raises(plandp.ArgumentError, match=rf"^data: a worker of Dask at tcp://\S+ {said}"):
                plandp.mean(data, bounds=(0, 1), rho=0.5, ledger=ledger, dataset="people")
        assert dask_cluster.nthreads() == workers
    assert ledger.status("people").spent == 0


class Cluster:
    """A client whose workers answer what is told to it; those that are still there have threads."""

    def __init__(self, **others: object) -> None:
        self.others, self.gone = others, ["dead"]

    def get(self, *arguments: Any, **settings: Any) -> Any:
        raise AssertionError("no task is needed")

    def run(self, function: Any, *, on_error: str) -> dict[str, object]:
        return {"here": function(), **self.others}

    def nthreads(self) -> dict[str, int]:
        return {name: 1 for name in ("here", *self.others) if name not in self.gone}


def test_workers_that_died_are_not_waited_for() -> None:
    with dask.config.set(scheduler=Cluster(dead=OSError("closed")).get):
        dask_workers.refuse_workers()


@pytest.mark.parametrize("error", [ModuleNotFoundError("plandp"), FileNotFoundError("a source file")], ids=str)
def test_a_worker_that_is_there_and_cannot_tell_is_refused(error: Exception) -> None:
    """Whatever it raises: what reading its own source raises looks like what a dead worker leaves."""
    with (
        dask.config.set(scheduler=Cluster(lacks=error, dead=OSError("closed")).get),
        pytest.raises(plandp.ArgumentError, match=r"^data: a worker of Dask at lacks cannot run this plandp; install"),
    ):
        dask_workers.refuse_workers()


def test_where_a_cluster_cannot_be_asked_a_task_finds_out() -> None:
    class Gone(Cluster):
        def run(self, function: Any, *, on_error: str) -> dict[str, object]:
            raise OSError("the scheduler is gone")

    for scheduler in (Gone().get, "no such scheduler"):
        with (
            dask.config.set(scheduler=scheduler),
            pytest.raises(plandp.ArgumentError, match=r"^data: a worker of Dask cannot run this plandp; install"),
        ):
            dask_workers.refuse_workers()


def test_every_function_that_is_sent_to_workers_is_refused_by_those_of_another_source(sender: Any) -> None:
    parts = array.from_array(TABLE, chunks=(4_500, 3))

    def work() -> None:
        open_rows(parts).sample(np.arange(0, N, 2)).fold(CountRows())

    said = r"^data: a worker of Dask has another source of plandp than this process, which has .*; install the same on"
    assert sender.refused(work, said) == 2 + 2 * (2 + 1)  # two parts are picked, then twice folded and merged


def test_one_worker_of_another_source_among_others_ends_the_release_and_logs_no_data(
    dask_cluster: Any, altered_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that is asked before has the right source, as most have."""
    monkeypatch.setattr(dask_collections, "refuse_workers", lambda: None)
    parts = array.from_array(np.full((N, 3), CANARY), chunks=(500, 3))
    log = tmp_path / "log"
    said = r"^data: a worker of Dask has another source of plandp than this process, which has .*, so that nothing is "
    with another_worker(dask_cluster, altered_copy, log), on(dask_cluster):
        with pytest.raises(plandp.ArgumentError, match=said) as told:
            open_rows(parts).fold(CountRows())
        with pytest.raises(plandp.ArgumentError, match=said):
            plandp.mean(parts, **FINE)
    assert told.value.__context__ is None
    assert "this worker has another source of plandp" in log.read_text()
    assert str(CANARY)[:5] not in log.read_text() + shown(told.value)
    with on(dask_cluster):
        assert open_rows(parts).fold(CountRows())[0].tolist() == [N]


def test_what_was_read_before_a_worker_of_another_source_is_found_stays_spent(sender: Any, tmp_path: Path) -> None:
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("people", rho=1)
    sender.other_at = 1
    with pytest.raises(plandp.ArgumentError, match=r"^data: a worker of Dask has another source of plandp"):
        plandp.mean(array.from_array(TABLE, chunks=(4_500, 3)), bounds=(0, 1), rho=0.5, ledger=ledger, dataset="people")
    assert ledger.status("people").spent == Fraction(1, 2)


@contextmanager
def another_worker(client: Any, place: Path, log: Path) -> Iterator[None]:
    """Let a further process work for the cluster, which has the plandp that lies at this place."""
    before = len(client.nthreads())
    command = [sys.executable, "-m", "distributed.cli.dask_worker", client.scheduler.address]
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--no-nanny", "--no-dashboard", "--nthreads", "1", "--local-directory", str(log.parent)],
            env={**os.environ, "PYTHONPATH": str(place)},
            stdout=file,
            stderr=file,
        )
        try:
            client.wait_for_workers(before + 1, timeout=60)
            yield
        finally:
            process.kill()  # asked to end, it may wait for half a minute
            process.wait(60)
    while len(client.nthreads()) > before:
        time.sleep(0.05)


def test_an_array_that_says_that_it_has_no_rows_costs_nothing(tmp_path: Path) -> None:
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("people", rho=1)
    with pytest.raises(plandp.ArgumentError, match=r"^data: a table of 0 rows × 2 columns has no mean"):
        plandp.mean(array.zeros((0, 2)), bounds=(0, 1), rho=0.5, ledger=ledger, dataset="people")
    assert ledger.status("people").spent == 0


@pytest.mark.parametrize("chunks", [(N, 3), (2_500, 2), ((1, 0, 4_000, N - 4_001), (3,))], ids=str)
def test_an_array_is_numbered_by_position_however_it_is_cut(chunks: Any) -> None:
    made = plandp.mean(array.from_array(TABLE, chunks=chunks), **FINE)
    assert bits(made) == bits(plandp.mean(TABLE, **FINE))
    assert made.receipt.passes == 2


@pytest.mark.parametrize("method", UNORDERED)
def test_every_method_without_order_gives_the_same_bits(method: str) -> None:
    unnumbered = plandp.mean(TABLE, method=method, row_index=False, **FINE)
    assert bits(plandp.mean(frames(3)[COLUMNS], method=method, **FINE)) == bits(unnumbered)
    cut = array.from_array(TABLE[::-1], chunks=(4_000, 2))
    assert bits(plandp.mean(cut, method=method, row_index=False, **FINE)) == bits(unnumbered)
    numbered = plandp.mean(FRAME, method=method, row_index="number", **FINE)
    assert bits(plandp.mean(frames(4), method=method, row_index="number", **FINE)) == bits(numbered)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own, of reading Parquet with pandas 3
def test_lists_become_an_array_as_the_page_says(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(TABLE.ravel()), 3)
    parquet.write_table(pyarrow.table({"x": lists}), tmp_path / "embeddings.parquet")
    cells = dataframe.read_parquet(tmp_path / "embeddings.parquet")["x"].to_dask_array(lengths=True)
    rows = cells.map_blocks(np.vstack, dtype=float, new_axis=1, chunks=(cells.chunks[0], (3,)))
    assert bits(plandp.mean(rows, **FINE)) == bits(plandp.mean(TABLE, **FINE))


def test_rows_of_unknown_number_are_counted() -> None:
    cut = array.from_array(TABLE, chunks=(2_500, 3))
    some = cut[array.isfinite(cut[:, 2])]
    made = plandp.mean(some, **FINE)
    assert bits(made) == bits(plandp.mean(TABLE[np.isfinite(TABLE[:, 2])], **FINE))
    assert (made.receipt.n, made.receipt.passes) == (N - 1, 3)


def test_columns_are_chosen_as_elsewhere() -> None:
    expected = bits(plandp.mean(TABLE[:, [2, 0]], row_index=False, **FINE))
    assert bits(plandp.mean(frames(2), columns=["c", "a"], **FINE)) == expected
    assert bits(plandp.mean(array.from_array(TABLE), columns=[2, 0], row_index=False, **FINE)) == expected
    one = plandp.mean(frames(2)["b"], **FINE)
    assert bits(one) == bits(plandp.mean(TABLE[:, 1], row_index=False, **FINE))
    assert one.labels == ("b",)


@pytest.mark.parametrize("method", ["plan", "iome"])
@pytest.mark.parametrize("kind", ["binary", "nonnegative"])
def test_items_give_the_same_bits(kind: str, method: str) -> None:
    if (kind, method) == ("nonnegative", "iome"):
        return
    table = np.random.default_rng(2).poisson(0.08, (3_000, 20)).astype(float)
    table[7, 3] = np.nan
    fine: dict[str, Any] = {"kind": kind, "bounds": (0, 1 if kind == "binary" else 4), "rho": 1, "testing_seed": 1}
    made = plandp.mean(array.from_array(table, chunks=(700, 9)), method=method, **fine)
    assert made.estimate.tobytes() == plandp.mean(table, method=method, **fine).estimate.tobytes()


@pytest.mark.parametrize(
    ("data", "arguments", "message"),
    [
        (
            lambda: frames(2),
            {"method": "plan-classic"},
            "method: goes by the order of the rows, which Dask does not keep",
        ),
        (lambda: array.from_array(TABLE), {"method": "plan-classic"}, "method: goes by the order of the rows"),
        (
            lambda: array.from_array(np.eye(3) > 0, chunks=2),
            {"method": "plan-classic", "kind": "binary"},
            "method: goes",
        ),
        (lambda: frames(2), {"row_index": "id"}, "row_index: the data has no column 'id'; its columns are 'a', 'b'"),
        (lambda: frames(2), {"columns": ["z"]}, "columns: the data has no column 'z'"),
        (lambda: frames(2).assign(t="x"), {}, "data: column 't' has dtype"),
        (lambda: array.from_array(TABLE.astype(complex)), {}, "data: the array holds complex numbers"),
        (lambda: array.zeros((3, 2, 2)), {}, "data: the array has 3 dimensions"),
        (lambda: array.zeros((0, 2)), {}, "data: a table of 0 rows × 2 columns has no mean"),
        (lambda: frames(2)[[]], {}, "data: a table of 9000 rows × 0 columns has no mean"),
        (
            lambda: array.ma.masked_greater(array.ones((4, 2)), 3),
            {},
            "data: the blocks of the Dask array are not",
        ),
        (lambda: dask.delayed(TABLE), {}, "data: a DelayedLeaf of Dask is not accepted; pass an array"),
        (lambda: frames(2).index, {}, "data: an Index of Dask is not accepted; pass an array, dataframe"),
    ],
)
def test_what_is_refused_is_refused_before_a_value_is_read(data: Any, arguments: Any, message: str) -> None:
    with pytest.raises(plandp.ArgumentError) as refused:
        plandp.mean(data(), **({"rho": 1} if "kind" in arguments else FINE), **arguments)
    assert str(refused.value).startswith(message)


def test_a_number_that_is_missing_or_doubled_is_refused() -> None:
    doubled = SHUFFLED.assign(number=SHUFFLED["number"] // 2 * 2)
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each"):
        plandp.mean(dataframe.from_pandas(doubled, npartitions=3, sort=False), row_index="number", **FINE)


@pytest.mark.parametrize("method", ["plan", "gaussian"])
@pytest.mark.parametrize("wrong", ["from one", "one twice", "one missing"])
def test_wrong_numbers_are_seen_whatever_the_sample(wrong: str, method: str) -> None:
    numbers = SHUFFLED["number"].astype(float)
    spoilt = {"from one": numbers + 1, "one twice": numbers.replace(3, 4), "one missing": numbers.replace(3, np.nan)}
    data = dataframe.from_pandas(SHUFFLED.assign(number=spoilt[wrong]), npartitions=3, sort=False)
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each"):
        plandp.mean(data, row_index="number", method=method, **FINE)


def test_samples_of_samples_go_by_number() -> None:
    chosen, every_third = np.arange(1, N, 7), np.arange(0, len(np.arange(1, N, 7)), 3)
    expected = np.arange(1, N, 7)[::3]
    rows = open_rows(frames(4)[["number", "a"]].assign(own=frames(4)["number"]), row_index="number")
    (found,) = rows.sample(chosen).sample(every_third).fold(OwnNumbers())
    assert found.tolist() == [len(expected), expected.sum(), (expected**2).sum()]


class OwnNumbers:
    def __call__(self, block: np.ndarray, /) -> tuple[np.ndarray, ...]:
        own = block[:, 1].astype(np.int64)
        return (np.array([len(own), own.sum(), (own**2).sum()]),)


def broken(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    """A source that fails, as sources do: with the cell in the message."""
    raise ValueError(f"cannot read {CANARY}")


def not_numbers(block: np.ndarray) -> np.ndarray:
    return block.astype(str)


@pytest.mark.parametrize("block_function", [broken, not_numbers])
def test_a_part_that_cannot_be_read_is_an_error_without_data(block_function: Any) -> None:
    table = TABLE.copy()
    table[10] = CANARY
    failing = array.from_array(table, chunks=(3_000, 3)).map_blocks(block_function, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(plandp.ArgumentError, match=r"^data: Dask lost a part of the data or could not read it") as told:
        plandp.mean(failing, **FINE)
    assert "48.15" not in shown(told.value)


def grows(block: np.ndarray, folder: str) -> np.ndarray:
    """One more row every time."""
    seen = len(os.listdir(folder))
    (Path(folder) / str(seen)).touch()
    return np.concatenate([block, block[:1]]) if seen else block


def test_a_part_that_changes_between_passes_is_an_error(tmp_path: Path) -> None:
    changing = array.from_array(TABLE, chunks=(N, 3)).map_blocks(grows, str(tmp_path), dtype=float, chunks=((N,), (3,)))
    with pytest.raises(plandp.ArgumentError, match=r"^data: Dask brought 9001 rows, and 9000 before"):
        plandp.mean(changing, **FINE)


def test_chunks_that_are_not_as_long_as_they_say_are_no_fault_of_row_numbers() -> None:
    lying = array.from_array(TABLE, chunks=(4_500, 3)).map_blocks(lambda block: block[:4_000], dtype=float)
    with pytest.raises(plandp.ArgumentError, match=r"^data: the chunks of the Dask array are not as long as it says"):
        plandp.mean(lying, **FINE)


def test_a_cluster_without_workers_is_an_error_where_dask_is_told_not_to_wait() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "1s"}),
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        on(client),
        pytest.raises(plandp.ArgumentError, match=r"^data: a worker of Dask cannot run this plandp"),
    ):
        plandp.mean(array.from_array(TABLE, chunks=(4_500, 3)), **FINE)


@contextmanager
def on(client: Any) -> Iterator[None]:
    """Let Dask compute on the cluster."""
    with client.as_current():
        yield


def test_worker_processes_give_the_same_bits(dask_cluster: Any) -> None:
    with on(dask_cluster):
        assert bits(plandp.mean(array.from_array(TABLE, chunks=(2_500, 2)), **FINE)) == bits(plandp.mean(TABLE, **FINE))
        made = plandp.mean(frames(5), row_index="number", **FINE)
    assert bits(made) == bits(plandp.mean(FRAME, row_index="number", **FINE))


def test_only_sums_come_to_the_driver(dask_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 3 numbers on 5 parts: what is gathered does not grow with them, and the sample is never gathered."""
    brought: list[Any] = []
    gather = type(dask_cluster).gather

    def noted(self: Any, futures: Any, **options: Any) -> Any:
        found = gather(self, futures, **options)
        brought.append(found)
        return found

    monkeypatch.setattr(type(dask_cluster), "gather", noted)
    with on(dask_cluster):
        rows = open_rows(array.from_array(TABLE, chunks=(2_000, 3)))
        sample = rows.sample(np.arange(0, N, 2))
        (counted,) = sample.fold(CountRows())
        (whole,) = rows.fold(CountRows())
    assert (counted.tolist(), whole.tolist()) == ([N // 2], [N])
    arrays = [part for sums in brought for (total,) in [sums] for part in total]
    kinds = "".join(part.dtype.kind for part in arrays)
    assert kinds == "iiiiui"  # the numbers found; twice the rows and their sum, once between them four sums of numbers
    assert sorted(part.size for part in arrays) == [1, 1, 1, 1, 4, N // 2]


class CountRows:
    def __call__(self, block: np.ndarray, /) -> tuple[np.ndarray, ...]:
        return (np.array([len(block)]),)


def dies_once(block: np.ndarray, folder: str, times: int) -> np.ndarray:
    """A part whose worker is killed while it is read for the `times`-th time."""
    seen = len(os.listdir(folder))
    (Path(folder) / str(seen)).touch()
    if seen + 1 == times:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.parametrize("times", [1, 3])
def test_a_killed_worker_changes_nothing(dask_cluster: Any, tmp_path: Path, times: int) -> None:
    """Four parts: first while the sample is drawn, which is then lost with its worker; then in the middle of it."""
    parts = array.from_array(TABLE, chunks=(2_250, 3))
    deadly = parts.map_blocks(dies_once, str(tmp_path), times, dtype=float, meta=np.empty((0, 3)))
    with on(dask_cluster):
        made = plandp.mean(deadly, **FINE)
    assert len(os.listdir(tmp_path)) > 2 * 4  # it was killed, and read again
    assert bits(made) == bits(plandp.mean(TABLE, **FINE))
