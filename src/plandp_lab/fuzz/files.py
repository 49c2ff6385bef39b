"""Files: valid ones of every kind as neighbours, damaged ones, and bytes that never were a file of that kind."""

import csv
import io
import struct
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse
from hypothesis import strategies as st
from numpy.typing import NDArray

import plandp
from plandp_lab.fuzz.arguments import is_brief, item_arguments, real_arguments
from plandp_lab.fuzz.canary import CANARY_TEXT, leaks
from plandp_lab.fuzz.events import arrow_events, event_arguments, neighbours
from plandp_lab.fuzz.matrices import matrices
from plandp_lab.fuzz.same_answers import alike
from plandp_lab.fuzz.tables import numeric, str_labels
from plandp_lab.fuzz.values import NUMERIC_DTYPES, Draw, floats, one_in, texts, valid_texts
from plandp_lab.fuzz.watch import watched

TABLES = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".npy", ".npz")
NAMED: tuple[Callable[[Path], object], ...] = (
    lambda path: str(path.with_name("*" + path.suffix)),
    lambda path: path.parent,
    lambda path: [path],
)
"""A file as a pattern, as a directory and as a list."""

EVENTS = (".csv", ".tsv", ".parquet", ".feather", ".arrow")


def table_files(draw: Draw) -> str:
    """Run `plandp.mean` on two files that differ in one row."""
    suffix = draw(st.sampled_from(TABLES))
    one, other, labels = valid_table(draw, suffix)
    some = item_arguments if one_in(draw, 6) else real_arguments
    arguments = {"testing_seed": 5} | some(draw, labels)
    named = draw(st.sampled_from([*NAMED, *[Path] * len(NAMED)]))
    return _compared(plandp.mean, suffix, one, other, arguments, is_brief(draw, arguments), named=named)


def event_files(draw: Draw) -> str:
    """Run `plandp.mean_of_events` on two files that differ in one person's events."""
    suffix = draw(st.sampled_from(EVENTS))
    one, other = valid_events(draw, suffix)
    arguments = event_arguments(draw)
    return _compared(plandp.mean_of_events, suffix, one, other, arguments, is_brief(draw, arguments))


def damaged_files(draw: Draw) -> str:
    """Run one of both on a file that was damaged, or never was one."""
    events = one_in(draw, 5)
    suffix = draw(st.sampled_from(EVENTS if events else TABLES))
    if one_in(draw, 10):
        content = draw(st.binary(max_size=400))
    else:
        content = valid_events(draw, suffix)[0] if events else valid_table(draw, suffix)[0]
        if suffix in (".npy", ".npz") and draw(st.booleans()):
            content = strange_arrays(draw, suffix)
        content = content if one_in(draw, 10) else draw(damage(content))
    arguments = (
        event_arguments(draw)
        if events
        else {"testing_seed": 5}
        | (item_arguments if one_in(draw, 4) else real_arguments)(
            draw, ("age", "income") if suffix not in (".npy", ".npz") else (0, 1)
        )
    )
    # Damage can put a row into the line of names, which is public.
    named = content.partition(b"\n")[0].decode("latin-1") if suffix in (".csv", ".tsv") else ""
    if leaks(named):
        return "not tried"
    with TemporaryDirectory() as folder:
        path = _put(folder, suffix, content)
        return watched(partial(plandp.mean_of_events if events else plandp.mean, path, **arguments)).kind


def valid_table(draw: Draw, suffix: str) -> tuple[bytes, bytes, tuple[Any, ...]]:
    """Return two files of this kind that differ in one row, and their labels."""
    if suffix in (".csv", ".tsv"):
        return _text_tables(draw, "," if suffix == ".csv" else "\t")
    if suffix == ".npz" and draw(st.booleans()):
        found = matrices(draw)
        try:
            return _sparse_file(found.one), _sparse_file(found.other), found.labels
        except NotImplementedError:  # formats that SciPy does not write
            pass
    one, other = numeric(draw, draw(st.sampled_from([*NUMERIC_DTYPES[:-1], "f8", "f8"])))
    if suffix == ".npy":
        return *(_npy(array) for array in (one, other)), tuple(range(one.shape[1]))  # type: ignore[return-value]
    if suffix == ".npz":
        return *(_npz({"table": _npy(array)}) for array in (one, other)), tuple(range(one.shape[1]))  # type: ignore[return-value]
    labels = ("age", "income", "height", "weight")[: one.shape[1]]
    write = _arrow_writer(draw, suffix)
    one, other = (array.astype(array.dtype.newbyteorder("=")) for array in (one, other))
    return write(_arrow_table(one, labels)), write(_arrow_table(other, labels)), labels


def valid_events(draw: Draw, suffix: str) -> tuple[bytes, bytes]:
    """Return two files of events that differ in those of one person."""
    if suffix in (".csv", ".tsv"):
        cell = st.one_of(st.sampled_from(["home", "help", "7", "ä", "u1", "u2", ""]), valid_texts)
        tables = neighbours(draw, cell, cell)
        return tuple(  # type: ignore[return-value]
            _csv([("user", "page", "amount"), *events], "," if suffix == ".csv" else "\t") for events in tables
        )
    kind = st.sampled_from(["string", "large_string", "int64", "dictionary"])
    dtypes = draw(kind), draw(kind)
    ids = [
        st.one_of(st.integers(0, 9), st.none())
        if name == "int64"
        else st.one_of(st.sampled_from(["home", "help", "7", "u1", CANARY_TEXT]), valid_texts, st.none())
        for name in dtypes
    ]
    write = _arrow_writer(draw, suffix)
    one, other = neighbours(draw, ids[0], ids[1])
    return write(arrow_events(one, dtypes)), write(arrow_events(other, dtypes))


def damage(content: bytes) -> st.SearchStrategy[bytes]:
    """Return the bytes with some changed, cut out, put in, doubled or cut off."""
    place = st.integers(0, max(0, len(content) - 1))
    edit = st.one_of(
        st.tuples(st.just("set"), place, st.binary(min_size=1, max_size=4)),
        st.tuples(st.just("put in"), place, st.binary(min_size=1, max_size=8)),
        st.tuples(st.just("cut out"), place, st.integers(1, 20)),
        st.tuples(st.just("cut off"), place, st.just(0)),
        st.tuples(st.just("double"), place, st.integers(1, 60)),
        st.tuples(st.just("flip"), place, st.integers(0, 7)),
    )
    return st.lists(edit, min_size=1, max_size=4).map(lambda edits: _edited(content, edits))


def _edited(content: bytes, edits: list[tuple[str, int, Any]]) -> bytes:
    for what, at, more in edits:
        match what:
            case "set":
                content = content[:at] + more + content[at + len(more) :]
            case "put in":
                content = content[:at] + more + content[at:]
            case "cut out":
                content = content[:at] + content[at + more :]
            case "cut off":
                content = content[:at]
            case "double":
                content = content[: at + more] + content[at:]
            case "flip" if at < len(content):
                content = content[:at] + bytes([content[at] ^ (1 << more)]) + content[at + 1 :]
    return content


def strange_arrays(draw: Draw, suffix: str) -> bytes:
    """Return an .npy file with a strange header, or an .npz file with strange members."""
    if suffix == ".npy":
        return bytes(draw(_strange_npy))
    names = draw(
        st.lists(
            st.sampled_from(
                ["data", "indices", "indptr", "format", "shape", "row", "col", "coords", "_is_array", "x", "", "../x"]
            ),
            max_size=6,
        )
    )
    if draw(st.booleans()):
        names = ["data", "indices", "indptr", "format", "shape"]
    members = {f"{name}.npy": draw(_member(name)) for name in names}
    return _zip(members, draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])))


_shapes = st.one_of(
    st.lists(st.integers(0, 4), max_size=3).map(tuple),
    st.sampled_from(
        [(-1, 2), (10**13, 2), (2**62, 2), (2**63, 1), (2**70,), (3, 10**13), True, "(1,)", None, ((1,),), (1.5, 2), 7]
    ),
)
_descriptions = st.sampled_from(
    [
        "<f8",
        "<f8",
        "<i4",
        ">f8",
        "|O",
        "|b1",
        "<U5",
        "|S3",
        "<M8[s]",
        "<c16",
        "|V7",
        "<f7",
        "O",
        "",
        [("a", "<f8")],
        [("a", "|O")],
        7,
    ]
)


@st.composite
def _npy_with_header(draw: Draw) -> bytes:
    header = {
        "descr": draw(_descriptions),
        "fortran_order": draw(st.sampled_from([False, True, 0, None])),
        "shape": draw(_shapes),
    }
    if one_in(draw, 6):
        header.pop(draw(st.sampled_from(sorted(header))))
    text = repr(header) + "\n"
    if one_in(draw, 6):
        text = draw(st.sampled_from([repr(header), "{", "__import__('os').system('x')", "(" * 200, "{}" * 5000]))
    version = draw(st.sampled_from([(1, 0), (1, 0), (2, 0), (3, 0), (9, 9)]))
    packed = struct.pack("<H" if version == (1, 0) else "<I", len(text) % 65536)
    return b"\x93NUMPY" + bytes(version) + packed + text.encode("latin-1") + bytes(draw(st.binary(max_size=96)))


_strange_npy: st.SearchStrategy[bytes] = _npy_with_header()


def _member(name: str) -> st.SearchStrategy[bytes]:
    places = st.lists(st.integers(-2, 9), max_size=8)
    likely: dict[str, st.SearchStrategy[Any]] = {
        "format": st.sampled_from(
            [b"csr", b"csc", b"coo", b"bsr", b"dia", "csr", "x" * 99, [b"csr", b"csc"], 7, b"\xff", CANARY_TEXT]
        ),
        "shape": st.one_of(
            st.tuples(st.integers(0, 5), st.integers(0, 5)),
            st.sampled_from(
                [(4, 3)] * 4
                + [(10**13, 3), (3, 10**13), (-1, 3), (3,), (1, 2, 3), (2.0, 3.0), ("4", "3"), (2**63 - 1, 1), ()]
            ),
        ),
        "indptr": st.one_of(st.just([0, 1, 2, 2, 3]), places),
        "indices": st.one_of(st.just([0, 1, 2]), places),
        "row": places,
        "col": places,
        "coords": st.lists(places, max_size=3).filter(lambda lists: len(set(map(len, lists))) <= 1),
    }
    numbers = st.lists(floats, max_size=8)
    return st.one_of(
        likely.get(name, numbers).map(lambda value: _npy(np.array(value))), _strange_npy, st.binary(max_size=30)
    )


def _text_tables(draw: Draw, delimiter: str) -> tuple[bytes, bytes, tuple[Any, ...]]:
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    usual = not one_in(draw, 4)
    labels = ("age", "income", "height", "weight")[:d] if usual else tuple(draw(str_labels) for _ in range(d))
    cell = st.one_of(floats.map(repr), st.integers(0, 100).map(str), st.just(CANARY_TEXT), texts.map(_writable))
    rows = [[draw(cell) for _ in range(d)] for _ in range(n)]
    changed = list(rows)
    changed[draw(st.integers(0, n - 1))] = [
        draw(cell) for _ in range(draw(st.sampled_from([d, d, d, d + 1, d - 1, 0])))
    ]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    one, other = (_csv([labels, *table], delimiter, end) for table in (rows, changed))
    mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return mark + one, mark + other, labels


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _csv(rows: list[Any], delimiter: str, end: str = "\n") -> bytes:
    """Return rows as a CSV library writes them: whatever is in a cell, it ends neither the cell nor the row."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=end)
    for row in rows:
        writer.writerow(row)
    return written.getvalue().encode()


def _arrow_table(array: NDArray[Any], labels: tuple[str, ...]) -> Any:
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    return pyarrow.table({label: pyarrow.array(column) for label, column in zip(labels, array.T, strict=True)})


def _arrow_writer(draw: Draw, suffix: str) -> Callable[[Any], bytes]:
    import pyarrow
    from pyarrow import feather, ipc, parquet

    def write_parquet(table: Any) -> bytes:
        sink = io.BytesIO()
        parquet.write_table(table, sink, compression=packing, use_dictionary=choice, row_group_size=rows)
        return sink.getvalue()

    def write_feather(table: Any) -> bytes:
        sink = io.BytesIO()
        feather.write_feather(table, sink, compression=draw_packing)
        return sink.getvalue()

    def write_ipc(table: Any) -> bytes:
        sink = pyarrow.BufferOutputStream()
        with (ipc.new_file if choice else ipc.new_stream)(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
        return bytes(sink.getvalue().to_pybytes())

    choice, rows = draw(st.booleans()), draw(st.sampled_from([3, 1000]))
    packing = draw(st.sampled_from(["none", "snappy", "zstd", "gzip"]))
    draw_packing = draw(st.sampled_from(["uncompressed", "lz4", "zstd"]))
    return {".parquet": write_parquet, ".feather": write_feather, ".arrow": write_ipc}[suffix]


def _sparse_file(matrix: Any) -> bytes:
    sink = io.BytesIO()
    scipy.sparse.save_npz(sink, matrix)
    return sink.getvalue()


def _npy(array: NDArray[Any]) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=array.dtype.hasobject)
    return sink.getvalue()


def _npz(members: dict[str, bytes]) -> bytes:
    return _zip({f"{name}.npy": content for name, content in members.items()}, zipfile.ZIP_DEFLATED)


def _zip(members: dict[str, bytes], packing: int) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def _compared(
    function: Callable[..., object],
    suffix: str,
    one: bytes,
    other: bytes,
    arguments: dict[str, Any],
    briefly: bool,
    *,
    named: Callable[[Path], object] = Path,
) -> str:
    with TemporaryDirectory() as folder:
        path = _put(folder, suffix, one)

        def second() -> object:
            path.write_bytes(other)  # at the same place, which messages name
            return function(named(path), **arguments)

        found = alike(partial(function, named(path), **arguments), second, briefly=briefly)
        if path.read_bytes() != other:
            raise AssertionError("a file of the caller was changed")
        return found.kind


def _put(folder: str, suffix: str, content: bytes) -> Path:
    path = Path(folder) / f"table{suffix}"
    path.write_bytes(content)
    return path
