"""Batches of Arrow files that are read in pieces: the values that pyarrow reads of them whole, or a refusal."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from plandp.data import arrow_file, arrow_messages, arrow_pieces, batches, streamed_rows
from plandp.data.buffer_bytes import BufferBytes
from plandp.data.flat_tables import FlatTable
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("own_folder")

N = 203
RNG = np.random.default_rng(5)
CELLS = RNG.integers(-9, 99, size=(N, 4))
LOST = RNG.random(N) < 0.2
ASKED = {
    "x": ["x"],
    "fixed": ["fixed[0]", "fixed[1]", "fixed[2]"],
    "lists": ["lists[0]", "lists[2]"],
    "large": ["large[1]"],
}


def listed(kind: Any, *, cells: bool) -> Any:
    """Lists of 3 numbers, of other lengths where the type allows that; some lists are missing, and some numbers."""
    fixed = pa.types.is_fixed_size_list(kind)
    lists: list[Any] = []
    for row in range(N):
        values = [float(cell) for cell in CELLS[row, :3]]
        if cells and row % 3 == 0:
            values[row % 2] = None  # type: ignore[call-overload]
        lists.append(None if LOST[row] else values[: 3 if fixed else row % 4])
    return pa.array(lists, kind)


def table(kind: Any, *, missing: bool) -> Any:
    """Columns that are read, and between them some that are not."""
    numbers = pa.array([None if missing and lost else cell for lost, cell in zip(LOST, CELLS[:, 3] > 3, strict=True)])
    columns = {
        "text": pa.array([None if lost else "canary" * (lost + 1) for lost in LOST]),
        "x": numbers.cast(kind) if kind != pa.float16() else pa.array(np.asarray(CELLS[:, 3], np.float16)),
        "empty": pa.nulls(N),
        "view": pa.array([None if lost else "much longer than twelve" for lost in LOST], pa.string_view()),
        "parts": pa.array([{"a": 1, "b": [2.5, None]}] * N),
        "fixed": listed(pa.list_(pa.float32(), 3), cells=missing),
        "when": pa.array(np.arange(N), pa.timestamp("us")),
        "lists": listed(pa.list_(pa.float64()), cells=missing),
        "large": listed(pa.large_list(pa.int16()), cells=missing),
        "bytes": pa.array([b"12"] * N, pa.binary(2)),
    }
    return pa.table(columns)


def write(stored: Any, *, stream: bool, codec: str | None, rows: int = 90) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)("t.arrow", stored.schema, options=options) as file:
        file.write_table(stored, rows)
    return Path("t.arrow")


def cells(path: Path, asked: list[str]) -> NDArray[np.float64]:
    return np.concatenate(list(open_rows(path, columns=asked).blocks()))


@pytest.fixture(autouse=True)
def _larger_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(batches, "VALUES_AT_A_TIME", 37)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every batch is large; the number of rows of each piece is noted."""
    monkeypatch.setattr(arrow_file, "LARGE", 0)
    found: list[int] = []

    def noted(*arguments: Any) -> Any:
        for piece in arrow_pieces.batch_pieces(*arguments):
            found.append(piece.num_rows)
            yield piece

    monkeypatch.setattr(arrow_file, "batch_pieces", noted)
    return found


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "kind", [pa.float64(), pa.float32(), pa.float16(), pa.int8(), pa.uint64(), pa.bool_()], ids=str
)
def test_pieces_hold_what_the_batch_holds(
    kind: Any, missing: bool, stream: bool, codec: str | None, cut: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(table(kind, missing=missing), stream=stream, codec=codec)
    asked = [*ASKED.values(), [label for labels in ASKED.values() for label in labels]]
    for labels in asked:
        cut.clear()
        found = cells(path, labels)
        assert len(cut) > 3
        assert sum(cut) == N
        with monkeypatch.context() as whole:
            whole.setattr(arrow_file, "LARGE", 10**9)
            cut.clear()
            expected = cells(path, labels)
            assert cut == []
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("codec", [None, "lz4"])
@pytest.mark.parametrize("stream", [False, True])
def test_large_and_small_batches_follow_each_other(
    stream: bool, codec: str | None, cut: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow reads the small ones, and finds them behind those that it did not read."""
    schema = pa.schema([("x", pa.list_(pa.float64(), 2))])
    values = RNG.normal(size=(300, 2))
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)("t.arrow", schema, options=options) as file:
        for first, last in ((0, 5), (5, 150), (150, 150), (150, 160), (160, 290), (290, 300)):
            own = pa.FixedSizeListArray.from_arrays(values[first:last].ravel(), 2)
            file.write_batch(pa.record_batch([own], schema=schema))
    monkeypatch.setattr(arrow_file, "LARGE", 100)
    assert np.concatenate(list(open_rows("t.arrow").blocks())).tobytes() == values.tobytes()
    assert sum(cut) == 145 + 130


@pytest.mark.parametrize("beside", ["map", "list view", "metadata of a batch"])
@pytest.mark.parametrize("stream", [False, True])
def test_columns_of_categories_beside_what_is_not_known_here(stream: bool, beside: str) -> None:
    """pyarrow reads such batches, and their categories before them."""
    x = RNG.normal(size=N)
    columns = {"kind": pa.array(["a", "b", None] * 67 + ["c", "d"]).dictionary_encode(), "x": pa.array(x)}
    if beside == "map":
        columns["m"] = pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int8()))
    elif beside == "list view":
        columns["v"] = pa.array([[1.0]] * N, pa.list_view(pa.float64()))
    stored = pa.table(columns)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)("t.arrow", stored.schema) as file:
        for batch in stored.to_batches(90):
            file.write_batch(batch, custom_metadata={"a": "b"} if beside == "metadata of a batch" else None)
    assert cells(Path("t.arrow"), ["x"])[:, 0].tobytes() == x.tobytes()


@pytest.mark.parametrize("stream", [False, True])
def test_columns_of_categories_are_passed_over(stream: bool, cut: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow reads all of their messages in a stream or none, so that small batches are read in pieces too."""
    monkeypatch.setattr(arrow_file, "LARGE", 10**9 if stream else 0)
    stored = table(pa.int8(), missing=True)
    stored = stored.append_column("kind", pa.array(["a", "b", None] * 67 + ["c", "d"]).dictionary_encode())
    path = write(stored, stream=stream, codec="lz4")
    found = cells(path, ["x", "fixed[1]"])
    assert sum(cut) == N
    expected = np.where(LOST, np.nan, CELLS[:, 3] > 3)
    assert np.array_equal(found[:, 0], expected, equal_nan=True)


@pytest.mark.parametrize("stream", [False, True])
def test_layouts_that_are_not_known_are_left_to_pyarrow(stream: bool, cut: list[int]) -> None:
    stored = table(pa.float64(), missing=True).append_column(
        "map", pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int8()))
    )
    assert arrow_pieces.column_places(stored.schema) is None
    path = write(stored, stream=stream, codec=None)
    assert len(cells(path, ["x", "fixed[1]"])) == N
    assert cut == []


@pytest.mark.parametrize("stream", [False, True])
def test_rows_are_counted_by_headers(stream: bool) -> None:
    path = write(table(pa.float64(), missing=False), stream=stream, codec="zstd")
    found = list(arrow_messages.stored_batches(path))
    assert [batch.n for batch in found] == [90, 90, 23]
    assert all(batch.usual and batch.codec == "zstd" for batch in found)
    assert sum(batch.size for batch in found) < path.stat().st_size


def without_end(content: bytearray) -> bytes:
    return bytes(content[: len(content) * 2 // 3])


def within_a_length(content: bytearray) -> bytes:
    """Cut off behind the first half of the length of a message."""
    first = next(arrow_messages.stored_batches(Path("t.arrow")))
    return bytes(content[: first.begin + 6])


def longer_unpacked(content: bytearray) -> bytes:
    """A buffer that says that it unpacks to more than it does."""
    return _lengths(content, 8)


def shorter_unpacked(content: bytearray) -> bytes:
    """A buffer that says that it unpacks to less than it does."""
    return _lengths(content, -8)


def _lengths(content: bytearray, change: int) -> bytes:
    for batch in list(arrow_messages.stored_batches(Path("t.arrow"))):
        for offset, length in batch.buffers.tolist():
            place = batch.body + offset
            unpacked = int.from_bytes(content[place : place + 8], "little", signed=True)
            if length and unpacked > 0:
                content[place : place + 8] = (unpacked + change).to_bytes(8, "little")
    return bytes(content)


DAMAGES: list[Callable[[bytearray], bytes]] = [without_end, within_a_length, longer_unpacked, shorter_unpacked]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_what_is_damaged_is_refused(
    codec: str, stream: bool, damage: Callable[[bytearray], bytes], cut: list[int]
) -> None:
    stored = pa.table({"x": pa.FixedSizeListArray.from_arrays(np.arange(800.0).round(-1), 4), "y": np.zeros(200)})
    path = write(stored, stream=stream, codec=codec)
    path.write_bytes(damage(bytearray(path.read_bytes())))
    with pytest.raises(ArgumentError, match=r"the file '.*t.arrow' is cut off, damaged or not a") as caught:
        cells(path, ["x"])
    assert caught.value.__context__ is None


FLIPPED = """
import sys
import numpy as np
from plandp.data import arrow_file, batches, streamed_rows
from plandp.data.open import open_rows
from plandp.errors import ArgumentError
arrow_file.LARGE, batches.VALUES_AT_A_TIME, streamed_rows.IN_MEMORY = 0, 37, 0
name, asked = sys.argv[1], sys.argv[2:]
whole = open(name, "rb").read()
rng = np.random.default_rng(8)
refused = 0
for run in range(400):
    content = bytearray(whole)
    place = int(rng.integers(len(whole)))
    others = (bytes(4), b"\\xff" * 4, b"\\xff" * 3 + b"\\x7f", rng.bytes(4))
    content[place : place + 4] = others[run % 4]
    open("flipped.arrow", "wb").write(content)
    try:
        rows = open_rows("flipped.arrow", columns=asked)
        for block in rows.blocks():
            block.sum()
    except ArgumentError as error:
        refused += 1
        assert "canary" not in str(error)
print(refused)
"""


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
def test_no_damage_ends_the_process(stream: bool, codec: str | None) -> None:
    """In a process of its own: where a length is not checked, memory is read that belongs to nobody."""
    path = write(table(pa.float64(), missing=True), stream=stream, codec=codec)
    names = [label for labels in ASKED.values() for label in labels]
    done = subprocess.run(
        [sys.executable, "-c", FLIPPED, os.fspath(path), *names], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout) < 400


def test_headers_that_point_elsewhere_are_refused() -> None:
    for content in (b"", b"\x04\0\0\0", b"\x04\0\0\0\x7f\0\0\0", b"\xff\xff\xff\xff" * 4):
        with pytest.raises(Exception, match=r"."):
            FlatTable.root(content).number(0, "q")
    with pytest.raises(ValueError, match="before its beginning"):
        FlatTable(content=b"\x08\0\0\0" + bytes(8), begin=0).number(0, "q")


def test_bytes_are_read_in_their_order() -> None:
    content = bytes(range(200))
    buffer = BufferBytes(pa.BufferReader(content), begin=10, length=180, codec=None)
    assert bytes(buffer.take(0, 20)) == content[10:30]
    assert bytes(buffer.take(16, 18)) == content[26:28]
    assert bytes(buffer.take(16, 100)) == content[26:110]
    assert bytes(buffer.take(120, 130)) == content[130:140]
    with pytest.raises(ValueError, match="in their order"):
        buffer.take(0, 140)
    with pytest.raises(EOFError):
        buffer.take(130, 181)
