"""Parts on the workers of Dask, whichever scheduler is in use: threads, processes or a cluster."""

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.own_copy import for_same_copy
from plandp.data.worker import Part, PartFunction, PartSums, fold_parts, merge_parts

MERGED_AT_ONCE = 16
"""So many sums are merged by one task, so that few of them meet anywhere."""

Made = tuple[Any, Callable[[Any], Part]]
"""A partition, of type dask.delayed.Delayed, and what makes a part of it on a worker."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DaskParts:
    """The partitions of a collection."""

    made: Sequence[Made]

    engine = "Dask"

    def fold(self, function: PartFunction) -> PartSums:
        """Return the sums over all parts: one task for each, and a tree of merges on the workers."""
        import cloudpickle  # type: ignore[import-untyped]  # which Dask needs; it ships no types
        import dask

        # Once, not with every task; as bytes, since of what a worker cannot unpickle Dask asks again for ever.
        sent = dask.delayed(cloudpickle.dumps(function), traverse=False, pure=False)
        found = [_task(partial(_fold, make))(partition, sent) for partition, make in self.made]
        merge = _task(_merge)
        while len(found) > 1:
            found = [merge(*found[first : first + MERGED_AT_ONCE]) for first in range(0, len(found), MERGED_AT_ONCE)]
        with _quiet():
            sums: PartSums = dask.compute(*found)[0]
        return sums

    def picked(self, numbers: NDArray[np.int64]) -> "DaskParts":
        """Return the rows of these numbers, held by the workers as long as they are asked for."""
        import dask

        sent = dask.delayed(numbers, traverse=False, pure=False)
        found = [_task(partial(_pick, make))(partition, sent) for partition, make in self.made]
        with _quiet():
            return DaskParts(made=[(part, _as_it_is) for part in dask.persist(*found)])


def _task(function: Callable[..., Any]) -> Any:
    """What makes tasks of a function: all of plandp's go through here, and only workers of this source run them."""
    import dask

    return dask.delayed(for_same_copy(function), pure=False)


def _fold(make: Callable[[Any], Part], partition: Any, sent: bytes) -> PartSums:
    function: PartFunction = pickle.loads(sent)
    return fold_parts(lambda each: function(make(each)), [partition])


def _merge(*found: PartSums) -> PartSums:
    return merge_parts(found)


def _pick(make: Callable[[Any], Part], partition: Any, numbers: NDArray[np.int64]) -> Part | None:
    try:
        with np.errstate(all="ignore"):
            return make(partition).picked(numbers)
    except Exception:  # Dask would log it, and its text could hold cells
        return None


def _as_it_is(part: Any) -> Part:
    assert isinstance(part, Part)  # None was not read, and becomes a failure of the fold
    return part


@contextmanager
def _quiet() -> Iterator[None]:
    """Let no size of what is sent warn: it is as large as public numbers make it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield
