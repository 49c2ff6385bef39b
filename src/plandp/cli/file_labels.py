"""Columns by the names that a file has for them."""

from pathlib import Path

from plandp.data.files import NUMBERED
from plandp.terms.columns import Label


def by_label(values: object, path: Path) -> object:
    """Return values by name as values by label of the file; others as they are."""
    return {file_label(name, path): value for name, value in values.items()} if isinstance(values, dict) else values


def file_label(name: str, path: Path) -> Label:
    """Return what the file calls this column: those of an array have no names but their numbers."""
    text = name.strip()
    return int(text) if path.suffix.lower() in NUMBERED and text.isdecimal() else text
