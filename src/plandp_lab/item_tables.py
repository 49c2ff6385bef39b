"""Rows that hold few items, to measure accuracy and time on: synthetic ones, and files of real ones.  Not private."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import NDArray

from plandp.errors import ArgumentError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDS = 12  # of drawing again what a row has already; what is then still short stays short


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemTable:
    """Sparse rows, and the means that an estimate is measured against."""

    rows: sp.csr_array  # float64
    mean: FloatArray
    high: float = 1.0  # public upper bound
    binary: bool = True

    @classmethod
    def of(cls, rows: sp.csr_array) -> "ItemTable":
        """Rows of items that are there or not, measured against their own mean."""
        return cls(rows=rows, mean=empirical_mean(rows))


@dataclass(frozen=True, kw_only=True)
class Baskets:
    """Zipf's popularities, and rows as long as a Pareto tail makes them; no row holds an item twice."""

    n: int
    d: int
    entries: int
    least: int  # items of a row
    longest: int
    popularity: float  # item i is drawn with a chance that goes as i^-popularity
    tail: float  # of the lengths
    counted: float | None = None  # upper bound of geometric counts; None for sets

    def draw(self, rng: Generator) -> ItemTable:
        """Draw a table, to be measured against its own mean."""
        rows = _sets(rng, self.d, self._lengths(rng), self.popularity)
        if self.counted is None:
            return ItemTable.of(rows)
        rows.data = np.minimum(rng.geometric(0.5, rows.nnz).astype(np.float64), self.counted)
        return replace(ItemTable.of(rows), high=self.counted, binary=False)

    def _lengths(self, rng: Generator) -> IntArray:
        more = rng.pareto(self.tail, self.n)
        for _ in range(ROUNDS):  # until what the longest may not hold is with the others
            more *= (self.entries - self.least * self.n) / more.sum()
            more = np.minimum(more, self.longest - self.least)
        return self.least + np.floor(more + rng.random(self.n)).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class TwoPopularities:
    """The paper's Binary: a part of the columns is one with chance .5, the rest with .01; measured against that."""

    n: int
    d: int
    popular: float  # part of the columns

    def draw(self, rng: Generator) -> ItemTable:
        """Draw a table, to be measured against the chances it was drawn with."""
        chance = np.where(np.arange(self.d) < self.popular * self.d, 0.5, 0.01)
        rows = sp.csr_array((rng.random((self.n, self.d)) < chance).astype(np.float64))
        return ItemTable(rows=rows, mean=chance)


def read_sets(file: Path) -> ItemTable:
    """Read a SciPy .npz file of rows of items; what is no such file is refused by name."""
    try:
        rows = sp.csr_array(sp.load_npz(file)).astype(np.float64)
    except Exception:  # SciPy raises whatever the bytes lead it to
        raise ArgumentError(
            "data", f"{file.name!r} in it is not a sparse matrix of numbers as scipy.sparse.save_npz writes them"
        ) from None
    rows.data[:] = 1.0
    return ItemTable.of(rows)


def empirical_mean(rows: sp.csr_array) -> FloatArray:
    """The mean of every column."""
    return np.asarray(rows.sum(axis=0)).ravel() / rows.shape[0]


def _sets(rng: Generator, d: int, lengths: IntArray, popularity: float) -> sp.csr_array:
    """Rows of so many different items; an item that a row has already is drawn again, some times."""
    n = len(lengths)
    chances = np.cumsum(np.arange(1, d + 1, dtype=np.float64) ** -popularity)
    done, places, short = [], np.zeros(0, np.int64), lengths
    for _ in range(ROUNDS):
        drawn = np.searchsorted(chances, rng.random(int(short.sum())) * chances[-1], side="right")
        places = np.sort(np.concatenate((places, np.repeat(np.arange(n), short) * d + drawn)))
        places = places[np.diff(places, prepend=-1) > 0]
        row = places // d
        short = np.where(short > 0, lengths - np.bincount(row, minlength=n), 0)
        done.append(places[short[row] == 0])
        places = places[short[row] > 0]
    places = np.sort(np.concatenate((*done, places)))
    begin = np.concatenate(([0], np.cumsum(np.bincount(places // d, minlength=n))))
    kept = (places % d).astype(np.int32), begin.astype(np.int32)
    return sp.csr_array((np.ones(len(places)), *kept), shape=(n, d))
