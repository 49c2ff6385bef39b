"""Items in a file: what is wrong in it is told by its line, and no line is shown: the file may be another one."""

from pathlib import Path

from plandp.errors import ArgumentError


def read_items_file(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, each exactly as it is but for its end; empty ones do not count."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        problem = f"{str(path)!r} cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        problem = f"{str(path)!r} is not UTF-8 text; save it as UTF-8"
    else:
        return _distinct(path, [line.removesuffix("\r") for line in lines])
    raise ArgumentError("items_file", problem)


def _distinct(path: Path, lines: list[str]) -> list[str]:
    first: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if line in first:
            raise ArgumentError(
                "items_file",
                f"line {number} is line {first[line]} again; write each item once: the file is a list of items, not of "
                "events",
            )
        if line:
            first[line] = number
    if not first:
        raise ArgumentError("items_file", f"{str(path)!r} names no item; write one on each line")
    return list(first)
