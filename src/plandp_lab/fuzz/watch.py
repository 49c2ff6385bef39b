"""One call of plandp, watched: what a caller sees of it, and whether it broke a promise on the way."""

import io
import logging
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from types import FrameType

import numpy as np

from plandp.errors import PlandpError
from plandp.terms.release import MeanRelease
from plandp_lab.fuzz.canary import leaks

SECONDS = 60.0
"""No case may compute longer than that, nor wait ten times as long on a machine that is busy with other things."""

_EXECUTES = ("pickle.find_class", "marshal.load", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")


class Broken(AssertionError):
    """A promise was broken."""


class Enough(BaseException):
    """Raised by a door that has answered enough for this case; not an Exception, as below."""


class TookTooLong(BaseException):
    """Not an Exception, so that no handler on the way takes it for a damaged file."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended, and all that its caller can see of it besides the time it took."""

    kind: str
    shown: tuple[object, ...]


def watched(call: Callable[[], object], *, seconds: float = SECONDS) -> Outcome:
    """Return the outcome of a call; one that breaks a promise about single calls raises `Broken`."""
    told, logged = io.StringIO(), _Log()
    with ExitStack() as watching:
        watching.enter_context(redirect_stdout(told))
        watching.enter_context(redirect_stderr(told))
        warned = watching.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        watching.enter_context(logged)
        watching.enter_context(np.errstate(all="raise"))
        watching.enter_context(_nothing_executed())
        watching.enter_context(_time_limit(seconds))
        kind, shown, text = _ended(call)
    beside = (told.getvalue(), *(f"{note.category.__name__}: {note.message}" for note in warned), *logged.lines)
    for line in (text, *beside):
        if leaks(line):
            raise Broken(f"a message holds a value of the data: {line!r}")
    return Outcome(kind, (*shown, *beside))


def _ended(call: Callable[[], object]) -> tuple[str, tuple[object, ...], str]:
    """Return how the call ended, what it shows, and every text that its caller could see."""
    try:
        result = call()
    except PlandpError as error:
        text = "".join(traceback.format_exception(error)) + _chain(error)
        return "refusal", (type(error).__name__, str(error)), text
    except Enough:
        return "read", (), ""
    except TookTooLong:
        raise Broken("a case took too long") from None
    except SystemExit as stopped:
        return f"exit {stopped.code}", (stopped.code,), ""
    except Broken:  # said by a door that was asked another thing
        raise
    except Exception as error:
        raise Broken(f"{type(error).__name__} came out: {error}") from error
    if isinstance(result, MeanRelease):
        return "release", *_release_shown(result)
    return type(result).__name__ if result is None else str(result), (repr(result),), repr(result)


def _release_shown(release: MeanRelease) -> tuple[tuple[object, ...], str]:
    interval = release.interval(0.9)
    types = tuple(
        (field.name, type(value), getattr(value, "dtype", None), getattr(value, "shape", None))
        for field in fields(release)
        for value in (getattr(release, field.name),)
    )
    text = f"{release!r}\n{release.receipt!r}\n{release.to_json()}\n{interval!r}"
    return (text, types), text


def _chain(error: BaseException | None) -> str:
    """Return the texts of an error and of all that it came from, those that Python would not show included."""
    texts: list[str] = []
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if current is not None and id(current) not in seen:
            seen.add(id(current))
            texts += [str(current), repr(current), *getattr(current, "__notes__", ())]
            waiting += [current.__cause__, current.__context__]
    return "\n".join(texts)


class _Log(logging.Handler):
    """Notes everything that anybody logs."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name} {record.levelname} {record.getMessage()}")

    def __enter__(self) -> "_Log":
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    ringing = True

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal ringing
        if ringing:
            ringing = False  # once: the other clock may ring while the first is answered
            raise TookTooLong

    if threading.current_thread() is not threading.main_thread():  # signals are for the main thread alone
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
    try:
        yield
    finally:
        ringing = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


_executed: list[str] = []
_watching = threading.Event()


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    # Compiled loops come out of numba's own cache, which is a pickle beside the code and no input.
    if _watching.is_set() and event in _EXECUTES and not _asked_by_numba():
        _executed.append(event)


def _asked_by_numba() -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("numba"):
            return True
        frame = frame.f_back
    return False


sys.addaudithook(_audit)


@contextmanager
def _nothing_executed() -> Iterator[None]:
    _executed.clear()
    _watching.set()
    try:
        yield
    finally:
        _watching.clear()
    if _executed:
        raise Broken(f"something was unpickled or executed: {_executed}")


def timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call took."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
