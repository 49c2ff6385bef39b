"""Line 6 for sparse rows: the clipping radius, where the noise it saves is worth the items it loses."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.mechanisms.tail_cell import NormCounts, private_rows_above, private_tail_cell
from plandp.noise.meter import MeteredNoise
from plandp.theory.item_clipping import rows_to_clip, tail_factor, tail_index
from plandp.theory.tail_search import NoisyCount, TailPosterior

FloatArray = NDArray[np.float64]

# in each round the radius is looked for by equal counts, then one more count tells how heavy the tail beyond it is
ROUNDS = ((Fraction(2, 10), 8), (Fraction(3, 10), 4), (Fraction(5, 10), 4))  # share of the budget, counts
BEYOND, BEYOND_SHARE = 1.6, Fraction(1, 5)  # how far beyond, and the share of the round's budget
TOLD = 3.0  # standard deviations of noise that all of the budget would have: fewer rows are not aimed at
USUAL_FACTOR, USUAL_INDEX = 1.3, 4.3  # of the tail, before it is seen


@dataclass(frozen=True, kw_only=True)
class ItemRadius:
    """The released radius, in lattice points, how many rows were meant to be above it, and how fast they get fewer."""

    value: float
    rows_above: float
    tail_index: float
    lost_of_rows: float  # the share of their items that rows above it are expected to lose


def private_item_radius(
    norms: NormCounts,
    noise: MeteredNoise,
    *,
    prior: FloatArray,
    start: float,
    worth: float,
    most_lost: float = math.inf,
    filled: float,
    error_norm: float,
    rho: Fraction,
    step: str,
) -> ItemRadius:
    """The radius that clips as many rows as are worth it (`worth`: theory/item_clipping.py), beginning at `start`.

    A row above the radius loses as many items per unit of norm as it is long, and at most `most_lost`; about `filled`
    rows hold any.

    Guarantee: rho-zCDP.  All counts together speak about one curve of norms; how many rows are wanted above the radius
    depends on the radius and on the tail beyond it, hence the rounds.
    """
    n, edges = int(norms.counts.sum()), norms.edges
    least = TOLD / math.sqrt(2.0 * float(rho))
    radius, factor, index = start, USUAL_FACTOR, USUAL_INDEX
    wanted = 1.0
    posterior = TailPosterior.before(edges, prior=prior, tail=wanted)
    known: tuple[NoisyCount, ...] = ()
    tails: tuple[NoisyCount, ...] = ()
    for share, counts in ROUNDS:
        for_search, for_tail = rho * share * (1 - BEYOND_SHARE), rho * share * BEYOND_SHARE
        wanted = rows_to_clip(worth, min(radius * factor, most_lost), rows=filled, least=least)
        found = private_tail_cell(
            norms,
            noise,
            prior=prior,
            tail=wanted,
            shares=(Fraction(1, counts),) * counts,
            rho=for_search,
            step=step,
            known=known,
        )
        known, posterior, radius = found.counts, found.posterior, float(edges[found.cell])
        far = min(int(np.searchsorted(edges, BEYOND * radius)), len(edges) - 2)
        beyond = private_rows_above(norms, far, noise, rho=for_tail, step=step)
        deviation = 1.0 / math.sqrt(2.0 * float(for_tail))
        tails += (NoisyCount(cell=far, count=n - beyond, noise_std=deviation),)
        told = max(beyond, 0.5 * deviation)
        index = tail_index(wanted, told, ratio=max(float(edges[far]) / radius, 1.05))
        factor = tail_factor(index, error_norm=error_norm)
    lost = posterior.after(tails, rows=n).lost_beyond()
    return ItemRadius(value=radius, rows_above=wanted, tail_index=index, lost_of_rows=lost)
