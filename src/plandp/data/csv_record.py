"""One record of a CSV file, cut into its cells."""

from collections.abc import Iterator

import numpy as np

QUOTE = b'"'


def split_record(line: bytes, following: Iterator[bytes], delimiter: bytes) -> list[bytes]:
    """Return the cells of the record that begins with `line`; a quoted cell can take lines from `following`.

    A cell is quoted when its first character is a quote; it ends at the next quote that is not doubled, and what
    stands between that and the delimiter belongs to it too.  Elsewhere quotes are ordinary.  The end of the
    line belongs to no cell.  Nothing is refused.
    """
    if QUOTE not in line:
        return without_end(line).split(delimiter)
    cells: list[bytes] = []
    at = 0
    while True:
        begun = b""
        if line.startswith(QUOTE, at):
            begun, line, at = _quoted(line, at + 1, following)
        end = line.find(delimiter, at)
        if end < 0:
            return [*cells, begun + without_end(line[at:])]
        cells.append(begun + line[at:end])
        at = end + len(delimiter)


def has_plain_quotes(lines: bytes, delimiter: bytes) -> bool:
    """Whether quotes stand around whole cells and nowhere else, so that each line is a record and none is doubled."""
    if QUOTE not in lines:
        return True
    text = np.frombuffer(b"\n" + lines + b"\n", np.uint8)
    quotes, ends = np.flatnonzero(text == ord(QUOTE)), np.flatnonzero(text == ord("\n"))
    first, last = quotes[0::2], quotes[1::2]
    if len(first) != len(last):
        return False
    before, after = text[first - 1], text[last + 1]
    ending = (after == ord("\r")) & (text[np.minimum(last + 2, len(text) - 1)] == ord("\n"))
    return bool(
        ((before == ord(delimiter)) | (before == ord("\n"))).all()
        and ((after == ord(delimiter)) | (after == ord("\n")) | ending).all()
        and (np.searchsorted(ends, first) == np.searchsorted(ends, last)).all()
    )


def _quoted(line: bytes, at: int, following: Iterator[bytes]) -> tuple[bytes, bytes, int]:
    """Return the text up to the closing quote, the line that it stands in, and the place after it."""
    parts: list[bytes] = []
    while True:
        end = line.find(QUOTE, at)
        if end < 0:
            parts.append(line[at:])
            at, line = 0, next(following, b"")
            if not line:  # the file ends inside quotes
                return b"".join(parts), line, at
        elif line.startswith(QUOTE, end + 1):
            parts.append(line[at : end + 1])
            at = end + 2
        else:
            parts.append(line[at:end])
            return b"".join(parts), line, end + 1


def without_end(line: bytes) -> bytes:
    """Return a line without its end: \\n, \\r\\n, or the \\r that ends a file."""
    return line.removesuffix(b"\n").removesuffix(b"\r")
