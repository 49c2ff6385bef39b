"""Events in CSV and TSV files: cells are exact texts, and no record can raise."""

from collections import Counter
from pathlib import Path

import pytest
from event_tables import CONTAINERS, EVENTS, ITEMS, TIME, event_rows

pytestmark = pytest.mark.usefixtures("own_folder")


def test_csv_cells_are_exact_texts() -> None:
    lines = [
        "user,n,page",
        "7,1,x",
        " 7,1,x",
        "007,1, x",
        '"7",1,"x"',
        "7.0,1,7",
        '"a""b",2,"x\r\ny"',
        "NA,1,nan",
        "7,1,x\r",
    ]
    Path("events.csv").write_bytes("\n".join([*lines, "ж,1,x", ""]).encode())
    found = event_rows("events.csv", items=["x", 7, " x", "x\r\ny", "nan"], people=10, measure="count")
    assert found == Counter(
        {
            frozenset({(0, 3.0)}): 1,  # 7
            frozenset({(0, 1.0)}): 2,  # " 7" and ж
            frozenset({(2, 1.0)}): 1,  # 007
            frozenset({(1, 1.0)}): 1,  # 7.0
            frozenset({(3, 1.0)}): 1,  # a"b
            frozenset({(4, 1.0)}): 1,  # NA is a name like another
            frozenset(): 3,
        }
    )


def test_strange_csv_records_are_dropped() -> None:
    text = b"user,page\nx,a\n\nx\n,a\nx,\nx,a,b\n\xff\xfe,a\nx,\xff\n\xef\xbb\xbfx,a\nx,a"
    Path("events.csv").write_bytes(text)
    assert event_rows("events.csv", items=["a"], people=4, measure="count") == Counter(
        {frozenset({(0, 2.0)}): 1, frozenset({(0, 1.0)}): 2, frozenset(): 1}
    )


def test_the_last_cell_of_a_csv_file_is_exact_too() -> None:
    for end in ("", "\n", "\r\n"):
        Path("events.csv").write_text(f'user,page\nx,"a\n"{end}', newline="")
        assert event_rows("events.csv", items=["a\n"], people=1) == Counter({frozenset({(0, 1.0)}): 1})
        Path("events.csv").write_text(f"user,page\nx,a{end}", newline="")
        assert event_rows("events.csv", items=["a"], people=1) == Counter({frozenset({(0, 1.0)}): 1})


def test_csv_values_are_decimal_numbers() -> None:
    Path("events.tsv").write_text("user\tpage\ttime\nx\ta\t 1.5\nx\ta\ttrue\nx\ta\t\nx\ta\t1_0\nx\ta\t2e0\n")
    assert event_rows("events.tsv", items=["a"], people=1, measure="time") == Counter({frozenset({(0, 3.5)}): 1})


def test_csv_files_longer_than_a_block_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plandp.data.csv_file.BYTES_PER_BLOCK", 16)
    put = CONTAINERS["csv"]
    assert event_rows(put(EVENTS), items=ITEMS, people=7, measure="time") == TIME
