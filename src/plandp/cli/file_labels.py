"""Columns by the names that a file has for them."""

from plandp.data.files import columns_are_numbers
from plandp.data.paths import FileNames
from plandp.terms.columns import Label


def by_label(values: object, files: FileNames) -> object:
    """Return values by name as values by label of the files; others as they are."""
    return {file_label(name, files): value for name, value in values.items()} if isinstance(values, dict) else values


def file_label(name: str, files: FileNames) -> Label:
    """Return what the files call this column: those of an array have no names but their numbers."""
    text = name.strip()
    return int(text) if text.isdecimal() and columns_are_numbers(files) else text
