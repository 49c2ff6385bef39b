"""A few noisy counts by norm: which edge leaves about k rows above it.  Proof: docs/proofs/tail_cell.md."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.noise.meter import MeteredNoise
from plandp.theory.tail_search import NoisyCount, TailPosterior

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NormCounts:
    """How many rows have a norm in each cell.  Not private, never to leave the library."""

    edges: FloatArray  # upper norm of each cell; the last cell also holds all longer rows
    counts: NDArray[np.int64]


# each count gets this share of the budget: the first only have to find the neighbourhood
FINER_AND_FINER = tuple(Fraction(share, 20) for share in (1, 1, 2, 3, 5, 8))
ALREADY_NEAR = (Fraction(2, 5), Fraction(3, 5))


@dataclass(frozen=True, kw_only=True)
class TailCell:
    """The cell that was found, all released counts about it, and what these tell of where it lies."""

    cell: int
    counts: tuple[NoisyCount, ...]
    posterior: TailPosterior


def private_tail_cell(
    norms: NormCounts,
    noise: MeteredNoise,
    *,
    prior: FloatArray,
    tail: float,
    shares: tuple[Fraction, ...],
    rho: Fraction,
    step: str,
    caution: float = 0.5,
    known: tuple[NoisyCount, ...] = (),
) -> TailCell:
    """The cell whose upper edge about `tail` rows exceed, found by adaptive noisy counts.

    Of what the counts leave open, the answer is the quantile `caution`: above .5 it is rather too large.  Counts
    that were released before for the same norms are `known` and cost nothing again.

    Guarantee: rho-zCDP for replacing one row: each count of rows up to an edge moves by at most 1, and the
    counts are paid for with `shares` of rho that add up to 1.
    """
    rows = int(norms.counts.sum())
    up_to_edge = np.cumsum(norms.counts)
    posterior = TailPosterior.before(norms.edges, prior=prior, tail=tail).after(known, rows=rows)
    counts = list(known)
    for share in shares:
        part = rho * share
        noise_std = math.sqrt(part.denominator / (2 * part.numerator))
        cell = posterior.next_cell(noise_std)
        noisy = noise.release(up_to_edge[cell : cell + 1], squared_sensitivity=1, rho=part, step=step)
        counts.append(NoisyCount(cell=cell, count=float(noisy[0]), noise_std=noise_std))
        posterior = posterior.updated(counts[-1], rows=rows)
    return TailCell(cell=posterior.quantile_cell(caution), counts=tuple(counts), posterior=posterior)


def private_rows_above(norms: NormCounts, cell: int, noise: MeteredNoise, *, rho: Fraction, step: str) -> float:
    """The number of rows above the upper edge of `cell`; noise may take it below 0 or above all of them.

    Guarantee: rho-zCDP for replacing one row, which moves the count of rows by at most 1.
    """
    noisy = noise.release(norms.counts[cell + 1 :].sum(keepdims=True), squared_sensitivity=1, rho=rho, step=step)
    return float(noisy[0])
