"""Can Dask's workers run this plandp?  Asked before anything is spent."""

import operator
from pydoc import locate
from typing import Any

from plandp.data.own_copy import PlandpCopy, refuse_other_copy
from plandp.errors import ArgumentError

ASKED = "plandp.data.own_copy.own_copy"
"""Who tells a worker's copy, by name: of a function that workers cannot import Dask's scheduler never hears again."""


def refuse_workers() -> None:
    """Refuse workers of Dask that lack plandp or have another source of it; no row is read, and one of them is asked.

    What a row adds would be computed by their source, of which this one's proofs say nothing.
    """
    import dask

    found: Any = dask.delayed(locate, pure=False)(ASKED)
    try:
        theirs = dask.delayed(operator.call, pure=False)(found).compute()
    except Exception:  # whatever it is, Dask's own logs have it
        theirs = None
    if not isinstance(theirs, PlandpCopy):
        raise ArgumentError("data", "Dask has no workers that can run this plandp; install plandp[dask] where they run")
    refuse_other_copy(theirs, of="Dask's workers", argument="data")
