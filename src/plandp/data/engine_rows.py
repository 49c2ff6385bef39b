"""Rows that lie on the workers of an engine: they are folded there, and only sums come to this process."""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from plandp.data.own_copy import another_copy, tells_another_copy
from plandp.data.row_choice import not_numbered, refuse_indices
from plandp.data.row_numbers import are_row_numbers
from plandp.data.rows import BlockFunction, FloatBlock, Sums
from plandp.data.worker import FoldBlocks, Occurrences, PartFunction, PartSums
from plandp.errors import ArgumentError, PlandpError
from plandp.terms.columns import Label

T = TypeVar("T")

WHY = {
    "Dask": "array.sum().compute(), or frame.map_partitions(len).compute(),",
    "Spark": "frame.write.format('noop').mode('overwrite').save()",
}
"""What reads everything too and shows the engine's own error, which can hold cells."""


class Parts(Protocol):
    """The parts of a table, wherever an engine keeps them."""

    @property
    def engine(self) -> str:
        """The name of the engine, for messages."""
        ...

    def fold(self, function: PartFunction) -> PartSums:
        """Return the sums over all parts; each counts once, however often the engine tries it."""
        ...

    def picked(self, numbers: NDArray[np.int64]) -> "Parts":
        """Return the rows of these numbers, to be held by the workers."""
        ...


class EngineRows:
    """The rows of an engine's table; see `Rows` for the guarantee.

    A fold that did not see exactly n rows is refused: then a part was lost, counted twice or changed between passes.
    The first fold over all rows checks their public numbers too, since it brings them to the workers anyway.
    """

    ordered = near = False

    def __init__(
        self,
        parts: Parts,
        *,
        n: int,
        labels: tuple[Label, ...],
        numbered: bool,
        passes: int,
        numbers: NDArray[np.int64] | None = None,
        misnumbered: Callable[[], ArgumentError] = not_numbered,
    ) -> None:
        self._parts = parts
        self._numbers = numbers  # of a sample: those of its rows
        self._checks = numbered and numbers is None  # a sample was checked when it was picked
        self._misnumbered = misnumbered  # what to say where a number is not there once
        self.n, self.d, self.labels, self.numbered, self.passes = n, len(labels), labels, numbered, passes

    def fold(self, function: BlockFunction) -> Sums:
        """Return the sums of `function` over all rows; no value can raise or warn on the way."""
        self.passes += 1
        found = self._folded(FoldBlocks(function=function, numbers_below=self.n if self._checks else None))
        if not found:  # Spark brings nothing, and no error, where the driver has no memory for the sums
            raise unreadable(self._parts.engine)
        count = int(found[0][0])
        if count != self.n:
            raise ArgumentError(
                "data",
                f"{self._parts.engine} brought {count} rows, and {self.n} before: the data changed between "
                "passes, or some of it was lost, so that nothing is released; write it down or persist it first",
            )
        if not self._checks:
            return found[1:]
        if not are_row_numbers(found[1], self.n):
            raise self._misnumbered()
        self._checks = False
        return found[2:]

    def blocks(self) -> Iterator[FloatBlock]:
        """Refuse: rows stay with the workers."""
        raise ArgumentError("data", f"rows of {self._parts.engine} are not brought together")

    def sample(self, indices: NDArray[np.int64], /) -> "EngineRows":
        """Return the rows of these strictly increasing numbers, held by the workers; choosing them counts as a pass."""
        refuse_indices(indices, self.n)
        self.passes += 1
        numbers = indices if self._numbers is None else self._numbers[indices]
        parts = undisclosed(self._parts.engine, lambda: self._parts.picked(numbers))
        sample = EngineRows(
            parts,
            n=len(indices),
            labels=self.labels,
            numbered=True,
            passes=0,
            numbers=np.array(numbers),
            misnumbered=self._misnumbered,
        )
        found = sample._folded(Occurrences(numbers=numbers))
        if not found or np.any(found[0] != 1):  # an engine has no sums of no rows
            raise self._misnumbered()
        return sample

    def _folded(self, function: PartFunction) -> Sums:
        engine = self._parts.engine
        sums = undisclosed(engine, lambda: self._parts.fold(function))
        if sums is None:
            raise unreadable(engine)
        return sums


def undisclosed(engine: str, call: Callable[[], T], *, argument: str = "data") -> T:
    """Return what a call to an engine returns; what it raises may hold cells, and is not shown, not even as a cause."""
    try:
        return call()
    except PlandpError:
        raise
    except Exception as error:
        say = another_copy if tells_another_copy(error) else unreadable
    raise say(engine, argument=argument)


def unreadable(engine: str, *, argument: str = "data") -> ArgumentError:
    """Return what to say when an engine failed."""
    return ArgumentError(
        argument,
        f"{engine} lost a part of the data or could not read it, so that nothing is released; {WHY[engine]} shows why",
    )
