"""CSV and TSV files: numbers to the last bit, and nothing in a cell that shows in anything but the numbers."""

import csv
import io
import logging
import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from plandp.data import csv_file
from plandp.data.csv_record import split_record
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

CANARY = "canary48151623"


@pytest.fixture(scope="module", params=["compiled", "Python"], autouse=True)
def _way(request: pytest.FixtureRequest, path: Path) -> Iterator[None]:
    """Cells are read by a compiled loop, or by Python."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "Python":
            patch.setattr(csv_file, "compiled", lambda _: None)
        cells(b"x\n1\n", path)  # compiled beforehand, which takes long and is told to the log
        yield


def read(path: Path, **arguments: object) -> NDArray[np.float64]:
    rows = open_rows(path, **arguments)  # type: ignore[arg-type]  # arguments of any type
    return np.concatenate(list(rows.blocks()))


def cells(text: bytes, path: Path, **arguments: object) -> NDArray[np.float64]:
    path.write_bytes(text)
    return read(path, **arguments)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for the many examples of a property."""
    return tmp_path_factory.mktemp("csv") / "table.csv"


# ---- numbers


@given(st.lists(st.floats(), min_size=1, max_size=20), st.sampled_from([repr, "{:.17g}".format, "{:.30e}".format]))
def test_every_float_comes_back_to_the_last_bit(path: Path, values: list[float], write: object) -> None:
    text = "x\n" + "".join(f"{write(value)}\n" for value in values)  # type: ignore[operator]  # arguments of any type
    got = cells(text.encode(), path)[:, 0]
    assert np.isnan(got).tolist() == [math.isnan(value) for value in values]
    present = ~np.isnan(got)
    assert got[present].tobytes() == np.array(values)[present].tobytes()


def nearest(number: Fraction) -> float:
    try:
        return float(number)  # Python rounds fractions correctly, by integers
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@given(st.integers(-(10**40), 10**40), st.integers(-360, 310))
def test_decimals_are_rounded_to_the_nearest_float(path: Path, digits: int, exponent: int) -> None:
    assert cells(f"x\n{digits}e{exponent}\n".encode(), path)[0, 0] == nearest(digits * Fraction(10) ** exponent)


@given(st.floats(1e-300, 1e300), st.sampled_from([-1, 0, 1]))
def test_midpoints_between_floats_are_rounded_to_even_and_their_neighbours_are_not(
    path: Path, value: float, push: int
) -> None:
    middle = (Fraction(value) + Fraction(math.nextafter(value, math.inf))) / 2
    decimal = middle + push * Fraction(1, 10**1100)
    scaled = decimal * 10**1100  # dyadic fractions down to 2**-1100 are whole numbers now
    assert scaled.denominator == 1
    assert cells(f"x\n{scaled.numerator}e-1100\n".encode(), path)[0, 0] == nearest(decimal)


@pytest.mark.parametrize("push", ["", "e0", ".0", ".5", ".001", "000e-3", "001e-3", "e-30", "e-48"])
@pytest.mark.parametrize("binary", [53, 54, 57, 61, 62])
def test_whole_numbers_in_the_middle_between_floats_are_rounded_to_even(path: Path, binary: int, push: str) -> None:
    """These have digits that the loop could take: it must see that they are in the middle, or next to it."""
    step = 2 ** (binary - 52)
    texts = [
        f"{sign}{2**binary + step * k + step // 2 + off}{push}"
        for k in range(60)
        for off in (-1, 0, 1)
        for sign in "+-"
    ]
    got = cells("\n".join(["x", *texts]).encode(), path)[:, 0]
    assert got.tolist() == [nearest(Fraction(text)) for text in texts]


@pytest.mark.parametrize("digits", [20, 21, 25, 40])
def test_longer_decimals_next_to_the_middle_between_floats_are_rounded_rightly(path: Path, digits: int) -> None:
    """Digits beyond the nineteenth decide there, whatever the loop has of them."""
    rng = np.random.default_rng(digits)
    texts = []
    for _ in range(3000):
        mantissa, power = int(rng.integers(2**52, 2**53)), int(rng.integers(-150, 100))
        middle = Fraction(2 * mantissa + 1) * Fraction(2) ** (power - 1)
        place = digits - 1 - math.floor(math.log10(middle))
        below = math.floor(middle * Fraction(10) ** place)
        texts += [f"{below}e{-place}", f"-{below + 1}e{-place}", f"{str(below)[:3]}.{str(below + 1)[3:]}"]
    got = cells("\n".join(["x", *texts]).encode(), path)[:, 0]
    assert got.tobytes() == np.array([float(text) for text in texts]).tobytes()


def test_many_decimals_are_rounded_as_python_rounds_them(path: Path) -> None:
    rng = np.random.default_rng(11)
    digits = rng.integers(0, 10**19, 60_000, dtype=np.uint64) // np.uint64(10) ** rng.integers(0, 19, 60_000, np.uint64)
    exponents = rng.integers(-66, 66, 60_000)
    texts = [f"{number}e{exponent}" for number, exponent in zip(digits.tolist(), exponents.tolist(), strict=True)]
    texts += [f"{number}.{exponent % 10**4:04}" for number, exponent in zip(digits.tolist(), exponents, strict=True)]
    got = cells("\n".join(["x", *texts]).encode(), path)[:, 0]
    assert got.tobytes() == np.array([float(text) for text in texts]).tobytes()


@given(
    st.lists(
        st.tuples(
            *3 * [st.from_regex(r"[ +-]?[0-9]{0,21}\.?[0-9]{0,21}([eE][+-]?[0-9]{0,4})?[\r f]?", fullmatch=True)]
        ),
        min_size=1,
        max_size=9,
    )
)
def test_what_looks_like_a_number_is_one_if_python_says_so(path: Path, table: list[tuple[str, str, str]]) -> None:
    got = cells("\n".join(["a,b,c", *map(",".join, table)]).encode(), path)
    expected = np.array([[_float(cell) for cell in row] for row in table])
    assert got.tobytes() == expected.tobytes()


NUMBERS = {
    b"1e18446744073709551617": math.inf,  # 2**64 + 1, which is 1 to whoever counts to 2**64
    b"1e-18446744073709551617": 0.0,
    b"0e18446744073709551617": 0.0,
    b"1": 1.0,
    b" 1.5\t": 1.5,
    b"+2.": 2.0,
    b"-.5": -0.5,
    b"1e5": 1e5,
    b"1E-5": 1e-5,
    b"0012": 12.0,
    b"-0": -0.0,
    b"inf": math.inf,
    b"-Infinity": -math.inf,
    b"1e999": math.inf,
    b"9" * 400: math.inf,
    b"1" * 100_000: math.inf,
    b"0." + b"0" * 400 + b"1": 0.0,
    b'"3.5"': 3.5,
    b'" 3.5 "': 3.5,
    b'"3"".5"': None,
    b"": None,
    b" ": None,
    b"NA": None,
    b"nan": None,
    b"null": None,
    b"1_000": None,
    b"0x10": None,
    b"1 000": None,
    b"1.5f": None,
    b"1d5": None,
    b"True": None,
    b"12%": None,
    b"--1": None,
    b"1\x00": None,
    b"\x001": None,
    "١".encode(): None,  # a digit, but not an ASCII one
    "1\u00a0".encode(): None,
    b"\xff\xfe": None,
    b"x" * 300_000: None,  # longer than csv.field_size_limit
    b'"a,b\nc"': None,
    b"4\r": 4.0,
}


@pytest.mark.parametrize(("cell", "value"), NUMBERS.items(), ids=[ascii(cell[:12]) for cell in NUMBERS])
@pytest.mark.parametrize("place", ["first", "last"])
def test_what_is_a_number_and_what_is_missing(tmp_path: Path, cell: bytes, value: float | None, place: str) -> None:
    row = cell + b",7\n" if place == "first" else b"7," + cell + b"\n"
    got = cells(b"a,b\n1,2\n" + row + b"3,4\n", tmp_path / "t.csv")
    here, beside = (0, 1) if place == "first" else (1, 0)
    assert got.shape == (3, 2)
    assert got[[0, 2]].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert got[1, beside] == 7.0
    if value is None:
        assert np.isnan(got[1, here])
    else:
        assert got[1, here].tobytes() == np.float64(value).tobytes()


# ---- rows

ROWS = [
    b"",
    b"1",
    b"1,2",
    b"1,2,3,4",
    b",,",
    b",,,,,,,,,,",
    CANARY.encode() * 3,
    b",".join([CANARY.encode()] * 3),
    b"1,2," + b"9" * 200_000,
    b"1," * 100_000,
    b"1_0,2_0,3_0",
    b'"1","2","3"',
    b'"' + CANARY.encode() + b'\n\n\n",2,3',
    b'1,"2""",3',
    b'1,2"x",3',
    b'a"b"c,"',  # the quote is closed nowhere, but this is the last row of the file
    b"1,2\x00,3",
    b"\x00" * 50,
    b"\xff\xfe\xfa,\x80,3",
    b"1\r2,2,3",
    b"1,2,3\r",
    b"nan,inf,-inf",
    b"1e400,-1e400,1e-400",
    b"#,2,3",
    b"\x1a",
]


@pytest.fixture(params=[2**20, 40], ids=["one block", "many blocks"])
def _block_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(csv_file, "BYTES_PER_BLOCK", request.param)
    return


@pytest.mark.usefixtures("_block_size")
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("columns", [None, ["c", "a"]])
@pytest.mark.parametrize("row", ROWS, ids=[ascii(row[:16]) for row in ROWS])
def test_whatever_one_row_says_nothing_else_changes(
    tmp_path: Path,
    row: bytes,
    columns: list[str] | None,
    suffix: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    others = [f"{i},{i / 7},{-i}".encode() for i in range(30)]
    unclosed = row.endswith(b',"')
    place = 30 if unclosed else 13
    lines = [b"a,b,c", *others[:place], row, *others[place:]]
    text = b"\n".join(lines) + b"\n"
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = open_rows(_write(tmp_path / f"t{suffix}", text), columns=columns)
        got = np.concatenate(list(rows.blocks()))
    assert rows.labels == (("a", "b", "c") if columns is None else ("c", "a"))
    assert rows.n == 31
    keep = [0, 1, 2] if columns is None else [2, 0]
    expected = np.array([[i, i / 7, -i] for i in range(30)])[:, keep]
    assert np.array_equal(np.delete(got, place, axis=0), expected)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def _write(path: Path, text: bytes) -> Path:
    path.write_bytes(text.replace(b",", b"\t") if path.suffix == ".tsv" else text)
    return path


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (b"1,2", [math.nan] * 3),
        (b"1,2,3,4", [math.nan] * 3),
        (b"", [math.nan] * 3),
        (b"1,,3", [1, math.nan, 3]),
        (b'1,"x\ny",3', [1, math.nan, 3]),
        (b'1,"x,y",3', [1, math.nan, 3]),
        (b'1,"2,3', [math.nan] * 3),  # takes the rest of the file along, which is the limit that is documented
    ],
)
def test_a_row_of_the_wrong_length_is_wholly_missing(tmp_path: Path, row: bytes, expected: list[float]) -> None:
    got = cells(b"a,b,c\n" + row + b"\n4,5,6\n", tmp_path / "t.csv")
    assert np.array_equal(got[0], expected, equal_nan=True)
    assert len(got) == (1 if row.count(b'"') == 1 else 2)


def test_in_one_column_a_blank_line_is_a_missing_value(tmp_path: Path) -> None:
    got = cells(b"x\n1\n\n\r\n2\n\n", tmp_path / "t.csv")
    assert np.array_equal(got[:, 0], [1, math.nan, math.nan, 2, math.nan], equal_nan=True)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, end: bytes, last: bool, mark: bytes) -> None:
    text = mark + end.join([b"a, b", b"1,2", b"3,4"]) + (end if last else b"")
    (tmp_path / "t.csv").write_bytes(text)
    assert open_rows(tmp_path / "t.csv").labels == ("a", "b")
    assert read(tmp_path / "t.csv").tolist() == [[1.0, 2.0], [3.0, 4.0]]


@settings(max_examples=300)
@given(st.text(alphabet='a1,"\n ', max_size=40))
def test_records_are_cut_as_the_csv_module_cuts_them(text: str) -> None:
    lines = iter(text.encode().splitlines(keepends=True))
    ours = [[cell.decode() for cell in split_record(line, lines, b",")] for line in lines]
    theirs = [record or [""] for record in csv.reader(io.StringIO(text, newline=""))]
    for record in ours + theirs:  # we leave the line end to the last cell, where no number minds it
        record[-1] = record[-1].rstrip("\n")
    assert ours == theirs


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.one_of(st.floats().map(repr), st.text(alphabet='1.,"\n_ x', max_size=6)), min_size=2, max_size=4),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 60),
)
def test_what_csv_writers_write_is_read_whole_in_blocks_of_any_size(
    path: Path, table: list[list[str]], block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "BYTES_PER_BLOCK", block)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["a", "b", "c"], *table])
        got = read(path)
    expected = [[_float(cell) for cell in row] if len(row) == 3 else [math.nan] * 3 for row in table]
    assert np.array_equal(got, expected, equal_nan=True)


def test_cells_do_not_depend_on_how_other_rows_are_written() -> None:
    """A quote anywhere makes all lines of a block take another way, which must cut them alike."""
    rng = np.random.default_rng(7)
    letters = [b"a", b"\r", b" ", b",", b"\n", b"\x0b", b"\x85", b"\xff", b"\0", b"\r\n"]
    texts = [b"".join(letters[k] for k in rng.integers(0, len(letters), rng.integers(1, 14))) for _ in range(500)]
    seen = set()
    for text in [b"1,zzz\n2,b\n3,a\r", b"a\n\r", b"a\r\r", b"a\r\n\r", b"a\r\r\n", b"\r", b"\r\n", *texts]:
        for width in (1, 2, 3):
            lines = [line for line in io.BytesIO(text).readlines() if line.count(b",") == width - 1]
            if lines:
                (fast,) = csv_file.cell_blocks([b"".join(lines)], io.BytesIO(), width, b",")
                quoted = [b'"q"' + b",x" * (width - 1) + b"\n"]
                (slow,) = csv_file.cell_blocks([b"".join(quoted + lines)], io.BytesIO(), width, b",")
                assert fast == slow[width:]
                assert len(fast) == width * len(lines)
                seen.add((width, lines[-1][-1:] == b"\r", lines[-1][-1:] == b"\n"))
    assert len(seen) == 9


def test_rows_are_chosen_and_columns_too(path: Path) -> None:
    path.write_bytes(b"a,b,c\n" + b"".join(b"%d,x,%d.5\n" % (k, -k) for k in range(500)))
    chosen = np.array([0, 3, 4, 77, 498, 499])
    (table,) = (table for table, _ in csv_file.open_csv(path, ["c", "a"]).pieces())
    assert (table.n, table.labels) == (500, ("c", "a"))
    assert table.read(chosen).tolist() == [[-k - 0.5 if k else 0.5, k] for k in chosen.tolist()]
    assert table.read(slice(490, 500)).tolist() == [[-k - 0.5, k] for k in range(490, 500)]


def _float(cell: str) -> float:
    try:
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


# ---- what can raise: the file and its header


def refusal(path: Path, **arguments: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        open_rows(path, **arguments)  # type: ignore[arg-type]  # arguments of any type
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "is empty"),
        (b"\n1\n", "first line of the file is blank"),
        (b"a,b\n", "0 rows × 2 columns"),
        (b"a,b", "0 rows × 2 columns"),
        (b"a,a\n1,2\n", "'a' occurs more than once"),
        (b"a, a\n1,2\n", "'a' occurs more than once"),
        (b"\xff\xfea\x00\n", "not UTF-8"),
        (b"sep=,\na,b\n1,2\n", "hint at the delimiter"),
        (b"sep=;\na;b\n1;2\n", "hint at the delimiter"),
        (b"a;b\n1;2\n", "seems not to be cut by the delimiter"),
        (b"a\tb\n1\t2\n", "seems not to be cut by the delimiter"),
        (b"a|b\n1|2\n", "seems not to be cut by the delimiter"),
        (b"# made in May\na,b\n1,2\n", "begins with #, as comments do"),
        (b"# by Ann, Bob\na,b\n1,2\n", "begins with #, as comments do"),
        (b"1.5,2\n3,4\n", "may be somebody's row"),
        (b"name,2\n3,4\n", "may be somebody's row"),
        (b"nan,x\n3,4\n", "may be somebody's row"),
        (b"1,0\n3,4\n", "may be somebody's row"),
    ],
)
def test_the_header_can_be_refused(tmp_path: Path, text: bytes, problem: str) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    assert problem in refusal(tmp_path / "t.csv")


@pytest.mark.parametrize("header", [b'a,"b\n', b'"a,b\n', b'\xff,"b\n'])
@pytest.mark.parametrize("end", [b"", b'"\n'])
def test_an_open_quote_is_refused_alike_whatever_the_rows_are(tmp_path: Path, header: bytes, end: bytes) -> None:
    said = set()
    for row in (b"1,2\n", b"\xff,2\n", b'",2\n', b"\n"):
        (tmp_path / "t.csv").write_bytes(header + row + b"3,4\n" + end)
        said.add(refusal(tmp_path / "t.csv"))
    assert len(said) == 1


@pytest.mark.parametrize("header", ["sep,=,", "sep=a,b,c", "sep=ab,,x"])
def test_names_that_begin_like_a_hint_are_names(tmp_path: Path, header: str) -> None:
    assert cells(f"{header}\n5,6,7\n".encode(), tmp_path / "t.csv").tolist() == [[5, 6, 7]]


@pytest.mark.parametrize("header", ["0,1,2", ",0,1"])
def test_the_numbers_that_pandas_writes_as_names_are_names(tmp_path: Path, header: str) -> None:
    assert cells(f"{header}\n5,6,7\n".encode(), tmp_path / "t.csv").tolist() == [[5, 6, 7]]


def test_a_column_that_is_not_there_is_named_and_cells_are_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"a,b\n{CANARY},{CANARY}\n")
    message = refusal(tmp_path / "t.csv", columns=["zzz"])
    assert "no column 'zzz'; its columns are 'a', 'b'" in message


def test_progress_goes_to_standard_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm's own about notebooks
        assert cells(b"a\n1\n2\n", tmp_path / "t.csv", progress=True).tolist() == [[1], [2]]
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "counting rows" in shown.err
    assert "reading rows" in shown.err
