"""Bounds in a file: public like the options, so that what is wrong in it is shown with its line."""

import csv
from pathlib import Path

from plandp.cli.values import Pair, read_number
from plandp.errors import ArgumentError

_COLUMNS = ("column", "low", "high")


def read_bounds_file(path: Path) -> dict[str, Pair]:
    """Return the bounds in a CSV file with the columns column, low and high, by the name of the column."""
    lines = _lines(path)
    _, head = lines[0] if lines else (0, [])
    place = {name.strip(): position for position, name in enumerate(head)}
    if not place.keys() >= set(_COLUMNS):
        raise ArgumentError("bounds_file", f"the first line must name the columns {','.join(_COLUMNS)}")
    bounds: dict[str, Pair] = {}
    for number, cells in lines[1:]:
        shown = f"line {number}, {','.join(cells)!r}"
        if len(cells) != len(head):
            raise ArgumentError("bounds_file", f"{shown}, must have {len(head)} cells, as the first line has")
        name, low, high = (cells[place[column]].strip() for column in _COLUMNS)
        if name in bounds:
            raise ArgumentError("bounds_file", f"{shown}: the column {name!r} occurs more than once; keep one line")
        bounds[name] = (
            read_number("bounds_file", low, where=f"{shown}: "),
            read_number("bounds_file", high, where=f"{shown}: "),
        )
    if not bounds:
        raise ArgumentError("bounds_file", "names no column; add a line such as age,0,120")
    return bounds


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines that are not blank, cut into cells, each with its number in the file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            return [(reader.line_num, cells) for cells in reader if cells]
    except OSError as error:
        problem = f"{str(path)!r} cannot be read: {error.strerror}"
    except (csv.Error, UnicodeDecodeError):
        problem = f"{str(path)!r} is not a CSV file in UTF-8"
    raise ArgumentError("bounds_file", problem)
