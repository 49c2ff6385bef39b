"""Which plandp this process has: told by its source, since copies that were never installed have no version."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from time import time_ns
from typing import Any, TypeVar

from plandp.errors import ArgumentError

T = TypeVar("T")

_SOURCES = ".py", ".pyc"  # the latter beside the former's place: what is imported where there is no source
_COMPILED = "__pycache__"  # from a source that is there, or nothing imports it

_SHOWN = 8  # hexadecimal digits of a digest that a message has

_ANOTHER = "this worker has another source of plandp than the process that sent the work"


@dataclass(frozen=True, kw_only=True)
class PlandpCopy:
    """One copy of the package, wherever it lies: installed, as source, or in a zip as Spark ships packages."""

    version: str  # empty where none is known
    source: str

    def __str__(self) -> str:
        """Return how to name it in a message."""
        return f"{self.version or 'of no version'} (source {self.source[:_SHOWN]})"


@cache
def own_copy() -> PlandpCopy:
    """Return the copy that runs here; those of the same source have the same digest, however they came to be there."""
    try:
        known = version("plandp")
    except PackageNotFoundError:
        known = ""
    digest = sha256()
    for name, content in sorted(_sources(files("plandp"), "")):
        digest.update(sha256(name.encode()).digest() + sha256(content).digest())
    return PlandpCopy(version=known, source=digest.hexdigest())


def refuse_other_copy(theirs: PlandpCopy, *, who_has: str, argument: str) -> None:
    """Refuse workers who have another source of plandp than this process."""
    own = own_copy()
    if theirs.source != own.source:
        raise ArgumentError(argument, f"{who_has} plandp {theirs}, and this process has {own}; install the same")


def for_same_copy(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function to be sent to workers: each of them runs it only if its source of plandp is the one here."""
    return partial(run_if_same, own_copy(), own_mark(), function)


def run_if_same(sender: PlandpCopy, mark: str, function: Callable[..., T], /, *arguments: Any) -> T:
    """Run a function that was sent here, by a process of the same source; an error has the sender's mark."""
    # Copies that are too old to have this function cannot unpickle what was sent, and run nothing of it either.
    own = own_copy()
    if own.source != sender.source:
        raise RuntimeError(f"{_marked(mark)}: {own}, and not {sender}")
    return function(*arguments)


@cache
def own_mark() -> str:
    """Return what only this process's errors have: their text alone could be that of a cell, in an engine's error."""
    return f"{time_ns():x}"


def tells_another_copy(error: Exception) -> bool:
    """Whether this came from a worker of another source; engines pass on its text, whatever they make of its type."""
    try:
        return _marked(own_mark()) in str(error)
    except Exception:  # an error that cannot be shown
        return False


def another_copy(engine: str, *, argument: str) -> ArgumentError:
    """Return what to say of a worker of another source: nothing that was read from the engine's error."""
    return ArgumentError(
        argument,
        f"a worker of {engine} has another source of plandp than this process, which has {own_copy()}, so that nothing "
        "is released; install the same on all workers",
    )


def _marked(mark: str) -> str:
    return f"{_ANOTHER} ({mark})"


def _sources(folder: Traversable, place: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        if item.is_dir():
            if item.name == _COMPILED:
                continue
            yield from _sources(item, f"{place}{item.name}/")
        elif item.name.endswith(_SOURCES):
            yield place + item.name, item.read_bytes()
