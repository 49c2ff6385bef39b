"""Ctrl-C ends a run as Ctrl-C, whatever compiled code makes of it on the way."""

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from plandp.errors import MissingExtra, PlandpError

_SOON = 0.05  # seconds, in which a compiler comes back from the callback that could not be stopped


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
        with _swallowed_stops_come_again():
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


def _interrupt_main() -> None:
    """Interrupt the main thread, and wake it where the system can: it may sleep or wait for a disk."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


@contextmanager
def _swallowed_stops_come_again() -> Iterator[None]:
    """Interrupt once more where a callback of compiled code could not be: Python would only print its traceback."""
    usual = sys.unraisablehook
    again: list[threading.Timer] = []

    def note(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            usual(unraisable)
            return
        again.append(threading.Timer(_SOON, _interrupt_main))
        again[-1].daemon = True
        again[-1].start()

    sys.unraisablehook = note
    try:
        yield
    finally:
        if sys.unraisablehook is note:
            sys.unraisablehook = usual
        for timer in again:
            timer.cancel()
