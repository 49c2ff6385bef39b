"""Neighbours that get the same answers: whatever then differs between two runs did not pass the metered door."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.noise.meter import IntegerArray, MeteredNoise
from plandp_lab.fuzz.watch import Broken, Enough, Outcome, watched


def alike(one: Callable[[], object], other: Callable[[], object], *, briefly: bool = False) -> Outcome:
    """Run both calls, the second with the answers of the first; they must look the same to the last bit.

    `briefly` ends both when all rows have been read once and the first noisy answer is due: what follows takes most
    of the time and sees the rows in the same form, wherever they came from.
    """
    answers = _Answers(briefly)
    with answers.noted():
        first = watched(one)
    with answers.repeated():
        second = watched(other)
    if first != second:
        raise Broken(f"neighbours can be told apart: {_difference(first, second)}")
    return first


class _Answers:
    """What the door answered, in order, with what it was asked; its public coins too."""

    def __init__(self, briefly: bool) -> None:
        self._briefly = briefly
        self._noted: list[tuple[tuple[object, ...], NDArray[Any]]] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        def note(question: tuple[object, ...], answer: NDArray[Any]) -> NDArray[Any]:
            self._noted.append((question, answer.copy()))
            return self._given(question, answer)

        with _answered(note):
            yield

    @contextmanager
    def repeated(self) -> Iterator[None]:
        def repeat(question: tuple[object, ...], answer: NDArray[Any]) -> NDArray[Any]:
            known, before = next(waiting, (None, answer))
            if known != question:
                raise Broken(f"neighbours ask the door different things: {known} and {question}")
            return self._given(question, before.copy())

        waiting = iter(self._noted)
        with _answered(repeat):
            yield
        if next(waiting, None) is not None:
            raise Broken("of two neighbours, one asks the door less")

    def _given(self, question: tuple[object, ...], answer: NDArray[Any]) -> NDArray[Any]:
        if self._briefly and question[0] != "coins":  # public coins come before any row is read
            raise Enough
        return answer


@contextmanager
def _answered(change: Callable[[tuple[object, ...], NDArray[Any]], NDArray[Any]]) -> Iterator[None]:
    """Change what the door answers; it is paid and draws as ever."""
    release, choose, coins = MeteredNoise.release, MeteredNoise.choose, MeteredNoise.public_integers

    def changed_release(door: MeteredNoise, query: IntegerArray, **asked: Any) -> Any:
        question = ("answer", np.shape(query), str(query.dtype), *sorted(asked.items()))
        return change(question, release(door, query, **asked))

    def changed_choose(door: MeteredNoise, candidates: Any, **asked: Any) -> Any:
        question = ("choice", len(candidates), *sorted(asked.items()))
        return change(question, np.array(choose(door, candidates, **asked), dtype=object)).tolist()

    def changed_coins(door: MeteredNoise, **asked: Any) -> Any:
        return change(("coins", *sorted(asked.items())), coins(door, **asked))

    setattr(MeteredNoise, "release", changed_release)  # noqa: B010  # mypy knows no methods that change
    setattr(MeteredNoise, "choose", changed_choose)  # noqa: B010
    setattr(MeteredNoise, "public_integers", changed_coins)  # noqa: B010
    try:
        yield
    finally:
        setattr(MeteredNoise, "release", release)  # noqa: B010
        setattr(MeteredNoise, "choose", choose)  # noqa: B010
        setattr(MeteredNoise, "public_integers", coins)  # noqa: B010


def _difference(first: Outcome, second: Outcome) -> str:
    if first.kind != second.kind:
        return f"{first.kind} {first.shown!r:.2000} and {second.kind} {second.shown!r:.2000}"
    for one, other in zip(first.shown, second.shown, strict=False):
        if one != other:
            return f"{one!r:.2000} and {other!r:.2000}"
    return f"{first.shown[-1]!r:.2000} and {second.shown[-1]!r:.2000}"
