"""Spark: the same bits as in memory, from columns, arrays, vectors and events; a killed worker changes nothing."""

import gc
import importlib.util
import logging
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
import pandas
import pytest
from engine_table import CANARY, COLUMNS, FINE, FRAME, N, bits, shown

import plandp
from plandp.data import own_copy as own_copy_file
from plandp.data import spark_parts, spark_workers
from plandp.data.open import open_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.own_copy import PlandpCopy, own_copy
from plandp.mechanisms.item_rows import ItemCounts
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.read_again import TallyBetween
from plandp.terms.columns import read_columns

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

GAUSSIAN = FINE | {"method": "gaussian"}  # two jobs: one to count, one to add up
EVENTS = pandas.DataFrame(
    {
        "user": np.random.default_rng(3).integers(0, 300, 2_000),
        "page": np.random.default_rng(4).choice(["home", "help", "é", "gone"], 2_000),
        "seconds": np.random.default_rng(5).exponential(3.0, 2_000),
    }
)
ITEMS = ["home", "help", "é", "never"]


def read(spark: Any, frame: pandas.DataFrame | Any, folder: Path) -> Any:
    """The frame in three partitions."""
    table = pyarrow.Table.from_pandas(frame, preserve_index=False) if isinstance(frame, pandas.DataFrame) else frame
    folder.mkdir()
    for number in range(3):
        part = table.slice(number * len(table) // 3, (number + 1) * len(table) // 3 - number * len(table) // 3)
        pyarrow.parquet.write_table(part, folder / f"{number}.parquet")
    return spark.read.parquet(str(folder))


@pytest.fixture
def frame(spark: Any, parquet_files: Path) -> Any:
    return spark.read.parquet(str(parquet_files))


@pytest.fixture
def not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_workers, "_able", WeakSet())


@pytest.mark.usefixtures("not_asked")
@pytest.mark.parametrize("kind", ["columns", "arrays", "events"])
def test_workers_that_cannot_run_plandp_are_found_before_anything_is_spent(
    spark: Any, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("people", rho=1, **({"person": "user"} if kind == "events" else {}))
    spend = {"rho": 0.5, "ledger": ledger, "dataset": "people"}
    table = spark.range(50).selectExpr("id AS user", "id % 7 AS page")

    def release() -> None:
        if kind == "events":
            plandp.mean_of_events(table, person="user", item="page", items=[1, 2], people=50, **spend)
        elif kind == "arrays":
            plandp.mean(table.selectExpr("array(user, page) AS x"), bounds=(0, 9), columns=[0, 1], **spend)
        else:
            plandp.mean(table, bounds=(0, 9), **spend)

    argument = "table" if kind == "events" else "data"
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(tmp_path / "no python"))
    for _ in range(2):  # and found again: who was refused is not able
        with pytest.raises(
            plandp.ArgumentError, match=rf"^{argument}: Spark's Python workers cannot run plandp;.*PYSPARK"
        ):
            release()
    monkeypatch.undo()
    monkeypatch.setattr(spark_workers, "_able", WeakSet())
    monkeypatch.setattr(own_copy_file, "own_copy", other_copy)
    for _ in range(2):
        with pytest.raises(
            plandp.ArgumentError,
            match=rf"^{argument}: Spark's Python workers have plandp .*, and this process has .* \(source 77777777\); ",
        ):
            release()
    assert ledger.status("people").spent == 0


@pytest.mark.parametrize(("share", "most"), [(16, 5), (2, 2), (0.5, 1)])
def test_large_sums_are_merged_before_they_come_to_the_driver(
    spark: Any, share: float, most: int, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sixteen sums of 30 MB Spark brought one, or none, without an error."""
    table = spark.range(0, 50, 1, 5).selectExpr(*(f"DOUBLE(id + {place}) AS c{place}" for place in range(4)))
    function = tally_of(4)
    monkeypatch.setattr(spark_parts, "BROUGHT", int(share * size_of(function, 4)))
    found = open_rows(table).fold(function)
    wanted = open_rows(np.arange(50.0)[:, None] + np.arange(4.0)).fold(function)
    for sums, same in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(sums, same)
    assert together[0] == 5 if most == 5 else 1 <= together[0] <= most


def test_sums_are_merged_where_fewer_partitions_were_counted_than_are_read(
    spark: Any, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark joins partitions of a shuffle that are small, as those of the row count are, of which no column is read."""
    settings = {"spark.sql.shuffle.partitions": "8", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "40k"}
    settings["spark.sql.adaptive.coalescePartitions.minPartitionSize"] = "40k"
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        table = spark.range(0, 2_000, 1, 4).selectExpr("id", *(f"rand({place}) AS c{place}" for place in range(64)))
        rows = open_rows(table.repartition("id").drop("id"))
        assert rows._parts.partitions.about == 1
        function = tally_of(64)
        monkeypatch.setattr(spark_parts, "BROUGHT", 3 * size_of(function, 64))
        found = [rows.fold(function) for _ in range(2)]
        for sums, same in zip(*found, strict=True):
            np.testing.assert_array_equal(sums, same)
        assert found[0][0].sum() == 2_000 * 64
        assert 4 <= rows._parts.partitions.about <= 8  # what the first fold saw
    finally:
        for name, setting in before.items():
            spark.conf.unset(name) if setting is None else spark.conf.set(name, setting)
    assert len(together) == 2
    assert max(together) <= 3


def test_no_merge_holds_more_sums_than_any_other(spark: Any) -> None:
    """Places are hashed to tasks, of which one had ten of a hundred sums where two were meant."""
    sums = [(pickle.dumps((np.array([1]),)), place, place) for place in range(99)]
    frame = spark.createDataFrame(sums, "sums binary, place int, last int")
    with spark_parts.quiet():
        merged = spark_parts._merged(frame, 50).collect()
    assert sorted(pickle.loads(row.sums)[0][0] for row in merged) == [1] + 49 * [2]
    assert sorted(row.place for row in merged) == list(range(50))
    assert max(row.last for row in merged) == 98


@pytest.mark.parametrize("size", [0, 1, 2**20, 2**25, 2**28])
@pytest.mark.parametrize("partitions", [1, 2, 16, 17, 200, 1_000, 10_000])
def test_no_more_sums_are_brought_than_the_driver_may_hold(partitions: int, size: int) -> None:
    for counted in (1, partitions):
        left = partitions
        for groups in spark_parts.Partitions(counted, most=partitions).merges(size):
            assert left <= max(spark_parts.FEWEST_MERGED, min(16, 2**26 // max(1, size))) * groups
            left = groups
        assert left == 1 or left * size <= 2**26
        assert left <= 16 or counted < left


def test_counts_of_items_are_merged_before_they_come_to_the_driver(
    spark: Any, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.ml.linalg import Vectors, VectorUDT
    from pyspark.sql.types import StructField, StructType

    cells = [(Vectors.sparse(90, [(number % 90, 1.0)]),) for number in range(180)]
    schema = StructType([StructField("v", VectorUDT(), True)])
    vectors = spark.createDataFrame(cells, schema).repartition(5)
    monkeypatch.setattr(spark_parts, "BROUGHT", 2 * 90 * 8)
    rows = open_sparse_rows(vectors, binary=True, columns=range(90))
    (counts,) = rows.fold(ItemCounts(d=90))
    np.testing.assert_array_equal(counts, np.full(90, 2))
    assert 1 <= together[0] <= 2


def tally_of(d: int) -> TallyBetween:
    """A function whose sums are large."""
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(0, 100), smallest_spread=2.0))
    points = np.tile([10.0, 20.0, 45.0, 50.0, 60.0], (d, 1))
    return TallyBetween(lattice=lattice, missing=None, points=points, kind=np.int32)


def size_of(function: TallyBetween, d: int) -> int:
    return sum(sums.nbytes for sums in function(np.empty((0, d))))


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sums were merged at once in this process, every time: workers have their own."""
    found: list[int] = []
    merge = spark_parts.merge_parts

    def told(parts: Any) -> Any:
        held = list(parts)
        found.append(len(held))
        return merge(iter(held))

    monkeypatch.setattr(spark_parts, "merge_parts", told)
    return found


def other_copy() -> PlandpCopy:
    """Return another source of the same version; workers, who import the module anew, do not have it."""
    return PlandpCopy(version=own_copy().version, source="7" * 64)


@pytest.mark.parametrize("kind", ["rows", "events"])
def test_every_function_is_sent_to_workers_of_this_source_alone(
    spark: Any, sender: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_parts, "MERGED_AT_ONCE", 2)
    table = spark.range(0, 50, 1, 3).selectExpr("id AS user", "id % 7 AS page")

    def work() -> None:
        if kind == "rows":
            sample = open_rows(table, row_index="user").sample(np.arange(0, 50, 2))
            sample.fold(lambda block: (np.array([len(block)]),))
            open_rows(table).fold(lambda block: (np.array([len(block)]),))
        else:
            plandp.mean_of_events(table, person="user", item="page", items=[1], people=9, rho=1, testing_seed=1)

    argument = "data" if kind == "rows" else "table"
    said = rf"^{argument}: a worker of Spark has another source of plandp than this process, which has .*; install the "
    # A sample is picked and folded twice, three parts are folded and merged; ids are hashed and counted by their
    # digits, events grouped and folded.  The first alone is tried: each takes Spark four attempts.
    assert sender.refused(work, said, up_to=1) == {"rows": 5, "events": 9}[kind]
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def test_workers_of_another_source_end_the_release(
    spark: Any, frame: Any, altered_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was asked before had the right source, as most have."""
    monkeypatch.setattr(spark_workers, "_able", WeakSet([frame.sparkSession]))
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(altered_copy))
    with pytest.raises(plandp.ArgumentError, match=r"^data: a worker of Spark has another source of plandp") as told:
        plandp.mean(frame, columns=COLUMNS, **GAUSSIAN)
    assert told.value.__context__ is None
    monkeypatch.setattr(spark_workers, "_able", WeakSet())
    with pytest.raises(plandp.ArgumentError, match=r"^data: Spark's Python workers have plandp .*, and this process"):
        plandp.mean(frame, columns=COLUMNS, **GAUSSIAN)


@pytest.mark.usefixtures("not_asked")
def test_workers_with_a_plandp_that_was_never_installed_are_able(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A zip that Spark ships has no version: then theirs is none, here ours."""
    unversioned = PlandpCopy(version="", source=own_copy().source)
    monkeypatch.setattr(own_copy_file, "own_copy", lambda: unversioned)
    assert plandp.mean(frame, columns=COLUMNS, **GAUSSIAN).labels == tuple(COLUMNS)


@pytest.mark.usefixtures("not_asked")
def test_workers_are_asked_once_a_session(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    copy_of = spark_workers._copy_of
    monkeypatch.setattr(spark_workers, "_copy_of", lambda session: asked.append(1) or copy_of(session))
    for _ in range(3):
        plandp.mean(frame, columns=COLUMNS, **GAUSSIAN)
    assert asked == [1]


@pytest.mark.usefixtures("spark")
def test_the_examples_of_the_page_run_and_print_what_they_show(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Path(__file__).parents[1] / "docs" / "test_documents.py"
    spec = importlib.util.spec_from_file_location("documents", documents)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # its dataclasses look for it there
    spec.loader.exec_module(module)
    for page in module.WITH_SPARK:
        module.run(page)


def test_columns_of_every_numeric_type(spark: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    mixed = pandas.DataFrame(
        {
            "long": rng.integers(-(2**62), 2**62, 90),
            "short": rng.integers(-5, 5, 90).astype(np.int16),
            "float": rng.normal(0, 1, 90).astype(np.float32),
            "yes": rng.random(90) < 0.5,
            "back`tick.dot": rng.normal(0, 1, 90),
        }
    )
    mixed["money"] = pandas.array(
        [Decimal(7), Decimal("1.15"), None] * 30, pandas.ArrowDtype(pyarrow.decimal128(20, 4))
    )
    mixed["few"] = pandas.array([None, 1, 2] * 30, dtype="Int32")
    made = plandp.mean(read(spark, mixed, tmp_path / "t"), **(GAUSSIAN | {"bounds": (-4, 4), "smallest_spread": 1}))
    assert bits(made) == bits(plandp.mean(mixed, **(GAUSSIAN | {"bounds": (-4, 4), "smallest_spread": 1})))
    assert made.labels == tuple(mixed.columns)


def test_one_column_of_arrays_is_the_table(spark: Any, tmp_path: Path) -> None:
    rows: list[Any] = FRAME[COLUMNS].to_numpy().tolist()
    rows[3:8] = [None, 1.0, 2.0], None, [], [5.0], [1.0, 2.0, 3.0, 4.0]
    table = pyarrow.table({"x": pyarrow.array(rows)})
    frame = read(spark, table, tmp_path / "t")
    made = plandp.mean(frame, columns=[2, 0], **GAUSSIAN)
    assert bits(made) == bits(plandp.mean(table, columns=[2, 0], **GAUSSIAN))
    assert made.labels == (2, 0)
    named = plandp.mean(frame, columns=["x[2]", "x[0]"], **GAUSSIAN)
    assert named.estimate.tobytes() == made.estimate.tobytes()
    assert named.labels == ("x[2]", "x[0]")


def test_places_of_arrays_beside_other_columns_are_named_as_in_files(spark: Any, tmp_path: Path) -> None:
    rows: list[Any] = FRAME[COLUMNS].to_numpy().tolist()
    rows[3:8] = [None, 1.0, 2.0], None, [], [5.0], [1.0, 2.0, 3.0, 4.0]
    table = pyarrow.table({"x": pyarrow.array(rows), "number": np.arange(N), "z": ["text"] * N})
    made = read(spark, table, tmp_path / "t")
    asked = GAUSSIAN | {"columns": ["x[2]", "x[0]"], "row_index": "number"}
    released = plandp.mean(made, **asked)
    assert bits(released) == bits(plandp.mean(table, **asked))
    assert released.labels == ("x[2]", "x[0]")
    for columns, message in (
        (["x"], "data: column 'x' holds arrays of no fixed length; name the places that are read: columns=['x[0]', "),
        (["x[0]", "number"], "columns: places of column 'x' are read alone; leave out the other columns"),
        (["x[a]"], "columns: the data has no column 'x[a]'; its columns are 'x', 'number', 'z'"),
    ):
        with pytest.raises(plandp.ArgumentError) as told:
            plandp.mean(made, columns=columns, **GAUSSIAN)
        assert str(told.value).startswith(message)


def test_arrays_of_something_else_are_called_so(spark: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^data: column 'x' has dtype array<string>, and arrays must hold"):
        plandp.mean(spark.createDataFrame([(["a"],)], "x array<string>"), columns=range(1), **GAUSSIAN)


def test_the_length_of_arrays_is_never_read_from_them(spark: Any, tmp_path: Path) -> None:
    arrays = read(spark, pyarrow.table({"x": [[1.0, 2.0]] * 3}), tmp_path / "t")
    with pytest.raises(plandp.ArgumentError, match=r"^data: column 'x' holds arrays of no fixed length; name the"):
        plandp.mean(arrays, **GAUSSIAN)
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the data has no column 'id'"):
        plandp.mean(arrays, columns=[0, 1], row_index="id", **GAUSSIAN)


def test_vectors_dense_and_sparse(spark: Any) -> None:
    from pyspark.ml.linalg import Vectors, VectorUDT
    from pyspark.sql.types import StructField, StructType

    table = np.random.default_rng(2).poisson(0.2, (60, 8)).astype(float)
    cells: list[Any] = [
        (Vectors.dense(row) if number % 2 else Vectors.sparse(8, [(at, row[at]) for at in np.flatnonzero(row)]),)
        for number, row in enumerate(table)
    ]
    cells[5:8] = (None,), (Vectors.sparse(2, [(1, 7.0)]),), (Vectors.dense([1.0]),)
    vectors = spark.createDataFrame(cells, StructType([StructField("v", VectorUDT(), True)]))
    table[5:8] = np.nan
    table[6, :2], table[7, 0] = (0.0, 7.0), 1.0
    for places in (range(8), [5, 1]):
        fine = GAUSSIAN | {"columns": places}
        assert bits(plandp.mean(vectors, **fine)) == bits(plandp.mean(table, **fine))
    fine = {"kind": "nonnegative", "bounds": (0, 3), "rho": 1, "testing_seed": 2, "columns": [5, 0, 3]}
    assert plandp.mean(vectors, **fine).estimate.tobytes() == plandp.mean(table, **fine).estimate.tobytes()


@pytest.mark.parametrize(("people", "measure", "bounds"), [(500, "seconds", (0, 20)), (120, "presence", None)])
def test_events_are_grouped_as_in_memory(
    spark: Any, tmp_path: Path, people: int, measure: str, bounds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are 300 ids: all are kept and 200 rows are empty, or the first 120 by their hash are."""
    monkeypatch.setattr("plandp.data.spark_items.EMPTY_AT_A_TIME", 64)
    fine = {"person": "user", "item": "page", "items": ITEMS, "people": people, "rho": 1, "testing_seed": 3}
    made = plandp.mean_of_events(read(spark, EVENTS, tmp_path / "t"), measure=measure, bounds=bounds, **fine)
    expected = plandp.mean_of_events(EVENTS, measure=measure, bounds=bounds, **fine)
    assert made.estimate.tobytes() == expected.estimate.tobytes()
    assert (made.receipt.n, made.receipt.privacy_unit) == (people, "person")
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "plan-classic"}, "method: goes by the order of the rows, which Spark does not keep"),
        ({"row_index": "id"}, "row_index: the data has no column 'id'; its columns are 'a', 'b', 'c', 'number'"),
        ({"columns": ["z"]}, "columns: the data has no column 'z'"),
        ({"columns": ["number"], "row_index": "number"}, "row_index: 'number' is a column to release"),
    ],
)
def test_what_is_refused_needs_no_job(frame: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(plandp.ArgumentError) as refused:
        plandp.mean(frame, **FINE, **arguments)
    assert str(refused.value).startswith(message)


def test_other_types_are_refused_by_name(frame: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^data: column 'a' has dtype string, which is not numeric"):
        plandp.mean(frame.withColumn("a", frame["a"].cast("string")), **FINE)
    with pytest.raises(plandp.ArgumentError, match=r"^person: column 'a' has dtype double; ids are integers or text"):
        plandp.mean_of_events(frame, person="a", item="number", items=[1], people=9, rho=1)
    with pytest.raises(plandp.ArgumentError, match=r"^measure: column 'b' has dtype string, which is not numeric"):
        plandp.mean_of_events(
            frame.withColumn("b", frame["b"].cast("string")).withColumn("a", frame["number"]),
            person="a",
            item="number",
            items=[1],
            people=9,
            measure="b",
            bounds=(0, 1),
            rho=1,
        )


def test_a_stream_is_refused_before_anything_is_spent(spark: Any, tmp_path: Path) -> None:
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("people", rho=1)
    stream = spark.readStream.format("rate").load().select("value")
    with pytest.raises(plandp.ArgumentError, match=r"^data: a streaming DataFrame has no end; write it down first"):
        plandp.mean(stream, bounds=(0, 1), rho=1, ledger=ledger, dataset="people")
    assert ledger.status("people").spent == 0
    events = stream.withColumn("page", stream["value"])
    with pytest.raises(plandp.ArgumentError, match=r"^table: a streaming DataFrame has no end; write it down first"):
        plandp.mean_of_events(events, person="value", item="page", items=[1], people=9, rho=1)


def test_names_that_are_one_to_spark_are_refused_before_anything_is_spent(spark: Any, tmp_path: Path) -> None:
    alike = spark.createDataFrame([(1.0, 2.0, 3)] * 10, ["a", "A", "n"])
    ledger = plandp.Ledger(tmp_path / "budget.sqlite")
    ledger.register("d", rho=9)
    for chosen in ({}, {"columns": ["a"]}, {"columns": ["n"], "row_index": "A"}):
        with pytest.raises(plandp.ArgumentError, match=r"^data: the columns 'a' and 'A' are one to Spark") as told:
            plandp.mean(alike, bounds=(0, 100), rho=1, ledger=ledger, dataset="d", **chosen)
        assert told.value.__context__ is None
    arrays = spark.createDataFrame([([1.0], 0)], ["x", "X"])
    with pytest.raises(plandp.ArgumentError, match=r"^data: the columns 'x' and 'X' are one to Spark"):
        plandp.mean(arrays, columns=[0], row_index="X", bounds=(0, 1), rho=1)
    with pytest.raises(plandp.ArgumentError, match=r"^table: the columns 'u' and 'U' are one to Spark"):
        plandp.mean_of_events(
            alike.selectExpr("n AS u", "n AS U", "n AS p"), person="u", item="p", items=[3], people=9, rho=1
        )
    assert ledger.status("d").left == 9
    assert plandp.mean(alike, columns=["n"], bounds=(0, 100), rho=1, method="gaussian").labels == ("n",)


def test_a_column_of_spark_is_no_table(frame: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^data: a Column of Spark is not accepted; pass a pyspark.sql.Dat"):
        plandp.mean(frame["a"], **FINE)
    with pytest.raises(plandp.ArgumentError, match=r"^table: a Column is not accepted"):
        plandp.mean_of_events(frame["a"], person="u", item="p", items=[3], people=9, rho=1)


@pytest.mark.parametrize("number", ["3", "CAST(NULL AS bigint)", "number + 1000000"])
def test_numbers_of_which_none_is_found_are_no_row_numbers(frame: Any, number: str) -> None:
    wrong = frame.selectExpr("a", f"{number} AS number")
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each of the row numbers"):
        plandp.mean(wrong, row_index="number", **FINE)


@pytest.mark.parametrize(
    "number",
    ["number + 1", "IF(number = 3, 4, number)", "IF(number = 3, NULL, number)", "monotonically_increasing_id()"],
)
def test_wrong_numbers_are_seen_whatever_the_sample(frame: Any, number: str) -> None:
    wrong = frame.repartition(3).selectExpr("a", f"{number} AS number")
    with pytest.raises(plandp.ArgumentError, match=r"^row_index: the column does not hold each of the row numbers"):
        plandp.mean(wrong, row_index="number", **FINE)


def test_events_that_cannot_be_read_are_a_problem_of_the_table(frame: Any) -> None:
    def broken(batches: Iterator[Any]) -> Iterator[Any]:
        raise ValueError(f"cannot read {CANARY}")

    with pytest.raises(plandp.ArgumentError, match=r"^table: Spark lost a part of the data") as told:
        plandp.mean_of_events(
            upstream(frame.selectExpr("number AS u", "number AS p"), broken),
            person="u",
            item="p",
            items=[3],
            people=9,
            rho=1,
        )
    assert "48.15" not in shown(told.value)


def test_row_numbers_of_another_type_are_refused_as_such(frame: Any) -> None:
    text = "CAST(number AS string) AS number"
    for wrong, columns in ((frame.selectExpr("a", text), ["a"]), (frame.selectExpr("array(a) AS x", text), [0])):
        with pytest.raises(
            plandp.ArgumentError, match=r"^row_index: column 'number' has dtype string; row numbers are"
        ):
            plandp.mean(wrong, columns=columns, row_index="number", **FINE)


def test_only_sums_come_to_the_driver(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is collected does not grow with the rows, and a cached sample never comes."""
    brought: list[Any] = []
    collect = type(frame).collect

    def noted(self: Any) -> Any:
        found = collect(self)
        brought.extend(found)
        return found

    monkeypatch.setattr(type(frame), "collect", noted)
    rows = open_rows(frame.select(*COLUMNS, "number"), row_index="number")
    sample = rows.sample(np.arange(0, N, 3))
    assert sample.fold(lambda block: (np.array([len(block)]),))[0].tolist() == [N // 3]
    shape, *parts = brought
    assert shape[0] == N
    sums = [pickle.loads(part[0]) for part in parts]
    assert all(array.dtype.kind == "i" for each in sums for array in each)
    assert {array.size for each in sums for array in each} == {
        1,
        N // 3,
    }  # rows and their sum; how often each was found


def upstream(frame: Any, function: Any) -> Any:
    """The frame behind a function of its batches, which the workers run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.mapInArrow(function, frame.schema)


def release_with_a_task_that_ends(frame: Any, folder: Path, end: Callable[[], object]) -> None:
    """Release while one task ends in the middle of the fold, and see that it was begun anew and changed nothing."""
    place, parts = str(folder), frame.rdd.getNumPartitions()

    def ends_once(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            seen = len(os.listdir(place))
            open(f"{place}/{seen}-{os.getpid()}", "x").close()
            if seen == parts:  # the first were counted: this is in the middle of the fold
                end()
            yield batch

    made = plandp.mean(upstream(frame.select(*COLUMNS), ends_once), **GAUSSIAN)
    assert len(os.listdir(place)) > 2 * parts
    assert bits(made) == bits(plandp.mean(FRAME[COLUMNS], **GAUSSIAN))


def test_a_killed_worker_changes_nothing(frame: Any, tmp_path: Path) -> None:
    release_with_a_task_that_ends(frame, tmp_path, lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_a_source_that_fails_once_is_asked_again(frame: Any, tmp_path: Path) -> None:
    def lost() -> None:
        raise OSError("connection lost")

    release_with_a_task_that_ends(frame, tmp_path, lost)


def test_a_fold_that_fails_is_tried_again_and_ends_in_an_error_without_data(frame: Any) -> None:
    """Its worker had no memory, say: that says nothing of the next one."""

    def fold(attempts: int) -> list[int]:
        def fails(block: np.ndarray) -> tuple[np.ndarray, ...]:
            from pyspark import TaskContext

            context = TaskContext.get()
            assert context is not None
            if context.attemptNumber() < attempts:
                raise MemoryError(f"no room for {CANARY}")
            return (np.array([len(block)]),)

        found: list[int] = open_rows(frame.select(*COLUMNS), row_index=False).fold(fails)[0].tolist()
        return found

    assert fold(1) == [N]
    with pytest.raises(plandp.ArgumentError, match=r"^data: Spark lost a part of the data") as told:
        fold(4)
    assert "48.15" not in shown(told.value)


def test_a_part_that_changes_between_passes_is_an_error(frame: Any, tmp_path: Path) -> None:
    folder = str(tmp_path)

    def grows(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            seen = len(os.listdir(folder))
            open(f"{folder}/{seen}-{os.getpid()}", "x").close()
            yield batch
            if seen == 1:
                yield batch.slice(0, 1)

    with pytest.raises(plandp.ArgumentError, match=r"^data: Spark brought 9001 rows, and 9000 before"):
        plandp.mean(upstream(frame.select(*COLUMNS).coalesce(1), grows), **GAUSSIAN)


def test_a_source_that_fails_is_an_error_without_data(frame: Any) -> None:
    def broken(batches: Iterator[Any]) -> Iterator[Any]:
        raise ValueError(f"cannot read {CANARY}")

    with pytest.raises(plandp.ArgumentError, match=r"^data: Spark lost a part of the data") as told:
        plandp.mean(upstream(frame.select(*COLUMNS), broken), **GAUSSIAN)
    assert "48.15" not in shown(told.value)


def test_a_cell_that_cannot_be_cast_is_not_logged_in_this_process(spark: Any) -> None:
    logged: list[str] = []

    class Noted(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(record.getMessage())

    table = spark.range(50).selectExpr("id AS a", f"CAST(concat('secret{CANARY}', id) AS DOUBLE) AS b")
    handler = Noted()
    pyspark_loggers = pytest.importorskip("pyspark.logger").PySparkLogger
    loggers = [pyspark_loggers.getLogger(name) for name in spark_parts.LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with pytest.raises(plandp.ArgumentError, match=r"^data: Spark lost a part of the data or could not read it"):
            plandp.mean(table, bounds=(0, 9), rho=1)
        assert logged == []
        with pytest.raises(Exception, match="cannot be cast"):
            table.collect()  # asked by somebody else, Spark speaks as before
        assert any(str(CANARY) in text for text in logged)
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
