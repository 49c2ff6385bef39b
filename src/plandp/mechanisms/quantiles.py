"""PrivQuantile of the paper (lines 341–371): one quantile of every column.  Proof: docs/proofs/quantiles.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError
from plandp.kernels.compiler import compiled
from plandp.kernels.rank_distances import write_distances
from plandp.mechanisms.ranked import Ranked
from plandp.noise.exponential_choice import Candidates
from plandp.noise.meter import MeteredNoise
from plandp.theory.rank_search import Search, rank_error

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Quantile(Protocol):
    """A way to find quantiles: any of them makes Algorithm 1 private (paper, line 350)."""

    def __call__(self, ranked: Ranked, share: float, noise: MeteredNoise, *, rho: Fraction, step: str) -> FloatArray:
        """The quantile `share` (0 … 1) of every column, as a value of its lattice: rho-zCDP for replacing one row."""
        ...

    def rank_error(self, *, cells: float, columns: int, rho: float, failure: float, copies: int = 1) -> float:
        """With probability 1 - failure no column's answer is further from the wanted rank than this."""
        ...


@dataclass(frozen=True, kw_only=True)
class BinarySearch:
    """Halve the lattice T = log2(cells) times, each time by one noisy count per column (paper, lines 354–371).

    Guarantee: rho-zCDP for replacing one row.  All columns' doubled counts move by at most 2·copies each, so by
    √(4·d)·copies in ℓ2; each of the T rounds is paid for with rho/T.
    """

    answer: Literal["midpoint", "upper end"] = "midpoint"

    def __post_init__(self) -> None:
        if self.answer not in ("midpoint", "upper end"):
            raise ArgumentError("answer", "must be 'midpoint' or 'upper end'")

    def __call__(self, ranked: Ranked, share: float, noise: MeteredNoise, *, rho: Fraction, step: str) -> FloatArray:
        """The quantile `share` of every column: midpoint or upper end of the cell that the search ends in."""
        wanted = 2.0 * _read_share(share) * ranked.count
        lattice = ranked.lattice
        rounds = halvings(float(lattice.cells.max()))
        squared_sensitivity = 4 * len(lattice.cells) * ranked.copies**2
        begin, end = np.zeros(len(lattice.cells)), lattice.cells.copy()
        for _ in range(rounds):
            middle = np.floor((begin + end) / 2.0)
            query = ranked.twice_below(middle)
            noisy = noise.release(query, squared_sensitivity=squared_sensitivity, rho=rho / rounds, step=step)
            further = noisy.astype(np.float64) < wanted
            open_still = end - begin > 1.0  # columns of fewer cells are done earlier
            begin = np.where(further & open_still, middle, begin)
            end = np.where(~further & open_still, middle, end)
        return lattice.point(begin + (0.5 if self.answer == "midpoint" else 1.0))

    def rank_error(self, *, cells: float, columns: int, rho: float, failure: float, copies: int = 1) -> float:
        """Lemma 2.7 with the normal quantile where the tail bound that is printed does not hold (line 366)."""
        return rank_error(cells=cells, columns=columns, rho=rho, failure=failure, copies=copies)


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism:
    """Choose a cell of every column with probability falling by its distance from the wanted rank (paper, line 348).

    Guarantee: rho-zCDP for replacing one row.  A cell's doubled distance moves by at most 2·copies.
    """

    def __call__(self, ranked: Ranked, share: float, noise: MeteredNoise, *, rho: Fraction, step: str) -> FloatArray:
        """The quantile `share` of every column: the midpoint of the cell that was chosen."""
        wanted = round(2 * _read_share(share) * ranked.count)
        distances = RankDistances(ranked=ranked, wanted=wanted)
        chosen = noise.choose(distances, sensitivity=2 * ranked.copies, rho=rho, step=step)
        return ranked.lattice.point(np.array(chosen, np.float64) + 0.5)

    def rank_error(self, *, cells: float, columns: int, rho: float, failure: float, copies: int = 1) -> float:
        """√(d/(2ρ))·ln(d·cells/β)·copies: a union over all cells; for columns without missing values."""
        search: Search = "exponential mechanism"
        return rank_error(cells=cells, columns=columns, rho=rho, failure=failure, search=search, copies=copies)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankDistances:
    """The cells of every column with their distance from a doubled rank.  Holds data, never to leave the library.

    A cell is as far off as `wanted` is from the ranks from its lower to its upper end, [2·#{key < cell} + #{missing},
    2·#{key ≤ cell} + #{missing}]: a value that many share is right for all ranks that it spans.
    """

    ranked: Ranked
    wanted: int

    def __len__(self) -> int:
        return len(self.ranked.lattice.cells)

    def __iter__(self) -> Iterator[Candidates]:
        for keys, cells in zip(self.ranked.column_keys(), self.ranked.lattice.cells, strict=True):
            yield rank_distances(keys, int(cells), self.wanted)


def rank_distances(keys: IntArray, cells: int, wanted: int) -> Candidates:
    """One column's cells: those between the sorted keys, and those of the keys, by turns.

    There are 2·len(keys) + 1 intervals whatever the keys are; of equal keys only the first has a cell.
    """
    n = len(keys)
    missing = n - int(np.searchsorted(keys, cells))
    penalties, widths = np.empty(2 * n + 1, np.int64), np.empty(2 * n + 1, np.int64)
    (compiled(write_distances) or _write_distances)(keys, cells, missing, wanted, penalties, widths)
    return Candidates(penalties=penalties, widths=widths)


def _write_distances(
    keys: IntArray, cells: int, missing: int, wanted: int, penalties: IntArray, widths: IntArray
) -> None:
    """What the compiled loop does, in NumPy."""
    n = len(keys)
    before = np.concatenate([[-1], keys])
    after = np.concatenate([keys, [cells]])
    number = np.arange(n + 1, dtype=np.int64)
    first = (before[:-1] < keys) & (keys < cells)
    # how many keys there are up to and including those that equal this one, where it is the first of them
    up_to = np.minimum.accumulate(np.where(before < after, number, n)[::-1])[::-1][1:]
    penalties[0::2] = np.abs(2 * np.minimum(number, n - missing) + missing - wanted)
    widths[0::2] = np.maximum(after - before - 1, 0)
    below, upto = 2 * number[:-1] + missing, 2 * np.minimum(up_to, n - missing) + missing
    penalties[1::2] = np.maximum(np.maximum(below - wanted, wanted - upto), 0)
    widths[1::2] = first


def halvings(cells: float) -> int:
    """How often a lattice has to be halved until one cell is left; at least once."""
    return max(1, ceil(log2(cells)))


def _read_share(share: float) -> float:
    if not 0.0 <= share <= 1.0:
        raise ArgumentError("share", "must be from 0 to 1")
    return float(share)
