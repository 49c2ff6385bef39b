"""Can Dask's workers run this plandp?  Asked before anything is spent."""

import operator
from pydoc import locate
from typing import Any

from plandp.data.own_copy import PlandpCopy, own_copy, refuse_other_copy
from plandp.errors import ArgumentError

ASKED = "plandp.data.own_copy.own_copy"
"""Who tells a worker's copy, by name: of a function that workers cannot import Dask's scheduler never hears again."""


def refuse_workers() -> None:
    """Refuse workers of Dask that lack plandp or have another source of it; no row is read.

    What a row adds would be computed by their source, of which this one's proofs say nothing.  All workers of a
    cluster are asked, past its queue: a task that a worker cannot unpickle has it leave the cluster.
    """
    answers = _of_cluster() or {"": _of_a_task()}
    for address, theirs in answers.items():
        who = f"a worker of Dask at {address}" if address else "a worker of Dask"
        if not isinstance(theirs, PlandpCopy):
            raise ArgumentError("data", f"{who} cannot run this plandp; install plandp[dask] where Dask's workers run")
        refuse_other_copy(theirs, who_has=f"{who} has", argument="data")


def _of_cluster() -> dict[str, Any]:
    """What each worker of the cluster in use answers, or why it does not; nothing without a cluster or workers."""
    from dask.base import get_scheduler

    try:
        client: Any = getattr(get_scheduler(), "__self__", None)
        if not hasattr(client, "run"):
            return {}
        answers = client.run(own_copy, on_error="return")
        here = client.nthreads()
    except Exception:  # no such scheduler, or it is gone: a task will find out, as it does without a cluster
        return {}
    # Those who died while they were asked run nothing.
    return {address: told for address, told in answers.items() if address in here or not isinstance(told, OSError)}


def _of_a_task() -> Any:
    """What one worker answers, of those that come when there is work."""
    import dask

    found: Any = dask.delayed(locate, pure=False)(ASKED)
    try:
        return dask.delayed(operator.call, pure=False)(found).compute()
    except Exception:  # whatever it is, Dask's own logs have it
        return None
