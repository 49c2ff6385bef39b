"""Files that a command writes: made sure of before anything is spent, and there whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plandp.errors import ArgumentError


@contextmanager
def reserved(path: Path, argument: str) -> Iterator[Callable[[bytes], None]]:
    """Open a file beside `path` now and hand over a function that fills it and gives it its name.

    Guarantee: what stands at `path` is the old file or the whole new one; the file beside it never stays.
    """
    if path.exists() and not path.is_file():
        raise ArgumentError(argument, f"{str(path)!r} is not a file; name one")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    problem = None
    try:
        file = beside.open("xb")
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        raise ArgumentError(argument, f"{str(path)!r} cannot be written: {problem}")

    def write(content: bytes) -> None:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        os.replace(beside, path)

    try:
        yield write
    finally:
        with suppress(OSError):  # a full disk is told by `write`
            file.close()
        beside.unlink(missing_ok=True)
