"""Items in a file: exact lines, and what is wrong is told with its line."""

from pathlib import Path

import pytest

from plandp.cli.items_file import read_items_file
from plandp.errors import ArgumentError

ONCE = "write each item once: the file is a list of items, not of events"


@pytest.mark.parametrize(
    ("content", "items"),
    [
        (b"home\nsearch\n", ["home", "search"]),
        (b"home\r\nsearch", ["home", "search"]),
        (b"\xef\xbb\xbfhome\n\n\r\n home\nhome \n", ["home", " home", "home "]),
        ("é\ne\u0301\na\u2028b\nc\x0bd\n".encode(), ["é", "e\u0301", "a\u2028b", "c\x0bd"]),
        (b'007\n7\n"7"\na,b\n#1\n', ["007", "7", '"7"', "a,b", "#1"]),
    ],
)
def test_lines_are_exact(tmp_path: Path, content: bytes, items: list[str]) -> None:
    path = tmp_path / "items.txt"
    path.write_bytes(content)
    assert read_items_file(path) == items


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"home\nsearch\n\nhome\n", f"line 4 is line 1 again; {ONCE}"),
        (b"\n\n", "'items.txt' names no item; write one on each line"),
        (b"", "'items.txt' names no item; write one on each line"),
        (b"\xff\xfeh", "'items.txt' is not UTF-8 text; save it as UTF-8"),
        (None, "'items.txt' cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("items.txt").write_bytes(content)
    with pytest.raises(ArgumentError) as caught:
        read_items_file(Path("items.txt"))
    assert str(caught.value) == f"items_file: {problem}"
    assert caught.value.__context__ is None
