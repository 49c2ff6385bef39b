"""Can Spark's Python workers run this plandp?  Asked once a session, before anything is spent."""

from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from weakref import WeakSet

from plandp.data.spark_parts import quiet
from plandp.errors import ArgumentError

_able: WeakSet[Any] = WeakSet()
"""Sessions whose workers were asked."""


def refuse_workers(frame: Any, *, argument: str = "data") -> None:
    """Refuse a session of Spark whose Python workers lack plandp or have another version; no row is read."""
    session = frame.sparkSession
    if session in _able:
        return
    theirs = _version_of(session)
    if theirs is None:
        raise ArgumentError(
            argument,
            "Spark's Python workers cannot run plandp; install plandp[spark] where they run, and have PYSPARK_PYTHON "
            "name that Python before the session begins: os.environ['PYSPARK_PYTHON'] = sys.executable on one machine",
        )
    if theirs != _own_version():
        raise ArgumentError(
            argument,
            f"Spark's Python workers have plandp {theirs or 'of no version'}, and this process has "
            f"{_own_version() or 'one of no version'}; install the same",
        )
    _able.add(session)


def _version_of(session: Any) -> str | None:
    """The version of plandp that a worker has, None if it cannot tell."""
    try:
        with quiet():
            found = session.range(0, 1, 1, 1).mapInArrow(_told, "version string").collect()
    except Exception:  # whatever it is, Spark's own logs have it
        return None
    return str(found[0][0])


def _told(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    for _ in batches:
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([_own_version()])], names=["version"])


def _own_version() -> str:
    try:
        return version("plandp")
    except PackageNotFoundError:  # a copy of the source that was never installed
        return ""
