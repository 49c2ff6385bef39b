"""One release through a watched door: what was asked, what was answered, and all that the caller sees."""

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from plandp.noise.meter import IntegerArray, doors_made_by
from plandp.noise.watched import Asked, Script, WatchedDoor
from plandp.terms.release import MeanRelease

ARRAYS = ("estimate", "noise_std", "center", "spread", "error_scale", "missing", "unrefined", "error_std")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run:
    """A release, watched.  Holds data: never to leave the audit."""

    release: MeanRelease | None
    raised: str  # kind and place of an exception; "" where none was raised
    warned: tuple[str, ...]  # kinds of Python warnings
    doors: tuple[WatchedDoor, ...]

    @property
    def asked(self) -> tuple[Asked, ...]:
        """All queries, in order."""
        return tuple(asked for door in self.doors for asked in door.asked)

    def visible(self) -> tuple[bytes, ...]:
        """Every bit that the caller can see of the release."""
        if self.release is None:
            return ()
        arrays = [getattr(self.release, name) for name in ARRAYS]
        bits = tuple(b"" if array is None else array.tobytes() for array in arrays)
        return (
            *bits,
            repr(self.release).encode(),
            repr(self.release.receipt).encode(),
            self.release.to_json().encode(),
        )


def watched(release: Callable[[], MeanRelease], *, seed: int, script: Script | None = None) -> Run:
    """Make a release through a watched door; exceptions and warnings become part of what was seen."""
    doors: list[WatchedDoor] = []

    def make(reserved: Fraction) -> WatchedDoor:
        doors.append(WatchedDoor(reserved=reserved, seed=seed, script=script))
        return doors[-1]

    made, raised = None, ""
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="raise"), doors_made_by(make):
        warnings.simplefilter("always")
        try:
            made = release()
        except Exception as error:  # whatever it is, values must not cause it
            raised = kind_and_place(error)
    warned = tuple(warning.category.__name__ for warning in heard)
    return Run(release=made, raised=raised, warned=warned, doors=tuple(doors))


def kind_and_place(error: Exception) -> str:
    """What was raised and where; not its text."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {frame.f_globals.get('__name__')}, line {line}"


# --- scripts: what the door answers, whatever is asked

REACH = 1 << 62


def same_answers(first: Run) -> Script:
    """The answers that another run got, as in the proof: given equal answers, queries are compared."""
    answers = [asked.answer for asked in first.asked]

    def script(number: int, query: IntegerArray, noisy: IntegerArray) -> IntegerArray:
        fits = number < len(answers) and answers[number].shape == noisy.shape
        return _as(noisy, answers[number].ravel().tolist()) if fits else noisy

    return script


def _as(noisy: IntegerArray, values: list[int]) -> IntegerArray:
    """These values as the door would have answered them."""
    answer = noisy.copy()
    answer.reshape(-1)[:] = values
    return answer


def _always(value: int) -> Script:
    return lambda number, query, noisy: _as(noisy, [value] * noisy.size)


def _by_turns(number: int, query: IntegerArray, noisy: IntegerArray) -> IntegerArray:
    return _as(noisy, [REACH if number % 2 else -REACH] * noisy.size)


def _one_of_all(number: int, query: IntegerArray, noisy: IntegerArray) -> IntegerArray:
    return _as(noisy, [REACH] + [0] * (noisy.size - 1) if noisy.size else [])


def _from_least_to_most(number: int, query: IntegerArray, noisy: IntegerArray) -> IntegerArray:
    return _as(noisy, [-REACH + 2 * REACH * place // max(1, noisy.size) for place in range(noisy.size)])


def _without_noise(number: int, query: IntegerArray, noisy: IntegerArray) -> IntegerArray:
    return _as(noisy, query.ravel().tolist())


def _much_noise(number: int, query: IntegerArray, noisy: IntegerArray) -> IntegerArray:
    far = [int(a) + 6 * (int(b) - int(a)) for a, b in zip(query.ravel().tolist(), noisy.ravel().tolist(), strict=True)]
    return _as(noisy, [max(-REACH, min(REACH, value)) for value in far])


SCRIPTS: tuple[tuple[str, Script | None], ...] = (
    ("with noise", None),
    ("without noise", _without_noise),
    ("all answers 0", _always(0)),
    ("all answers 2^62", _always(REACH)),
    ("all answers -2^62", _always(-REACH)),
    ("answers ±2^62 by turns", _by_turns),
    ("one value of all", _one_of_all),
    ("answers from -2^62 to 2^62", _from_least_to_most),
    ("six times the noise", _much_noise),
)
"""What the first of two neighbours is answered; the second gets the same.  Then again with other noise, for ever."""
