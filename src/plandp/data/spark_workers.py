"""Can Spark's Python workers run this plandp?  Asked once a session, before anything is spent."""

from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakSet

from plandp.data.own_copy import PlandpCopy, own_copy, refuse_other_copy
from plandp.data.spark_parts import quiet
from plandp.errors import ArgumentError

_able: WeakSet[Any] = WeakSet()
"""Sessions whose workers were asked, and have this plandp."""


def refuse_workers(frame: Any, *, argument: str = "data") -> None:
    """Refuse a session of Spark whose Python workers lack plandp or have another source of it; no row is read."""
    if frame.isStreaming:
        raise ArgumentError(
            argument, "a streaming DataFrame has no end; write it down first, and pass what was written"
        )
    session = frame.sparkSession
    if session in _able:
        return
    theirs = _copy_of(session)
    if theirs is None:
        raise ArgumentError(
            argument,
            "Spark's Python workers cannot run plandp; install plandp[spark] where they run, and have PYSPARK_PYTHON "
            "name that Python before the session begins: os.environ['PYSPARK_PYTHON'] = sys.executable on one machine",
        )
    refuse_other_copy(theirs, who_has="Spark's Python workers have", argument=argument)
    _able.add(session)


def _copy_of(session: Any) -> PlandpCopy | None:
    """The plandp that a worker has, None if it cannot tell."""
    try:
        with quiet():
            found = session.range(0, 1, 1, 1).mapInArrow(_told, "version string, source string").collect()
    except Exception:  # whatever it is, Spark's own logs have it
        return None
    return PlandpCopy(version=str(found[0][0]), source=str(found[0][1]))


def _told(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    own = own_copy()
    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({"version": [own.version], "source": [own.source]})
