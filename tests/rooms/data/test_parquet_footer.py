"""Long footers of Parquet files are cut between row groups: pyarrow must make of the parts what it makes of all."""

import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyarrow import parquet

import plandp
from plandp.data import parquet_footer, streamed_rows
from plandp.data.open import open_rows
from plandp.data.parquet_footer import long_footer
from plandp.errors import ArgumentError
from plandp.kernels.compiler import compiled
from plandp.kernels.struct_ends import CUT_OFF, DEEPEST, UNKNOWN, find_ends

ROWS, GROUP, COLUMNS = 2_300, 100, 7
SHORT = 1_500
"""Bytes of a footer that counts as long here: of two row groups or so."""


@pytest.fixture(autouse=True)
def _streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(parquet_footer, "LONG", SHORT)


def values() -> NDArray[np.float64]:
    return np.random.default_rng(3).normal(size=(ROWS, COLUMNS))


def of_pyarrow(path: Path, **options: object) -> None:
    table = pa.table({f"c{place}": column for place, column in enumerate(values().T)})
    parquet.write_table(table.replace_schema_metadata({"a": "b" * 300}), path, row_group_size=GROUP, **options)


def of_polars(path: Path) -> None:
    frame = pl.DataFrame({f"c{place}": column for place, column in enumerate(values().T)})
    frame.write_parquet(path, row_group_size=GROUP)


def with_lists(path: Path) -> None:
    lists = pa.FixedSizeListArray.from_arrays(pa.array(values().ravel()), COLUMNS)
    parquet.write_table(pa.table({"x": lists}), path, row_group_size=GROUP)


def with_texts(path: Path) -> None:
    table = pa.table({f"c{place}": column for place, column in enumerate(values().T)})
    names = pa.array([None if row % 3 else f"n{row % 5}" for row in range(ROWS)]).dictionary_encode()
    flags = pa.array([row % 2 == 0 for row in range(ROWS)])
    parquet.write_table(table.append_column("name", names).append_column("flag", flags), path, row_group_size=GROUP)


WRITERS: dict[str, Callable[[Path], None]] = {
    "pyarrow": of_pyarrow,
    "version 1.0, no statistics": lambda path: of_pyarrow(path, version="1.0", write_statistics=False),
    "page index, check sums": lambda path: of_pyarrow(path, write_page_index=True, write_page_checksum=True),
    "sorted, without Arrow's schema": lambda path: of_pyarrow(
        path, sorting_columns=[parquet.SortingColumn(0)], store_schema=False, compression="zstd"
    ),
    "bloom filters": lambda path: of_pyarrow(path, bloom_filter_options={"c0": True}),
    "polars": of_polars,
    "lists": with_lists,
    "texts and flags": with_texts,
}


@pytest.fixture(params=WRITERS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    WRITERS[request.param](tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_parts_of_a_footer_say_what_all_of_it_says(path: Path) -> None:
    whole, footer = parquet.read_metadata(path), long_footer(path)
    assert footer is not None
    parts = list(footer.parts(path))
    assert len(parts) > 2
    groups = [part.row_group(number).to_dict() for part in parts for number in range(part.num_row_groups)]
    assert groups == [whole.row_group(number).to_dict() for number in range(whole.num_row_groups)]
    for part in [footer.without_groups(path), *parts]:
        assert (part.num_rows, part.metadata) == (whole.num_rows, whole.metadata)
        assert part.schema.equals(whole.schema)
    assert footer.without_groups(path).num_row_groups == 0


def test_no_part_is_longer_than_asked_unless_it_is_one_row_group(path: Path) -> None:
    footer = long_footer(path)
    assert footer is not None
    begins = [0, *np.cumsum([part.num_row_groups for part in footer.parts(path)])]
    for begin, end in pairwise(begins):
        length = footer.ends[end] - footer.ends[begin]
        assert length <= SHORT or end == begin + 1
        assert end == len(footer.ends) - 1 or footer.ends[end + 1] - footer.ends[begin] > SHORT  # nor than it must be


@pytest.mark.parametrize("together", [1, 14, 15, 16, 127, 128, 200, 230])
def test_parts_have_any_number_of_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    parquet.write_table(pa.table({"x": np.arange(ROWS)}), tmp_path / "t.parquet", row_group_size=10)
    footer = long_footer(tmp_path / "t.parquet")
    assert footer is not None
    monkeypatch.setattr(parquet_footer, "LONG", int(footer.ends[together] - footer.ends[0]))
    parts = list(footer.parts(tmp_path / "t.parquet"))
    assert parts[0].num_row_groups in range(together, together + 2)  # later ones have longer numbers
    offsets = [
        part.row_group(number).column(0).data_page_offset for part in parts for number in range(part.num_row_groups)
    ]
    assert len(offsets) == ROWS // 10
    assert offsets == sorted(set(offsets))


def test_a_release_is_the_same_to_the_last_bit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = None if "x" in parquet.read_schema(path).names else [f"c{place}" for place in range(COLUMNS)]

    def release() -> plandp.MeanRelease:
        return plandp.mean(path, bounds=(-9, 9), columns=columns, rho=1, testing_seed=1)

    cut = release()
    monkeypatch.setattr(parquet_footer, "LONG", 2**40)
    whole = release()
    assert (cut.estimate.tobytes(), cut.receipt.n) == (whole.estimate.tobytes(), ROWS)
    assert cut.receipt.passes == whole.receipt.passes


def test_pyarrow_is_never_handed_all_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_pyarrow(tmp_path / "t.parquet")
    seen: list[int] = []
    reader = parquet.ParquetFile

    def watched(*arguments: object, **options: object) -> object:
        file = reader(*arguments, **options)
        seen.append(file.num_row_groups)
        return file

    monkeypatch.setattr(parquet, "ParquetFile", watched)
    plandp.mean(tmp_path / "t.parquet", bounds=(-9, 9), rho=1)
    assert sum(seen) >= 2 * ROWS // GROUP
    assert max(seen) <= 3


def test_short_footers_are_left_to_pyarrow(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_footer, "LONG", path.stat().st_size)
    assert long_footer(path) is None


@pytest.mark.parametrize("long", [SHORT, 2**40])
def test_what_is_compiled_does_not_follow_from_the_length_of_a_footer(
    long: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_pyarrow(tmp_path / "t.parquet")
    monkeypatch.setattr(parquet_footer, "LONG", long)
    loop, first = compiled(find_ends), []
    assert loop is not None

    def told(text: NDArray[np.uint8], ends: NDArray[np.int64], within: NDArray[np.int64]) -> None:
        first.append((len(text), len(ends)))
        loop(text, ends, within)

    monkeypatch.setattr(parquet_footer, "compiled", lambda _: told)
    long_footer(tmp_path / "t.parquet")
    assert first[0] == (1, 0)


def test_without_a_compiler_parts_are_the_same_but_only_longer_footers_are_cut(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_compiler = long_footer(path)
    assert with_compiler is not None
    monkeypatch.setattr(parquet_footer, "compiled", lambda _: None)
    assert long_footer(path) is None  # as it takes long
    monkeypatch.setattr(parquet_footer, "LONG_IN_PYTHON", SHORT)
    without = long_footer(path)
    assert without is not None
    assert without.ends.tolist() == with_compiler.ends.tolist()
    assert (without.begin, without.groups, without.end) == (
        with_compiler.begin,
        with_compiler.groups,
        with_compiler.end,
    )


def test_a_damaged_footer_is_refused_or_read_as_pyarrow_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    of_pyarrow(path)
    good, rng = path.read_bytes(), np.random.default_rng(0)
    begin = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    refused = 0
    for _ in range(300):
        damaged = bytearray(good)
        for place in rng.integers(begin, len(good), rng.integers(1, 4)):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        found = []
        for long in (SHORT, 2**40):
            monkeypatch.setattr(parquet_footer, "LONG", long)
            try:
                found.append(np.concatenate(list(open_rows(path).blocks())).tobytes())
            except ArgumentError:
                found.append(b"refused")
        refused += found[0] == b"refused"
        assert found[0] in (b"refused", found[1])
    assert 100 < refused < 300


def structs() -> Iterator[bytes]:
    """Some of each kind of value, as the published format has them."""
    yield bytes([0])
    yield bytes([0x11, 0x12, 0])  # true, false: nothing follows
    yield bytes([0x13, 0x80, 0])  # a byte
    yield bytes([0x16, 0x80, 0x80, 0x01, 0])  # a number
    yield bytes([0x06, 0x82, 0x01, 0x05, 0])  # the field's number follows
    yield bytes([0x17, *b"12345678", 0])
    yield bytes([0x18, 3, *b"\0\0\0", 0])  # bytes
    yield bytes([0x1C, 0x15, 7, 0, 0])  # a struct
    yield bytes([0x19, 0x21, 1, 0, 0])  # a list of two bools
    yield bytes([0x19, 0x2C, 0x15, 7, 0, 0, 0])  # of two structs
    yield bytes([0x1A, 0xF5, 0x10, *[1] * 16, 0])  # a set of sixteen numbers
    yield bytes([0x19, 0x09, 0])  # an empty list of lists
    yield bytes([0x19, 0x19, 0x28, 1, 7, 0, 0])  # a list of a list of bytes


Find = Callable[[bytes, NDArray[np.int64]], None]


def in_python(text: bytes, ends: NDArray[np.int64]) -> None:
    find_ends(memoryview(text), ends, [0] * DEEPEST)


def by_machine_code(text: bytes, ends: NDArray[np.int64]) -> None:
    loop = compiled(find_ends)
    assert loop is not None
    loop(np.frombuffer(text, np.uint8), ends, np.empty(DEEPEST, np.int64))


@pytest.mark.parametrize("find", [in_python, by_machine_code], ids=["Python", "compiled"])
def test_structs_end_where_they_end(find: Find) -> None:
    every = list(structs())
    text = b"".join(every)
    for length in range(len(text) + 1):
        ends = np.full(len(every) + 1, 99)
        find(text[:length], ends)
        expected = np.cumsum([len(struct) for struct in every])
        np.testing.assert_array_equal(ends, [*np.where(expected <= length, expected, CUT_OFF), CUT_OFF])


@pytest.mark.parametrize("find", [in_python, by_machine_code], ids=["Python", "compiled"])
@pytest.mark.parametrize(
    "struct",
    [
        bytes([0x1B, 0x01, 0x55, 1, 2, 0]),  # a map
        bytes([0x1D, 0]),
        bytes([0x1C] * 40 + [0] * 41),  # too deep
        bytes([0x19] * 40 + [0] * 41),
        bytes([0x18, *[255] * 10, 0]),  # longer than a number can be
        bytes([0x19, 0xF5, *[255] * 8, 1, 0]),
    ],
)
def test_what_is_not_known_is_said_to_be_unknown(find: Find, struct: bytes) -> None:
    ends = np.full(3, 99)
    find(b"\0" + struct, ends)
    assert ends.tolist() == [1, UNKNOWN, UNKNOWN]


LONG_NUMBER = b"\xff" * 300_000 + b"\x01"
DAMAGED = {
    "a version without end": b"\x15" + LONG_NUMBER,
    "a schema of very many": b"\x15\x02\x19\xfc" + LONG_NUMBER,
    "rows without end": b"\x15\x02\x19\x1c\x00\x16" + LONG_NUMBER,
    "very many row groups": b"\x15\x02\x19\x1c\x00\x16\x02\x19\xfc" + LONG_NUMBER,
    "row groups of nothing": b"\x15\x02\x19\x1c\x00\x16\x02\x19\xfc" + b"\xff" * 4 + b"\x07",
    "a row group of what is unknown": b"\x15\x02\x19\x1c\x00\x16\x02\x19\xfc\xff\xff\xff\xff\x07\x1b\x01\x55",
    "only its beginning": b"\x15",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_of_a_footer_that_cannot_be_little_is_held(damage: str, tmp_path: Path) -> None:
    footer = DAMAGED[damage] + bytes(6_000_000)
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    tracemalloc.start()
    assert long_footer(tmp_path / "t.parquet") is None
    assert tracemalloc.get_traced_memory()[1] < 30e6
    tracemalloc.stop()
    with pytest.raises(ArgumentError, match=r"cut off, damaged or not a Parquet file"):
        open_rows(tmp_path / "t.parquet")


def test_nothing_of_a_footer_is_kept(tmp_path: Path) -> None:
    of_pyarrow(tmp_path / "t.parquet")
    footer = long_footer(tmp_path / "t.parquet")
    assert footer is not None
    kept = [value for value in vars(footer).values() if not isinstance(value, int)]
    assert len(kept) == 1
    assert kept[0].nbytes == 8 * (ROWS // GROUP + 1)
