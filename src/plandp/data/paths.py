"""Which files a path, a pattern, a directory or a list of paths stands for; their order is public."""

import os
import re
from collections.abc import Sequence
from glob import has_magic
from io import IOBase
from pathlib import Path

from plandp.data.patterns import LEFT_OUT, matching_files
from plandp.errors import ArgumentError

_LONGEST_NAME = 1000
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_ON_THIS_MACHINE = "file://"

FileNames = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def find_files(names: FileNames) -> tuple[Path, ...]:
    """Return the files, sorted by name unless they are listed; nothing is opened, and at least one is returned.

    A name that is there is taken as it is; only if it is not, ~ is a home, and what looks like a pattern is one.
    """
    if not isinstance(names, str | os.PathLike):
        return tuple(_not_empty(name) for name in names)
    path = as_path(names)
    if os.path.isdir(path):  # never raises, whatever the string is
        return _in_directory(path)
    if is_pattern(path):
        found = matching_files(path)
        if not found:
            hint = ", and write [[] for a bracket" if "[" in str(path) else ""
            raise ArgumentError(
                "data", f"no file matches the pattern {shown(path)}; check the folder and the ending{hint}"
            )
        return found
    return (path,)


def is_pattern(path: Path) -> bool:
    """Whether a path is taken for a pattern: it looks like one, and there is no file of that name."""
    return not os.path.exists(path) and has_magic(str(path)) and _may_be_name(str(path))


def as_path(name: str | os.PathLike[str]) -> Path:
    """Return one name as a path; the address of something that is not on this machine is refused."""
    path = _not_empty(name)
    text = os.fspath(name)
    if _may_be_name(text) and _ADDRESS.match(text) and not os.path.exists(path):
        if text.lower().startswith(_ON_THIS_MACHINE):
            raise ArgumentError("data", f"{text!r} is an address; leave {text[: len(_ON_THIS_MACHINE)]!r} out of it")
        # as it was passed: a path would lose one of its slashes
        raise ArgumentError(
            "data",
            f"{text!r} is an address, and files are read from this machine only; copy it here first, or pass a "
            "function that returns an iterator of batches",
        )
    return path


def _not_empty(name: str | os.PathLike[str]) -> Path:
    if os.fspath(name) == "":  # a path would be made of it that is this directory
        raise ArgumentError("data", "an empty text names no file; pass the path of one, or '.' for this directory")
    text = os.fspath(name)
    if not _may_be_name(text) or os.path.exists(text):
        return Path(name)  # what cannot be a name is not looked up
    return Path(os.path.expanduser(text))  # a leading ~ is the home of somebody, as elsewhere


def refuse_open_file(data: object, *, argument: str) -> None:
    """Refuse what `open` returns, or what reads as that does: files are read more than once, as their name tells."""
    if isinstance(data, IOBase) or _reads(data):
        raise ArgumentError(
            argument, "an open file is not accepted, since files are read more than once; pass its path"
        )


def _reads(data: object) -> bool:
    try:  # temporary files and those of other packages are asked themselves: they hand on what they do not have
        return callable(getattr(data, "read", None)) and callable(getattr(data, "seek", None))
    except Exception:  # whatever an object does when it is asked
        return False


def one_suffix(paths: Sequence[Path]) -> str:
    """Return the one ending of all these files; several kinds of files are refused."""
    suffixes = sorted({path.suffix.lower() for path in paths})
    if len(suffixes) > 1:
        listed = ", ".join(suffix or "none" for suffix in suffixes[:8])
        raise ArgumentError(
            "data", f"all files must end alike, and there are several endings ({listed}); name one kind"
        )
    return suffixes[0]


def shown(path: Path) -> str:
    """Return how to name a path in a message."""
    # A string that cannot be a name may be the text of a file, passed by mistake.
    return repr(str(path)) if _may_be_name(str(path)) else "of that name"


def _may_be_name(text: str) -> bool:
    return text.isprintable() and len(text) <= _LONGEST_NAME


def _in_directory(directory: Path) -> tuple[Path, ...]:
    problem = None
    try:
        found = sorted(path for path in directory.iterdir() if not path.name.startswith(LEFT_OUT))
    except OSError as error:
        problem = f"the directory {shown(directory)} cannot be read: {os.strerror(error.errno or 0)}"
    if problem is not None:
        raise ArgumentError("data", problem)
    if not found:
        raise ArgumentError("data", f"the directory {shown(directory)} holds no files; name one that does")
    for path in found:
        if path.is_dir():
            example = str(directory / "**" / "*.parquet")
            raise ArgumentError(
                "data", f"the directory {shown(directory)} holds directories; name the files, such as {example!r}"
            )
    return tuple(found)
