"""Means of other libraries, for comparison on public data only: each at a budget that is the same ρ.

They add noise for the whole box, column by column; none of them looks for centres or spreads.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from plandp.errors import MissingExtra
from plandp.terms.columns import Columns, FloatArray

Run = Callable[[int], FloatArray]
"""From a seed to an estimate."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A library's mean; `prepare` imports it, or raises MissingExtra."""

    name: str
    budget: str
    prepare: Callable[[FloatArray, Columns, Fraction], Run]


def _diffprivlib_mean(table: FloatArray, columns: Columns, rho: Fraction) -> Run:
    """Laplace noise, cut off at the bounds.

    Each of d columns is ε-DP, ε = √(2ρ/d); that is ε²/2-zCDP, so all of them are ρ-zCDP.  `tools.mean` divides the ε
    that it is given evenly among the columns.
    """
    try:
        from diffprivlib.tools import mean
    except ImportError:
        raise MissingExtra("diffprivlib", "peers", "comparing with diffprivlib") from None
    epsilon = columns.d * math.sqrt(2.0 * float(rho) / columns.d)

    def run(seed: int) -> FloatArray:
        bounds = (columns.low, columns.high)
        found = mean(table, epsilon=epsilon, bounds=bounds, axis=0, random_state=seed % 2**32)
        return np.asarray(found, dtype=np.float64)

    return run


def _opendp_mean(table: FloatArray, columns: Columns, rho: Fraction) -> Run:
    """Gaussian noise for each column, ρ/d each: zCDP of a table of known size, one row of which is replaced."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra("opendp", "peers", "comparing with OpenDP") from None
    dp.enable_features("contrib")
    then_mean: Any = dp.t.then_mean  # which has no types
    share = float(rho) / columns.d
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(table))
    replaced = 2  # in its symmetric distance: one row leaves, another comes

    def column_mean(low: float, high: float) -> Any:
        mean = (domain, dp.symmetric_distance()) >> dp.t.then_clamp((low, high)) >> then_mean()
        return dp.binary_search_chain(lambda scale: mean >> dp.m.then_gaussian(scale), d_in=replaced, d_out=share)

    pairs = list(zip(columns.low.tolist(), columns.high.tolist(), strict=True))
    of_bounds = {pair: column_mean(*pair) for pair in dict.fromkeys(pairs)}
    lists = [column.tolist() for column in table.T]

    def run(seed: int) -> FloatArray:
        # Its noise is always secure: there is no seed to give it.
        return np.array([of_bounds[pair](values) for pair, values in zip(pairs, lists, strict=True)])

    return run


PEERS = (
    Peer(
        name="diffprivlib",
        budget="each of d columns is epsilon-DP with epsilon = sqrt(2 rho / d), which together is rho-zCDP",
        prepare=_diffprivlib_mean,
    ),
    Peer(
        name="opendp",
        budget="each of d columns is (rho / d)-zCDP, which together is rho-zCDP",
        prepare=_opendp_mean,
    ),
)


def find_peer(name: object) -> Peer | None:
    """Return the library that a name stands for."""
    return next((peer for peer in PEERS if peer.name == name), None)
