"""Values of options: bounds, and numbers for all columns, one per column, or by name."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from plandp.errors import ArgumentError

_T = TypeVar("_T")
Pair = tuple[float, float]


def asked_bounds(text: str | None, file: Path | None) -> Pair | list[Pair] | dict[str, Pair]:
    """Return the bounds of --bounds or --bounds-file, of which exactly one must be given."""
    if text is not None and file is None:
        return read_bounds(text)
    if text is None and file is not None:
        return read_bounds_file(file)
    raise ArgumentError(
        "bounds",
        "say between which values each column can lie, with --bounds 0:100, --bounds age=0:120,income=0:1e6 or "
        "--bounds-file bounds.csv, one of them; bounds are public knowledge, never read from the data",
    )


def read_bounds(text: str) -> Pair | list[Pair] | dict[str, Pair]:
    """Return what `0:100`, `0:100,0:5` or `age=0:120,income=0:1e6` says."""
    return _one_or_more("bounds", text, lambda part: _pair("bounds", part))


def read_numbers(argument: str, text: str) -> float | list[float] | dict[str, float]:
    """Return what `0`, `0,1` or `age=0,income=1` says."""
    return _one_or_more(argument, text, lambda part: _number(argument, part))


def read_bounds_file(path: Path) -> dict[str, Pair]:
    """Return the bounds in a CSV file with the columns column, low and high, by the name of the column."""
    lines = _public_lines(path)
    if not {"column", "low", "high"} <= {name.strip() for name in (lines[0] if lines else [])}:
        raise ArgumentError("bounds_file", "the first line must name the columns column,low,high")
    place = {name.strip(): position for position, name in enumerate(lines[0])}
    bounds: dict[str, Pair] = {}
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise ArgumentError("bounds_file", f"row {number} must have {len(lines[0])} cells, as the first line has")
        name = line[place["column"]].strip()
        if name in bounds:
            raise ArgumentError("bounds_file", f"the column {name!r} occurs more than once")
        low, high = (_number("bounds_file", line[place[end]]) for end in ("low", "high"))
        bounds[name] = (low, high)
    if not bounds:
        raise ArgumentError("bounds_file", "names no column; add a line such as age,0,120")
    return bounds


def _public_lines(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [line for line in csv.reader(file, strict=True) if line]
    except OSError as error:
        problem = f"{str(path)!r} cannot be read: {error.strerror}"
    except (csv.Error, UnicodeDecodeError):
        problem = f"{str(path)!r} is not a CSV file in UTF-8"
    raise ArgumentError("bounds_file", problem)


def _one_or_more(argument: str, text: str, read: Callable[[str], _T]) -> _T | list[_T] | dict[str, _T]:
    parts = [part.rpartition("=") for part in text.split(",")]
    named = [bool(equals) for _, equals, _ in parts]
    if not any(named):
        values = [read(value) for _, _, value in parts]
        return values[0] if len(values) == 1 else values
    if not all(named):
        raise ArgumentError(argument, "name every column or none, as in a=1,b=2")
    by_name: Mapping[str, _T] = {name.strip(): read(value) for name, _, value in parts}
    if len(by_name) < len(parts):
        raise ArgumentError(argument, "a column occurs more than once; name each column once")
    return dict(by_name)


def _pair(argument: str, text: str) -> Pair:
    low, colon, high = text.partition(":")
    if not colon:
        raise ArgumentError(argument, f"{text!r} is not a pair low:high, such as 0:100")
    return _number(argument, low), _number(argument, high)


def _number(argument: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    raise ArgumentError(argument, f"{text!r} is not a number")
