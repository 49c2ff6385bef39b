"""A few noisy counts by norm: which edge leaves about k rows above it.  Proof: docs/proofs/tail_cell.md."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.mechanisms.norm_cells import CellTotals
from plandp.noise.meter import MeteredNoise
from plandp.theory.tail_search import TailPosterior

FloatArray = NDArray[np.float64]


# each count gets this share of the budget: the first only have to find the neighbourhood
FINER_AND_FINER = tuple(Fraction(share, 50) for share in (1, 1, 2, 3, 5, 8, 12, 18))
FAR_THEN_FINER = tuple(Fraction(share, 60) for share in (1, 1, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16))


def private_tail_cell(
    totals: CellTotals,
    noise: MeteredNoise,
    *,
    prior: FloatArray,
    tail: FloatArray,
    shares: tuple[Fraction, ...],
    rho: Fraction,
    step: str,
    caution: float = 0.5,
) -> int:
    """The cell whose upper edge about `tail[cell]` rows exceed, found by adaptive noisy counts.

    Of what the counts leave open, the answer is the quantile `caution`: above .5 it is rather too large.

    Guarantee: rho-zCDP for replacing one row: each count of rows up to an edge moves by at most 1, and the
    counts are paid for with `shares` of rho that add up to 1.
    """
    rows = int(totals.counts.sum())
    up_to_edge = np.cumsum(totals.counts)
    posterior = TailPosterior.before(totals.cells.edges, prior=prior, tail=tail)
    for share in shares:
        noise_std = float(np.sqrt(float(1 / (2 * rho * share))))
        cell = posterior.next_cell(noise_std)
        noisy = noise.release(up_to_edge[cell : cell + 1], squared_sensitivity=1, rho=rho * share, step=step)
        posterior = posterior.updated(cell, float(noisy[0]), rows=rows, noise_std=noise_std)
    return posterior.quantile_cell(caution)
