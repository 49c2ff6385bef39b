"""Every way in calls `before_values` once, with the labels, when all that is public was accepted and nothing was read.

That nothing was read before is seen by a hook that changes the values: the rows are the changed ones.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from event_tables import CONTAINERS, EVENTS, ITEMS, as_arrow, as_frame, event_rows, rows_of, write_csv
from numpy.typing import NDArray
from pyarrow import feather, ipc, parquet

from plandp.data.events import open_events
from plandp.data.files import READERS
from plandp.data.open import open_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("own_folder")

N = 3000  # more than a reader buffers together with the header
NAMES = ("a", "b", "c")


def old() -> NDArray[np.float64]:
    return np.full((N, 3), 11.5)


def new() -> NDArray[np.float64]:
    return np.full((N, 3), 22.5)


def last_row(rows: Any) -> list[float]:
    """The last row, found by a fold over all."""
    seen: list[NDArray[np.float64]] = []
    rows.fold(lambda block: (np.array([len(seen.append(block[-1].copy()) or seen)]),))
    return [float(value) for value in seen[-1]]


class Hook:
    """Remembers the labels of each call, and changes what is behind the container."""

    def __init__(self, change: Callable[[], object] = lambda: None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.change = change

    def __call__(self, labels: tuple[Any, ...]) -> None:
        self.calls.append(labels)
        self.change()


def fill(array: NDArray[np.float64]) -> Callable[[], object]:
    return lambda: array.fill(22.5)


def numpy_array() -> tuple[object, Callable[[], object]]:
    table = old()
    return table, fill(table)


def rows_in_lists() -> tuple[object, Callable[[], object]]:
    table = old().tolist()
    return table, lambda: [row.__setitem__(slice(None), [22.5] * 3) for row in table]


def pandas_frame() -> tuple[object, Callable[[], object]]:
    table = old()
    frame = pandas.DataFrame(table, copy=False)
    return frame, fill(table)


def arrow_table() -> tuple[object, Callable[[], object]]:
    columns = [np.full(N, 11.5) for _ in NAMES]
    return pyarrow.table(columns, names=list(NAMES)), lambda: [column.fill(22.5) for column in columns]


def polars_frame() -> tuple[object, Callable[[], object]]:
    table, change = arrow_table()
    return polars.from_arrow(table), change


IN_MEMORY = {make.__name__: make for make in (numpy_array, rows_in_lists, pandas_frame, arrow_table, polars_frame)}


def arrow(table: NDArray[np.float64]) -> Any:
    return pyarrow.table(dict(zip(NAMES, table.T.copy(), strict=True)))


def write_text(path: str, table: NDArray[np.float64], mark: str) -> None:
    Path(path).write_text("\n".join([mark.join(NAMES), *(mark.join(map(repr, row)) for row in table.tolist())]))


def write_ipc_stream(path: str, table: NDArray[np.float64]) -> None:
    with ipc.new_stream(path, arrow(table).schema) as sink:
        sink.write_table(arrow(table), max_chunksize=100)


# Each writes files of one length, whatever the values are.
FILES: dict[str, Callable[[str, NDArray[np.float64]], object]] = {
    "t.csv": lambda path, table: write_text(path, table, ","),
    "t.tsv": lambda path, table: write_text(path, table, "\t"),
    "t.parquet": lambda path, table: parquet.write_table(
        arrow(table), path, compression="NONE", use_dictionary=False, write_statistics=False
    ),
    "t.feather": lambda path, table: feather.write_feather(arrow(table), path, compression="uncompressed"),
    "t.arrow": lambda path, table: feather.write_feather(arrow(table), path, compression="uncompressed"),
    "stream.arrow": write_ipc_stream,
    "t.arrows": write_ipc_stream,
    "t.ipc": lambda path, table: feather.write_feather(arrow(table), path, compression="uncompressed"),
    "t.pq": lambda path, table: FILES["t.parquet"](path, table),
    "t.npy": np.save,
    "t.npz": lambda path, table: np.savez(path, table),
}


def in_file(name: str) -> tuple[str, Callable[[], object]]:
    """A file, and a function that writes other values into it, at the same places."""
    FILES[name]("new-" + name, new())
    FILES[name](name, old())
    assert Path(name).stat().st_size == Path("new-" + name).stat().st_size

    written = Path(name).stat().st_mtime_ns

    def change() -> None:
        with Path(name).open("r+b") as file:
            file.write(Path("new-" + name).read_bytes())
        os.utime(name, ns=(written, written))  # or the file would be refused as changed

    return name, change


def test_every_kind_of_file_is_here() -> None:
    assert {Path(name).suffix for name in FILES} == set(READERS)


@pytest.mark.parametrize("asked", [None, [2, 0]])
@pytest.mark.parametrize("kind", [*IN_MEMORY, *FILES])
def test_the_hook_is_called_once_with_the_labels_and_before_any_value_is_read(
    kind: str, asked: list[int] | None
) -> None:
    data, change = in_file(kind) if kind in FILES else IN_MEMORY[kind]()
    named = Path(kind).suffix not in ("", ".npy", ".npz") or kind in ("arrow_table", "polars_frame")
    columns = [NAMES[place] for place in asked] if named and asked else asked
    hook = Hook(change)
    rows = open_rows(data, columns=columns, before_values=hook)
    expected = tuple(columns or (NAMES if named else range(3)))
    assert hook.calls == [expected]
    assert rows.labels == expected
    assert rows.passes == 0
    assert last_row(rows) == [22.5] * len(expected)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", [*IN_MEMORY, *FILES])
def test_tables_opened_as_sparse_rows_call_it_too(kind: str, binary: bool) -> None:
    data, change = in_file(kind) if kind in FILES else IN_MEMORY[kind]()
    hook = Hook(change)
    rows = open_sparse_rows(data, binary=binary, before_values=hook)
    assert hook.calls == [rows.labels]
    found = rows_of(rows)
    assert max(value for row in found for _, value in row) == (1.0 if binary else 22.5)


def untouchable(*_: object, **__: object) -> None:
    pytest.fail("called though something public was wrong")


@pytest.mark.parametrize("kind", [*IN_MEMORY, *FILES])
def test_a_wrong_column_never_calls_it(kind: str) -> None:
    data, _ = in_file(kind) if kind in FILES else IN_MEMORY[kind]()
    for columns in (["gone"], [99], [], ["a", "a"]):
        for opened in (open_rows, lambda data, **given: open_sparse_rows(data, binary=True, **given)):
            with pytest.raises(ArgumentError, match=r"^columns"):
                opened(data, columns=columns, before_values=untouchable)


REFUSED: dict[str, Callable[[], object]] = {
    "objects": lambda: np.array([[1, "a"]], dtype=object),
    "cube": lambda: np.zeros((2, 2, 2)),
    "masked": lambda: np.ma.masked_array([[1.0]]),
    "no rows": lambda: np.zeros((0, 3)),
    "no columns": lambda: np.zeros((3, 0)),
    "empty list": lambda: [],
    "list of numbers": lambda: [1.0, 2.0],
    "list of empty rows": lambda: [[], []],
    "unequal rows": lambda: [[1, 2], [3]],
    "text in a list": lambda: [[1, "a"]],
    "texts": lambda: ["ab", "cd"],
    "deep list": lambda: [[[1], [2]]],
    "complex": lambda: [[1j]],
    "decimal": lambda: [[__import__("decimal").Decimal(1)]],
    "span of time": lambda: [[np.timedelta64(1, "s"), None]],
    "dictionaries": lambda: [{"a": 1}, {"a": 2}],
    "pandas text": lambda: pandas.DataFrame({"a": ["x"]}),
    "pandas empty": lambda: pandas.DataFrame({"a": []}, dtype=float),
    "polars text": lambda: polars.DataFrame({"a": ["x"]}),
    "arrow text": lambda: pyarrow.table({"a": ["x"]}),
    "sparse": lambda: scipy.sparse.csr_array(np.eye(3)),
    "other": object,
    "no file": lambda: "gone.csv",
    "suffix": lambda: _written("t.txt", b"a\n1\n"),
    "empty file": lambda: _written("t.csv", b""),
    "no header": lambda: _written("t.csv", b"1.5,2\n3,4\n"),
    "csv of semicolons": lambda: _written("t.csv", b"a;b\n1;2\n"),
    "parquet text": lambda: _stored(parquet.write_table, "t.parquet", pyarrow.table({"a": ["x"]})),
    "parquet empty": lambda: _stored(
        parquet.write_table, "t.parquet", pyarrow.table({"a": pyarrow.array([], pyarrow.float64())})
    ),
    "arrow file of text": lambda: _stored(feather.write_feather, "t.arrow", pyarrow.table({"a": ["x"]})),
    "npy text": lambda: _saved("t.npy", np.array([["x"]])),
    "npy objects": lambda: _saved("t.npy", np.array([[{}]], dtype=object)),
    "npy cube": lambda: _saved("t.npy", np.zeros((2, 2, 2))),
    "npy empty": lambda: _saved("t.npy", np.zeros((0, 2))),
    "npy scalar": lambda: _saved("t.npy", np.array(1.0)),
    "two arrays": lambda: _zipped("t.npz", a=old(), b=old()),
    "npz text": lambda: _zipped("t.npz", a=np.array([["x"]])),
    "matrix file": lambda: _matrix_file(scipy.sparse.csr_array(np.eye(3))),
    "header cut off": lambda: _written("t.npy", b"\x93NUMPY\x01\x00\xff\x00{'des"),
    "footer cut off": lambda: _cut("t.parquet", 200),
    "array cut off": lambda: _cut("t.npy", 200),
    "no numpy file": lambda: _written("t.npy", b"nothing of the kind"),
}


def _written(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


def _stored(write: Callable[[Any, str], object], name: str, table: Any) -> str:
    write(table, name)
    return name


def _saved(name: str, array: NDArray[Any]) -> str:
    np.save(name, array, allow_pickle=True)
    return name


def _zipped(name: str, **arrays: NDArray[Any]) -> str:
    np.savez(name, **arrays)
    return name


def _matrix_file(matrix: Any) -> str:
    scipy.sparse.save_npz("m.npz", matrix)
    return "m.npz"


def _cut(name: str, length: int) -> str:
    FILES[name](name, old())
    return _written(name, Path(name).read_bytes()[:-length])


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_by_type_shape_or_header_never_calls_it(case: str) -> None:
    with pytest.raises(ArgumentError, match=r"^data"):
        open_rows(REFUSED[case](), before_values=untouchable)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "stream.arrow", "t.npz"])
def test_rows_that_are_damaged_are_found_after_it(name: str) -> None:
    """A reader that had looked at the values would have refused them before the hook was called."""
    (parquet.write_table if name == "t.parquet" else feather.write_feather if name == "t.feather" else FILES[name])(
        *((arrow(old()), name) if name in ("t.parquet", "t.feather") else (name, old()))
    )
    content = bytearray(Path(name).read_bytes())
    if name == "stream.arrow":
        del content[len(content) // 2 :]
    else:
        start = 1000 if name == "t.npz" else 64  # behind the header of the array
        content[start : start + 200] = bytes(200)
    Path(name).write_bytes(content)
    hook = Hook()
    with pytest.raises(ArgumentError, match="damaged"):
        open_rows(name, before_values=hook)
    assert len(hook.calls) == 1


def csr(value: float) -> Any:
    return scipy.sparse.csr_array(np.full((N, 3), value))


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse_matrices_call_it_before_an_entry_is_read(form: str, binary: bool) -> None:
    matrix = scipy.sparse.eye_array(N, 3).asformat("dia") if form == "dia" else csr(11.5).asformat(form)

    def change() -> None:
        if form == "dok":
            matrix.clear()
        elif form == "lil":
            matrix.data[:] = [[] for _ in range(N)]
        else:
            matrix.data.fill(0)

    hook = Hook(change)
    rows = open_sparse_rows(matrix, binary=binary, columns=[2, 0], before_values=hook)
    assert hook.calls == [(2, 0)]
    assert rows_of(rows) == {frozenset(): N}


@pytest.mark.parametrize("binary", [False, True])
def test_sparse_columns_of_pandas_call_it_before_a_cell_is_read(binary: bool) -> None:
    columns = {name: pandas.arrays.SparseArray(np.full(N, 11.5), fill_value=0.0) for name in NAMES}
    frame = pandas.DataFrame(columns)
    stored = [frame[name].array.sp_values for name in NAMES]
    hook = Hook(lambda: [values.fill(0.0) for values in stored])
    rows = open_sparse_rows(frame, binary=binary, columns=["c", "a"], before_values=hook)
    assert hook.calls == [("c", "a")]
    assert rows_of(rows) == {frozenset(): N}
    with pytest.raises(ArgumentError, match=r"^columns"):
        open_sparse_rows(frame, binary=binary, columns=["gone"], before_values=untouchable)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_files_of_matrices_call_it_before_an_entry_is_read(form: str) -> None:
    scipy.sparse.save_npz("new.npz", csr(22.5).asformat(form), compressed=False)
    scipy.sparse.save_npz("t.npz", csr(11.5).asformat(form), compressed=False)

    def damage() -> None:  # what was in the file before would be read without complaint
        with Path("t.npz").open("r+b") as file:
            file.write(Path("new.npz").read_bytes())

    hook = Hook(damage)
    with pytest.raises(ArgumentError, match="damaged"):  # the check sums of the file were read before, its entries not
        open_sparse_rows("t.npz", binary=False, before_values=hook)
    assert hook.calls == [(0, 1, 2)]


def _changed(**parts: Any) -> Any:
    matrix = csr(1.0)
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


@pytest.mark.parametrize(
    "make",
    [
        lambda: csr(1.0).astype(complex),
        lambda: scipy.sparse.csr_array((0, 3)),
        lambda: scipy.sparse.coo_array(np.ones(3)),
        lambda: _changed(indices=np.ma.masked_array(csr(1.0).indices)),
        lambda: _changed(indices=csr(1.0).indices.astype(float)),
        lambda: _changed(indptr=csr(1.0).indptr[:-1]),
        lambda: _changed(data=np.ones((N, 3))),
        lambda: _matrix_file(csr(1.0).astype(complex)),
        lambda: _matrix_file(scipy.sparse.csr_array((0, 3))),
        lambda: _matrix_file(scipy.sparse.eye_array(N, 3).asformat("dia")),
    ],
)
def test_matrices_refused_by_their_parts_never_call_it(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=r"^data"):
        open_sparse_rows(make(), binary=True, before_values=untouchable)


def open_visits(table: object, *, before_values: Any, measure: str = "time", **given: Any) -> Any:
    asked = {"person": "user", "item": "page", "items": ITEMS, "people": 7, "measure": measure} | given
    return open_events(table, **asked, before_values=before_values)


@pytest.mark.parametrize("container", CONTAINERS)
def test_events_call_it_once_with_the_items(container: str) -> None:
    hook = Hook()
    rows = open_visits(CONTAINERS[container](EVENTS), before_values=hook, measure="presence")
    assert hook.calls == [tuple(ITEMS)]
    assert rows.labels == tuple(ITEMS)


def many_events(value: float) -> dict[str, list[Any]]:
    return {"user": list(range(N)), "page": ["home"] * N, "time": [value] * N}


def event_files() -> dict[str, Callable[[str, float], object]]:
    return {
        "t.csv": lambda name, value: write_csv(many_events(value), name),
        "t.tsv": lambda name, value: write_csv(many_events(value), name),
        "t.parquet": lambda name, value: parquet.write_table(
            as_arrow(many_events(value)), name, compression="NONE", use_dictionary=False, write_statistics=False
        ),
        "t.arrow": lambda name, value: feather.write_feather(
            as_arrow(many_events(value)), name, compression="uncompressed"
        ),
    }


@pytest.mark.parametrize("name", event_files())
def test_files_of_events_call_it_before_an_event_is_read(name: str) -> None:
    write = event_files()[name]
    write("new-" + name, 22.5)
    write(name, 11.5)

    def change() -> None:
        with Path(name).open("r+b") as file:
            file.write(Path("new-" + name).read_bytes())

    hook = Hook(change)
    rows = open_visits(name, before_values=hook, people=N)
    assert hook.calls == [tuple(ITEMS)]
    assert max(value for row in rows_of(rows) for _, value in row) == 22.5


def test_frames_of_events_call_it_before_an_event_is_read() -> None:
    user = np.arange(N)
    page = np.full(N, "home", dtype=object)
    time = np.full(N, 11.5)
    frame = pandas.DataFrame(
        {"user": pandas.Series(user, copy=False), "page": pandas.Series(page, copy=False, dtype=object), "time": time},
        copy=False,
    )

    def change() -> None:
        user[:] = 7
        page[:] = "é"

    hook = Hook(change)
    rows = open_visits(frame, before_values=hook, people=N, measure="count")
    assert rows_of(rows) == {frozenset({(0, float(N))}): 1, frozenset(): N - 1}

    numbers = np.arange(N)
    table = pyarrow.table({"user": numbers, "page": ["home"] * N})
    for of in (lambda table: table, polars.from_arrow):
        numbers[:] = np.arange(N)
        rows = open_visits(of(table), before_values=Hook(lambda: numbers.fill(7)), people=N, measure="count")
        assert rows_of(rows) == {frozenset({(1, float(N))}): 1, frozenset(): N - 1}


WRONG_EVENTS: dict[str, Callable[[object], Any]] = {
    "person": lambda table: open_visits(table, before_values=untouchable, person="gone"),
    "item": lambda table: open_visits(table, before_values=untouchable, item="gone"),
    "measure": lambda table: open_visits(table, before_values=untouchable, measure="gone"),
    "items": lambda table: open_visits(table, before_values=untouchable, items=[]),
    "people": lambda table: open_visits(table, before_values=untouchable, people=0),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_wrong_columns_of_events_never_call_it(container: str) -> None:
    table = CONTAINERS[container](EVENTS)
    for argument, opened in WRONG_EVENTS.items():
        with pytest.raises(ArgumentError, match=rf"^{argument}"):
            opened(table)


def _typed(container: str) -> Any:
    table = as_arrow(EVENTS).append_column("text", [["x"] * len(EVENTS["user"])])
    if container == "pandas":
        return table.to_pandas().astype({"user": "Int64"})
    if container == "polars":
        return polars.from_arrow(table)
    if container == "arrow":
        return table
    (parquet.write_table if container == "t.parquet" else feather.write_feather)(table, container)
    return container


@pytest.mark.parametrize("container", ["pandas", "polars", "arrow", "t.parquet", "t.arrow"])
def test_types_of_events_are_refused_before_it_is_called(container: str) -> None:
    with pytest.raises(ArgumentError, match=r"^person.*ids are integers or text"):
        open_visits(_typed(container), before_values=untouchable, person="time", measure="count")
    with pytest.raises(ArgumentError, match=r"^item.*ids are integers or text"):
        open_visits(_typed(container), before_values=untouchable, item="time", measure="count")
    with pytest.raises(ArgumentError, match=r"^measure.*not numeric"):
        open_visits(_typed(container), before_values=untouchable, item="user", person="page", measure="text")


def test_what_the_hook_refuses_keeps_its_name() -> None:
    def refuse(labels: tuple[Any, ...]) -> None:
        raise ArgumentError("bounds", "these will not do")

    write_csv(EVENTS, "t.csv")
    in_file("t.npy")
    for opened in (
        lambda: open_visits("t.csv", before_values=refuse),
        lambda: open_rows("t.npy", before_values=refuse),
        lambda: open_rows([[1.0]], before_values=refuse),
    ):
        with pytest.raises(ArgumentError, match=r"^bounds: these will not do"):
            opened()


def test_without_a_hook_nothing_changes() -> None:
    assert event_rows(as_frame(EVENTS), items=ITEMS, people=7).total() == 7
    assert open_rows(old()).n == N
