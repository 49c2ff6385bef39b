"""Whether what a caller handed over is as it was."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from plandp_lab.fuzz.watch import Broken


@contextmanager
def untouched(*handed_over: object) -> Iterator[None]:
    """Raise `Broken` if any of these objects changed meanwhile; objects that cannot be written down are let go."""
    is_as_it_was = [_remembered(thing) for thing in handed_over]
    yield
    for thing, same in zip(handed_over, is_as_it_was, strict=True):
        if not same():
            raise Broken(f"a {type(thing).__name__} of the caller was changed")


def _remembered(thing: Any) -> Callable[[], bool]:
    if type(thing).__module__.startswith("pandas") and hasattr(thing, "equals"):
        copy = thing.copy(deep=True)  # pickles of frames change when pandas looks something up for the first time
        return lambda: bool(thing.equals(copy))
    before = _written(thing)
    return lambda: before is None or _written(thing) == before


def _written(thing: object) -> bytes | None:
    try:
        return pickle.dumps(thing)
    except Exception:  # functions, modules and the like
        return None
