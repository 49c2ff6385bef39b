"""The way in for sparse rows: every format, dtype and container gives the rows that a plain dictionary gives."""

import math
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from plandp.data import distinct_items, open_sparse, scipy_matrix, sorted_entries, stored_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.rows import Sums
from plandp.data.sparse_rows import SparseBlock
from plandp.errors import ArgumentError
from plandp.kernels.clean_items import clean_rows, count_entries, find_unclean, place_entries
from plandp.kernels.compiler import compiled

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
DTYPES = (
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "longdouble", ">f8", ">i4"),
)
UNKNOWN_TO_SCIPY = ("float16", ">f8", ">i4")  # which can still be put into a matrix by hand
WAYS = {"compiled": compiled, "plain Python": lambda loop: loop, "NumPy": lambda loop: None}
NAN, INF = float("nan"), float("inf")
SECRET = 48151623

Row = list[tuple[int, float]]
"""What is stored in a row: columns and values, in stored order."""


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    assert all(compiled(loop) is not None for loop in (clean_rows, find_unclean, count_entries, place_entries))
    for user in (distinct_items, sorted_entries):
        monkeypatch.setattr(user, "compiled", WAYS[request.param])
    return str(request.param)


@pytest.fixture
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small tables too: what a stretch of entries ends in the middle of shows."""
    for module in (stored_rows, distinct_items, scipy_matrix):
        monkeypatch.setattr(module, "ENTRIES_AT_A_TIME", 3)
    monkeypatch.setattr(open_sparse, "ENTRIES_PER_BLOCK", 5)
    monkeypatch.setattr(open_sparse, "TIMES_OF_SETS", 1)


class Collect:
    """A fold that keeps what it sees, and checks what every block promises."""

    def __init__(self, d: int, binary: bool) -> None:
        self.d, self.binary = d, binary
        self.rows: list[Row] = []
        self.blocks: list[SparseBlock] = []

    def __call__(self, block: SparseBlock, /) -> Sums:
        begin, items, values = block.begin, block.items, block.values
        assert begin[0] == 0
        assert begin[-1] == len(items)
        assert (np.diff(begin) >= 0).all()
        assert begin.dtype in (np.int32, np.int64)
        assert items.dtype in (np.int32, np.int64)
        assert ((items >= 0) & (items < self.d)).all()
        assert (values is None) == self.binary
        if values is not None:
            assert values.dtype == np.float64
            assert len(values) == len(items)
            assert (values > 0).all()
        for first, last in pairwise(begin):
            row = items[first:last].tolist()
            assert len(set(row)) == len(row)
            self.rows.append(
                list(zip(row, [1.0] * len(row) if values is None else values[first:last].tolist(), strict=True))
            )
        self.blocks.append(block)
        return (np.array([len(begin) - 1]),)


def read(data: Any, *, binary: bool, columns: Any = None) -> list[Row]:
    rows = open_sparse_rows(data, binary=binary, columns=columns)
    seen = Collect(rows.d, binary)
    (count,) = rows.fold(seen)
    assert count[0] == rows.n == len(seen.rows)
    assert rows.labels == (tuple(range(rows.d)) if columns is None else tuple(columns))
    return seen.rows


def expected(stored: list[Row], d: int, *, binary: bool, columns: list[int] | None = None) -> list[Row]:
    """The public rules, word by word."""
    asked = list(range(d)) if columns is None else columns
    answer = []
    for row in stored:
        cells: dict[int, float] = {}
        for column, value in row:
            if column in asked and not math.isnan(value) and value != 0:
                item = asked.index(column)
                cells[item] = cells[item] + value if item in cells else value
        if binary:
            answer.append([(item, 1.0) for item in cells])
        else:
            answer.append([(item, total) for item, total in cells.items() if total > 0])
    return answer


def in_order(rows: list[Row]) -> list[Row]:
    return [sorted(row) for row in rows]


def matrix(stored: list[Row], d: int, *, dtype: Any, wide: bool = False, made: Any = sp.csr_array) -> Any:
    """A CSR matrix of exactly these entries, which SciPy neither checks nor sorts."""
    index = np.int64 if wide else np.int32
    answer = made((len(stored), d))
    answer.indptr = np.cumsum([0, *(len(row) for row in stored)]).astype(index)
    answer.indices = np.array([column for row in stored for column, _ in row], index)
    answer.data = np.array([value for row in stored for _, value in row]).astype(dtype)
    return answer


def as_csc(stored: list[Row], d: int, *, dtype: Any) -> tuple[Any, list[Row]]:
    """A CSC matrix of these entries, and what each row then holds in stored order."""
    n = len(stored)
    entries = sorted(((c, r, v) for r, row in enumerate(stored) for c, v in row if 0 <= c < d), key=lambda e: e[0])
    answer = sp.csc_array((n, d))
    answer.indptr = np.searchsorted([c for c, _, _ in entries], np.arange(d + 1)).astype(np.int32)
    answer.indices = np.array([r for _, r, _ in entries], np.int32)
    answer.data = np.array([v for _, _, v in entries]).astype(dtype)
    return answer, [[(c, v) for c, r, v in entries if r == row] for row in range(n)]


def as_coo(stored: list[Row], d: int, *, dtype: Any, order: np.ndarray) -> tuple[Any, list[Row]]:
    """A COO matrix of these entries, shuffled, and what each row then holds in stored order."""
    entries = [(r, c, v) for r, row in enumerate(stored) for c, v in row]
    entries = [entries[k] for k in order]
    answer = sp.coo_array((len(stored), d))
    answer.coords = tuple(np.array([e[axis] for e in entries], np.int64) for axis in (0, 1))
    answer.data = np.array([v for _, _, v in entries]).astype(dtype)
    return answer, [[(c, v) for r, c, v in entries if r == row] for row in range(len(stored))]


@st.composite
def messy(draw: st.DrawFn) -> tuple[list[Row], int, str]:
    dtype = draw(st.sampled_from(DTYPES))
    kind = np.dtype(dtype).kind
    d = draw(st.integers(1, 6))
    if kind == "b":
        value = st.sampled_from([0.0, 1.0])
    elif kind == "u":
        value = st.sampled_from([0.0, 1.0, 2.0, 200.0])
    elif kind == "i":
        value = st.sampled_from([0.0, 1.0, -1.0, 2.0, 100.0, -100.0])
    else:
        value = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0**-9, 60000.0, -60000.0, NAN, INF, -INF])
    column = st.one_of(st.integers(0, d - 1), st.integers(0, d - 1), st.sampled_from([-1, -d, d, d + 1, 2**31 - 1]))
    stored = draw(st.lists(st.lists(st.tuples(column, value), max_size=8), min_size=1, max_size=6))
    return stored, d, dtype


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize(
    "fault", [(-1, 1.0), (-4, 1.0), (4, 1.0), (2**31 - 1, 1.0), (1, 0.0), (1, NAN), (1, -1.0), (1, 1.0), (3, 1.0)]
)
def test_one_fault_in_a_clean_matrix_is_found(way: str, fault: tuple[int, float], rising: bool, binary: bool) -> None:
    clean = [[], [(0, 1.0), (3, 2.0)], [], [], [(1, 3.0)], [(2, 4.0), (3, 5.0)], []]
    if not rising:
        clean = [row[::-1] for row in clean]
    assert read(matrix(clean, 4, dtype="float64"), binary=binary) == expected(clean, 4, binary=binary)
    for r, row in enumerate(clean):
        for at in range(len(row) + 1):
            stored = [*clean[:r], [*row[:at], fault, *row[at:]], *clean[r + 1 :]]
            assert read(matrix(stored, 4, dtype="float64"), binary=binary) == expected(stored, 4, binary=binary)
            for table, held in (
                as_csc(stored, 4, dtype="float64"),
                as_coo(stored, 4, dtype="float64", order=np.arange(sum(map(len, stored)))),
            ):
                assert read(table, binary=binary) == expected(held, 4, binary=binary)


SETTINGS = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SETTINGS
@given(case=messy(), binary=st.booleans(), wide=st.booleans(), data=st.data())
def test_compressed_rows_follow_the_rules(
    way: str, few_at_a_time: None, case: tuple[list[Row], int, str], binary: bool, wide: bool, data: st.DataObject
) -> None:
    stored, d, dtype = case
    columns = data.draw(st.one_of(st.none(), st.permutations(range(d)).flatmap(lambda p: st.just(p[: 1 + d // 2]))))
    for made in (sp.csr_array, sp.csr_matrix):
        table = matrix(stored, d, dtype=dtype, wide=wide, made=made)
        answer = read(table, binary=binary, columns=columns)
        assert answer == expected(stored, d, binary=binary, columns=columns)  # in stored order, too


@SETTINGS
@given(case=messy(), binary=st.booleans(), data=st.data())
def test_other_formats_follow_the_rules(
    way: str, few_at_a_time: None, case: tuple[list[Row], int, str], binary: bool, data: st.DataObject
) -> None:
    stored, d, dtype = case
    many = sum(len(row) for row in stored)
    columns = data.draw(st.one_of(st.none(), st.permutations(range(d)).flatmap(lambda p: st.just(p[: 1 + d // 2]))))
    for table, held in (
        as_csc(stored, d, dtype=dtype),
        as_coo(stored, d, dtype=dtype, order=np.array(data.draw(st.permutations(range(many))), int)),
    ):
        assert read(table, binary=binary, columns=columns) == expected(held, d, binary=binary, columns=columns)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in UNKNOWN_TO_SCIPY])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_and_dtype_reads_like_its_dense_table(name: str, dtype: str, binary: bool) -> None:
    rng = np.random.default_rng(3)
    dense = (rng.integers(0, 4, (20, 12)) * (rng.random((20, 12)) < 0.3)).astype(dtype)
    if np.dtype(dtype).kind in "if":
        dense[rng.random(dense.shape) < 0.1] = -2
    if np.dtype(dtype).kind == "f":
        dense[rng.random(dense.shape) < 0.1] = NAN
        dense[3, 4] = INF
    wanted = [[(c, float(v)) for c, v in enumerate(row)] for row in dense]
    for made in (f"{name}_array", f"{name}_matrix"):
        table = getattr(sp, made)(dense)
        assert in_order(read(table, binary=binary)) == expected(wanted, 12, binary=binary)


def test_a_thousand_times_the_same_cell_is_one_and_does_not_wrap(way: str) -> None:
    # 256 ones of eight bits add up to 0 where they are added in eight bits.
    row, column = np.zeros(256, np.int32), np.full(256, 2, np.int32)
    for dtype in ("uint8", "int8", "bool"):
        table = sp.coo_array((np.ones(256, dtype), (row, column)), shape=(2, 4))
        wrapping = matrix([[(2, 1.0)] * 256, []], 4, dtype=dtype)
        for data in (table, wrapping):
            assert read(data, binary=True) == [[(2, 1.0)], []]
            assert read(data, binary=False) == [[(2, 256.0)], []]


def test_sums_go_in_stored_order_in_double_precision(way: str) -> None:
    stored = [[(0, 1e16), (0, 1.0), (0, 1.0)], [(0, 1.0), (0, 1.0), (0, 1e16)], [(0, INF), (0, -INF), (0, 1.0)]]
    assert read(matrix(stored, 1, dtype="float64"), binary=False) == [[(0, 1e16)], [(0, 1e16 + 2)], []]
    single = [[(0, float(np.float32(0.1)))] * 3]
    assert read(matrix(single, 1, dtype="float32"), binary=False)[0][0][1] == sum([float(np.float32(0.1))] * 3)


def test_numbers_beyond_double_precision_are_infinite_or_nothing(way: str) -> None:
    table = matrix([[(0, 1.0), (1, 1.0)], [(2, 1.0)]], 3, dtype="longdouble")
    table.data[:2] = np.longdouble(10) ** np.array([4000, -4000], np.longdouble)
    assert read(table, binary=True) == [[(0, 1.0)], [(2, 1.0)]]
    for data in (table, table.tocsc()):
        assert read(data, binary=False) == [[(0, INF)], [(2, 1.0)]]
    assert read(table[:, [0, 2]], binary=False) == [[(0, INF)], [(1, 1.0)]]  # no copy, but converted


@pytest.mark.parametrize(
    ("starts", "lengths"),
    [
        ([0, 2, 1, 4], [2, 0, 2]),
        ([0, 9, 9, 9], [4, 0, 0]),
        ([-5, 1, 2, 4], [1, 1, 2]),
        ([0, 2**31 - 1, -(2**31), 3], [4, 0, 0]),
        ([4, 3, 2, 1], [0, 0, 0]),
        ([1, 2, 3, 4], [1, 1, 1]),
    ],
)
@pytest.mark.parametrize("binary", [True, False])
def test_row_starts_that_make_no_sense_give_each_entry_to_one_row(
    way: str, starts: list[int], lengths: list[int], binary: bool
) -> None:
    for duplicate in (False, True):
        rows = matrix([[(0, 1.0), (1, 1.0), (2, 1.0), (2 if duplicate else 3, 1.0)], [], []], 4, dtype="int64")
        rows.indptr = np.array(starts, np.int32)
        got = [len(row) for row in read(rows, binary=binary)]
        assert all(one <= most for one, most in zip(got, lengths, strict=True))
        if not duplicate:
            assert got == lengths
    columns = sp.csc_array((4, 3), dtype=np.int64)
    columns.indptr, columns.indices, columns.data = np.array(starts, np.int32), np.arange(4, dtype=np.int32), np.ones(4)
    assert sum(len(row) for row in read(columns, binary=binary)) == sum(lengths)


def test_rows_outside_are_dropped(way: str) -> None:
    for outside in (-1, -2, 2, 2**31 - 1):
        columns = sp.csc_array(np.eye(2))
        columns.indices = np.array([0, outside], np.int32)
        entries = sp.coo_array(np.eye(2))
        entries.coords = (np.array([0, outside]), np.array([0, 1]))
        for table in (columns, entries):
            assert read(table, binary=True) == read(table, binary=False) == [[(0, 1.0)], []]


def test_parts_of_unequal_length_are_read_as_far_as_all_go(way: str) -> None:
    rows = matrix([[(0, 1.0), (1, 1.0)], [(2, 1.0)]], 3, dtype="float64")
    rows.data = rows.data[:2]
    assert read(rows, binary=True) == [[(0, 1.0), (1, 1.0)], []]
    entries = sp.coo_array(np.eye(3))
    entries.data = entries.data[:1]
    assert read(entries, binary=True) == [[(0, 1.0)], [], []]


def test_blocks_read_like_the_table_and_those_outside_are_dropped(way: str) -> None:
    dense = np.arange(32.0).reshape(4, 8)
    stored = [list(enumerate(row)) for row in dense.tolist()]
    for height, width in ((2, 4), (4, 2), (1, 8)):
        table = sp.bsr_array(dense, blocksize=(height, width))
        assert in_order(read(table, binary=False)) == expected(stored, 8, binary=False)
    table = sp.bsr_array(dense, blocksize=(2, 4))
    for outside in ([0, 2, -1, 2**31 - 1], [0, 2**62, -1, -(2**63)]):  # times 4, the latter come back into range
        table.indices = np.array(outside, np.int64)
        assert [len(row) for row in read(table, binary=True)] == [3, 4, 0, 0]


@pytest.mark.parametrize("binary", [True, False])
def test_a_clean_matrix_is_read_where_it_lies(way: str, binary: bool) -> None:
    table = matrix([[(3, 1.0), (0, 2.0)], [], [(1, 5.0)]], 4, dtype="float64")
    rows = open_sparse_rows(table, binary=binary)
    seen = Collect(4, binary)
    rows.fold(seen)
    (block,) = seen.blocks
    assert np.shares_memory(block.items, table.indices)
    assert not block.items.flags.writeable
    if block.values is not None:
        assert np.shares_memory(block.values, table.data)
        assert not block.values.flags.writeable


def test_arrays_may_be_read_only_strided_and_of_odd_integers(way: str) -> None:
    stored = [[(3, 1.0), (0, 2.0), (9, 1.0)], [], [(1, 5.0), (1, NAN), (2, -1.0)]]
    for clean in (True, False):
        held = [row[:2] if clean else row for row in (stored[0], stored[1], stored[2][: 1 if clean else 3])]
        for change in (
            lambda part: np.repeat(part, 2)[::2],
            lambda part: part.astype(part.dtype.newbyteorder(">")),
            lambda part: part.astype(np.uint64) if part.dtype.kind == "i" else part,
            lambda part: part.astype(np.int8) if part.dtype.kind == "i" else part,
            lambda part: np.frombuffer(part.tobytes(), part.dtype),
            lambda part: np.frombuffer(b"." + part.tobytes(), part.dtype, offset=1),  # not aligned
        ):
            table = matrix(held, 4, dtype="float64")
            for part in ("indptr", "indices", "data"):
                setattr(table, part, change(getattr(table, part)))
            for binary in (True, False):
                assert read(table, binary=binary) == expected(held, 4, binary=binary)


@pytest.mark.parametrize("binary", [True, False])
def test_compiled_loops_and_numpy_give_the_same_bits(binary: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    many, n, d = 30_000, 400, 70
    rows, columns = rng.integers(-2, n + 2, many), rng.integers(-2, d + 2, many)
    values = rng.standard_normal(many) * 10.0 ** rng.integers(-9, 9, many)
    values[rng.random(many) < 0.05], values[rng.random(many) < 0.05] = NAN, 0.0
    table = sp.coo_array((n, d))
    table.coords, table.data = (rows, columns), values
    monkeypatch.setattr(distinct_items, "ENTRIES_AT_A_TIME", 1000)
    answers = []
    for chosen in WAYS.values():
        for user in (distinct_items, sorted_entries):
            monkeypatch.setattr(user, "compiled", chosen)
        answers.append(read(table, binary=binary))
    held = [list(zip(columns[rows == r].tolist(), values[rows == r].tolist(), strict=True)) for r in range(n)]
    assert answers[0] == answers[1] == answers[2] == expected(held, d, binary=binary)


def peak(run: Callable[[], object]) -> int:
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


class Nothing:
    def __call__(self, block: SparseBlock, /) -> Sums:
        return (np.zeros(1, np.int64),)


@pytest.mark.parametrize("binary", [True, False])
def test_little_memory_is_taken(binary: bool) -> None:
    n, d, per_row = 40_000, 3_000, 50  # two million entries, 8 MB of indices
    items = (np.arange(n)[:, None] * 7 + np.arange(per_row) * 59) % d
    table = sp.csr_array((n, d))
    table.indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    table.indices, table.data = items.ravel().astype(np.int32), np.ones(n * per_row)
    open_sparse_rows(table, binary=binary)  # compiles
    indices = table.indices.nbytes

    def run() -> None:
        open_sparse_rows(table, binary=binary).fold(Nothing())

    assert peak(run) < 0.25 * indices  # clean: nothing is copied
    table.data = np.ones(n * per_row, np.float32)
    assert peak(run) < (0.25 if binary else 0.8) * indices  # float64 a block at a time
    table.data[7] = 0.0
    assert peak(run) < (1.5 if binary else 3.5) * indices  # a copy: items, and values twice as wide
    columns = table.tocsc()
    assert peak(lambda: open_sparse_rows(columns, binary=binary)) < (1.5 if binary else 3.5) * indices


def test_a_dense_table_is_held_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.data.blocks.VALUES_PER_BLOCK", 2**16)
    dense = np.ones((2**12, 2**8), np.float32)
    assert peak(lambda: open_sparse_rows(dense, binary=False).fold(Nothing())) < 6 * 8 * 2**16 < dense.nbytes


def fingerprint(table: Any) -> Any:
    parts = {
        name: getattr(table, name) for name in ("indptr", "indices", "row", "col", "offsets") if hasattr(table, name)
    }
    parts["data"] = table.data if hasattr(table, "data") else table._dict
    arrays = {
        name: (id(part), repr(part.tolist() if hasattr(part, "tolist") else part)) for name, part in parts.items()
    }
    writable = {name: part.flags.writeable for name, part in parts.items() if isinstance(part, np.ndarray)}
    return arrays, writable, sorted(vars(table)), {k: v for k, v in vars(table).items() if isinstance(v, bool | int)}


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_the_matrix_is_left_as_it_was(way: str, name: str, binary: bool) -> None:
    dense = np.array([[0.0, 2.0, -1.0], [NAN, 1.0, 3.0], [0.0, 0.0, 0.0], [1.0, 0.0, 4.0]])
    table = getattr(sp, f"{name}_array")(dense)
    if name in ("csr", "csc"):
        table.indices = np.array([2, 1, 1, 0, 2, 0][: len(table.indices)], np.int32)
    if name == "coo":
        table = sp.coo_array(([1.0, 1.0, 0.0, NAN], ([3, 3, 0, 0], [1, 1, 2, 0])), shape=(4, 3))
    before = fingerprint(table)
    for columns in (None, [2, 0]):
        rows = open_sparse_rows(table, binary=binary, columns=columns)
        for _ in range(2):
            rows.fold(Collect(rows.d, binary))
    assert fingerprint(table) == before


def test_what_a_row_gives_does_not_depend_on_the_other_rows(way: str) -> None:
    # One bad row moves all others to the copy: their values must come out with the same bits.
    good = [[(0, 0.1), (2, 1e-300)], [(1, 3.3)]]
    for dtype in ("float64", "float32", "longdouble", "float16"):
        alone = read(matrix(good, 3, dtype=dtype), binary=False)
        beside = read(matrix([*good, [(0, NAN), (1, -1.0), (1, 5.0), (7, 1.0)]], 3, dtype=dtype), binary=False)
        assert beside[:2] == alone


@pytest.mark.parametrize("binary", [True, False])
def test_dense_tables_read_like_sparse_ones(binary: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.data.blocks.VALUES_PER_BLOCK", 8)
    dense = np.array([[0.0, 2.0, -1.0], [NAN, 1.0, INF], [0.0, -0.0, 0.0], [5e-324, -INF, 4.0]])
    stored = [list(enumerate(row)) for row in dense.tolist()]
    wanted = expected(stored, 3, binary=binary)
    names = ["a", "b", "c"]
    frame = pandas.DataFrame(dense, columns=names)
    assert read(dense, binary=binary) == read(dense.tolist(), binary=binary) == wanted
    assert read(np.asfortranarray(dense), binary=binary) == wanted
    for table in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        assert read(table, binary=binary, columns=names) == wanted
        turned = expected(stored, 3, binary=binary, columns=[2, 0])
        assert read(table, binary=binary, columns=["c", "a"]) == in_order(turned)
    assert dense[3, 0] == 5e-324


def test_a_file_is_read_block_by_block(tmp_path: Any) -> None:
    (tmp_path / "counts.csv").write_text("a,b\n0,2\n,1\n-1,0\n")
    assert read(tmp_path / "counts.csv", binary=True, columns=["b", "a"]) == [[(0, 1.0)], [(0, 1.0)], [(1, 1.0)]]
    assert read(str(tmp_path / "counts.csv"), binary=False, columns=["a", "b"]) == [[(1, 2.0)], [(1, 1.0)], []]


@pytest.mark.parametrize("data", [sp.csr_array(np.eye(5)), sp.coo_array(np.eye(5)), np.eye(5)])
@pytest.mark.parametrize("progress", [True, False])
def test_a_fold_is_one_pass_with_one_bar(data: Any, progress: bool, capsys: pytest.CaptureFixture[str]) -> None:
    rows = open_sparse_rows(data, binary=True, progress=progress)
    assert rows.passes == 0
    first, second = Collect(5, True), Collect(5, True)
    rows.fold(first)
    assert rows.passes == 1
    rows.fold(second)
    assert rows.passes == 2
    assert first.rows == second.rows
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("reading rows" in shown.err) == progress


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "object"])
@pytest.mark.parametrize("name", ["csr", "csc", "coo", "lil", "dok"])
def test_dtypes_that_are_no_numbers_are_refused(name: str, dtype: str) -> None:
    table = getattr(sp, f"{name}_array")((2, 3), dtype=np.int64)
    if name in ("csr", "csc", "coo"):
        table.data = table.data.astype(dtype)
    else:
        table.dtype = np.dtype(dtype)
    with pytest.raises(ArgumentError, match=r"^data: the matrix holds (complex numbers|Python objects)"):
        open_sparse_rows(table, binary=True)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("name", ["csr", "csc", "coo", "lil", "dok", "dense"])
def test_no_rows_or_columns_are_refused(name: str, shape: tuple[int, int]) -> None:
    table = np.zeros(shape) if name == "dense" else getattr(sp, f"{name}_array")(shape)
    with pytest.raises(ArgumentError, match=r"^data: a table of . rows × . columns has no mean"):
        open_sparse_rows(table, binary=False)


def test_a_sparse_vector_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^data: the sparse array has 1 dimensions; pass rows × columns"):
        open_sparse_rows(sp.coo_array(np.eye(3)[0]), binary=True)


def test_an_operator_is_no_matrix() -> None:
    with pytest.raises(ArgumentError, match=r"^data: a .*LinearOperator is not accepted"):
        open_sparse_rows(aslinearoperator(np.eye(3)), binary=True)


@pytest.mark.parametrize("columns", [["a"], [3], [], [0, 0], "0"])
def test_columns_that_are_not_there_are_refused(columns: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^columns: "):
        open_sparse_rows(sp.csr_array(np.eye(3)), binary=True, columns=columns)


def broken() -> Iterator[Any]:
    for part in ("indptr", "indices"):
        table = sp.csr_array(SECRET * np.eye(3))
        setattr(table, part, getattr(table, part).astype(float))
        yield table
    table = sp.csr_array(SECRET * np.eye(3))
    table.indptr = table.indptr[:-1]
    yield table
    table = sp.csr_array(SECRET * np.eye(3))
    table.data = table.data[:, np.newaxis]
    yield table
    # by their type alone: without a value to be cleaned away, a mask was not noticed
    for value, part in product((SECRET, np.nan), ("data", "indices", "indptr")):
        table = sp.csr_array(value * np.eye(3))
        setattr(table, part, np.ma.masked_array(getattr(table, part)))
        yield table
    for name in ("coo", "csc", "bsr"):
        table = getattr(sp, f"{name}_array")(SECRET * np.eye(3))
        table.data = np.ma.masked_array(table.data)
        yield table
    table = sp.dia_array(SECRET * np.eye(3))
    table.data = table.data[:, :, np.newaxis]
    yield table


@pytest.mark.parametrize("table", list(broken()))
def test_parts_that_do_not_fit_are_refused_without_a_value(table: Any) -> None:
    with pytest.raises(ArgumentError, match="do not fit together") as caught:
        open_sparse_rows(table, binary=True)
    assert str(SECRET) not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("entries", [2, 3, 7, 1000])
def test_blocks_are_cut_between_rows(binary: bool, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [[(c, 1.0 + c) for c in range(k)] for k in (0, 2, 5, 0, 0, 0, 0, 0, 9, 1, 1, 0)]
    monkeypatch.setattr(open_sparse, "ENTRIES_PER_BLOCK", entries)
    monkeypatch.setattr(open_sparse, "TIMES_OF_SETS", 1)
    monkeypatch.setattr(open_sparse, "ENTRIES_PER_COLUMN", 0)
    rows = open_sparse_rows(matrix(stored, 9, dtype="int32"), binary=binary)
    seen = Collect(9, binary)
    rows.fold(seen)
    assert seen.rows == expected(stored, 9, binary=binary)
    for block in seen.blocks:
        assert len(block.begin) - 1 <= entries
        assert len(block.items) <= entries or len(block.begin) == 2
