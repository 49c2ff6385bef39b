"""Patterns of files: which files match, without what others leave beside them."""

from collections.abc import Sequence
from fnmatch import fnmatch
from glob import glob
from pathlib import Path

LEFT_OUT = (".", "_")
"""How names begin of what others leave beside their files: _SUCCESS, .part-0.crc, _temporary/0/part-0."""

_ANY_FOLDERS = "**"


def matching_files(pattern: Path) -> tuple[Path, ...]:
    """Return the files that match, sorted: no directories, nor what others leave unless the pattern spells it."""
    found = sorted(set(map(Path, glob(str(pattern), recursive=True))))  # **/** finds a file in several ways
    return tuple(path for path in found if not path.is_dir() and _is_spelled(path.parts, pattern.parts))


def _is_spelled(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether these names match the parts of a pattern, and each that begins as what is left out a part that does so.

    Copies that a job has not finished, or has failed to remove, lie in such folders: their rows would count twice.
    """
    if not parts:
        return not names
    if parts[0] == _ANY_FOLDERS and _is_spelled(names, parts[1:]):
        return True
    if not names or (names[0].startswith(LEFT_OUT) and not parts[0].startswith(LEFT_OUT)):
        return False
    if parts[0] == _ANY_FOLDERS:
        return _is_spelled(names[1:], parts)
    return fnmatch(names[0], parts[0]) and _is_spelled(names[1:], parts[1:])
