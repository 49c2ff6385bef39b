"""Ctrl-C ends a run as Ctrl-C, whatever compiled code makes of it on the way."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from plandp.errors import MissingExtra, PlandpError


@contextmanager
def stops_stay_stops() -> Iterator[None]:
    """Let a block that Ctrl-C broke off end by KeyboardInterrupt, with the notes of what it had become.

    A compiler that is interrupted (Numba's) may raise something else instead, and so may the import of a compiled
    module.  What plandp itself says, and what a disk or pipe says, is left as it is: it may tell where a release is.
    """
    usual = signal.getsignal(signal.SIGINT)
    # Only the main thread is ever interrupted, and only it may say what happens then.
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        usual(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
        return
    except Exception as error:
        if not came or (isinstance(error, PlandpError | OSError) and not isinstance(error, MissingExtra)):
            raise
        stop = KeyboardInterrupt()
        for told in getattr(error, "__notes__", ()):
            stop.add_note(told)
    finally:
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, usual)
    raise stop from None
