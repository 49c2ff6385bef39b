"""Which plandp this process has: told by its source, since copies that were never installed have no version."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable

from plandp.errors import ArgumentError

_SOURCES = ".py", ".pyc"  # the latter beside the former's place: what is imported where there is no source
_COMPILED = "__pycache__"  # from a source that is there, or nothing imports it

_SHOWN = 8  # hexadecimal digits of a digest that a message has


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


def refuse_other_copy(theirs: PlandpCopy, *, of: str, argument: str) -> None:
    """Refuse workers who have another source of plandp than this process."""
    own = own_copy()
    if theirs.source != own.source:
        raise ArgumentError(argument, f"{of} have plandp {theirs}, and this process has {own}; install the same")


def _sources(folder: Traversable, place: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        if item.is_dir():
            if item.name == _COMPILED:
                continue
            yield from _sources(item, f"{place}{item.name}/")
        elif item.name.endswith(_SOURCES):
            yield place + item.name, item.read_bytes()
