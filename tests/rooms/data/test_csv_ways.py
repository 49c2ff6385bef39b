"""CSV files are cut and read by a compiled loop or by Python: nobody can tell which."""

import io
from pathlib import Path

import numpy as np
import pytest

from plandp.data import csv_file
from plandp.data.csv_columns import CsvColumns
from plandp.data.csv_file import open_csv
from plandp.data.csv_record import has_plain_quotes, split_record, without_end
from plandp.data.csv_text import CsvText
from plandp.kernels.compiler import compiled
from plandp.kernels.decimal_cells import LONGEST, read_cells


def assert_alike(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    found = []
    for loop in (compiled(read_cells), None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_file, "compiled", lambda _, loop=loop: loop)
            file = open_csv(path, None)
            read = [table.read(slice(0, table.n)).tobytes() for table, _ in file.pieces()]
            found.append((b"".join(read), sum(count for count, _ in file.counts())))
    assert found[0] == found[1]


def test_both_ways_cut_and_read_cells_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    letters = [
        b"7",
        b"0",
        b"-",
        b".",
        b"e",
        b"\r",
        b" ",
        b",",
        b",",
        b"\n",
        b"\n",
        b"\x0b",
        b"_",
        b"\xff",
        b"inf",
        b"INF",
        b"nan",
        b"N",
        b"@",
        b"{",
        b"\0",
        b"\r\n",
    ]
    for _ in range(1_000):
        text = b"a,b,c\n" + b"".join(letters[k] for k in rng.integers(0, len(letters), rng.integers(1, 40)))
        assert_alike(text, tmp_path / "t.csv")


def test_both_ways_cut_and_read_quoted_cells_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    parts = [b'"7"', b'"-7.5"', b'"7,7"', b'" 7"', b'""', b'"x"', b'"7"\r\n', b"7", b",", b",", b",", b"\n", b"\n"]
    rare = [b'"', b'"7"x', b'"7""7"', b'"7\n7"', b'7"', b"\r", b'"7"\r', b'"7"\rx', b" "]
    plain = dict.fromkeys((False, True), 0)
    for turn in range(3_000):
        letters = parts if turn % 2 else parts + rare
        body = b"".join(letters[k] for k in rng.integers(0, len(letters), rng.integers(1, 16)))
        plain[has_plain_quotes(body, b",")] += b'"' in body
        assert_alike(b"a,b,c\n" + body, tmp_path / "t.csv")
    assert min(plain.values()) > 300


def test_lines_with_plain_quotes_are_records() -> None:
    rng = np.random.default_rng(10)
    letters = [b'"', b'"', b'"', b",", b"\n", b"\r", b"7", b"x"]
    seen = 0
    for _ in range(30_000):
        body = b"".join(letters[k] for k in rng.integers(0, len(letters), rng.integers(1, 12)))
        if b'"' not in body or not has_plain_quotes(body, b","):
            continue
        seen += 1
        lines = io.BytesIO(body).readlines()
        records = [split_record(line, iter([b"never read"]), b",") for line in lines]
        assert [b",".join(cell for cell in record) for record in records] == [
            without_end(line).replace(b'"', b"") for line in lines
        ]
    assert seen > 1_000


def test_very_long_cells_are_left_to_python() -> None:
    """Of more than 10**9 digits it makes no number, and nobody else should: bits would depend on the way."""
    left = []

    def number(cell: bytes) -> float:
        left.append(len(cell))
        return 7.0

    loop = compiled(read_cells)
    assert loop is not None
    lengths = [2, LONGEST, LONGEST + 1, 10 * LONGEST]
    text = b"\n".join(b"0." + b"0" * (length - 2) for length in lengths)
    columns = CsvColumns(labels=("x",), positions=(0,), width=1)
    table = CsvText(text=text, delimiter=b",", columns=columns, loop=loop, number=number)
    assert table.read(slice(0, 4)).tolist() == [[0.0], [0.0], [7.0], [7.0]]
    assert sorted(left) == lengths[2:]


@pytest.mark.parametrize("body", [b"", b'"1\n2"\n', b"1\n" * 9, b"1\n" * 2**20])
def test_what_is_compiled_does_not_follow_from_cells(
    body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, shapes = compiled(read_cells), []
    assert loop is not None

    def told(*arguments: object) -> None:
        shapes.append(arguments[7].shape)  # type: ignore[attr-defined]
        loop(*arguments)

    monkeypatch.setattr(csv_file, "compiled", lambda _: told)
    (tmp_path / "t.csv").write_bytes(b"a\n" + body)
    for _ in open_csv(tmp_path / "t.csv", None).pieces():
        pass
    assert shapes == [(0, 1)]
