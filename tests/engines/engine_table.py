"""The table that every engine reads, and what is compared of a release."""

from typing import Any

import numpy as np
import pandas

import plandp

N = 9_000  # so many that the rough steps read a sample
COLUMNS = ["a", "b", "c"]
_RNG = np.random.default_rng(11)
TABLE = _RNG.normal([3.0, -40.0, 0.0], [1.0, 15.0, 4.0], (N, 3))
TABLE[5] = [np.nan, np.inf, -np.inf]
TABLE[77] = [-0.0, 1e300, 5e-324]
FRAME = pandas.DataFrame(TABLE, columns=COLUMNS).assign(number=np.arange(N))
SHUFFLED = FRAME.iloc[_RNG.permutation(N)].reset_index(drop=True)
FINE: dict[str, Any] = {"bounds": (-500, 500), "smallest_spread": 0.25, "rho": 0.5, "testing_seed": 5}
QUICK = FINE | {"bounds": (-100, 100), "smallest_spread": 60}
"""So coarse that the centre is found in four rounds: every round is a job, and a job of Spark takes a second."""

CANARY = 48.151623


def bits(release: plandp.MeanRelease) -> tuple[bytes, ...]:
    """All numbers of a release; where they came from is on the receipt alone."""
    numbers = release.estimate, release.noise_std, release.center, release.spread, np.array(release.radius)
    return tuple(np.asarray(part).tobytes() for part in numbers)


def shown(error: BaseException) -> str:
    """Everything that a traceback would show of an error, its causes included."""
    told = [f"{error!r} {error} {getattr(error, '__notes__', '')}"]
    for cause in (error.__cause__, error.__context__):
        told += [shown(cause)] if cause is not None else []
    return " ".join(told)
