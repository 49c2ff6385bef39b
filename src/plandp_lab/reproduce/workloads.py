"""What the paper's experiments run on: tables drawn afresh for every run, and two data sets.  Not private."""

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from plandp_lab.item_tables import ItemTable, TwoPopularities, read_sets
from plandp_lab.tables import Case, gaussian_a, skewed

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """The rows of one run, and the means that an estimate is measured against."""

    rows: FloatArray | sp.csr_array
    empirical: FloatArray
    truth: FloatArray | None  # None of a data set: nobody knows
    sampling: float  # distance of the two, where there is a truth; else of a bootstrap sample to the data set


class Workload(Protocol):
    """A kind of table, with what is public about it."""

    @property
    def name(self) -> str:
        """Tells it from all others; seeds are made of it."""
        ...

    @property
    def n(self) -> int:
        """Rows."""
        ...

    @property
    def d(self) -> int:
        """Columns."""
        ...

    @property
    def binary(self) -> bool:
        """Items that are there or not, whose error is half the ℓ1 distance; else numbers within ±bound, with ℓ2."""
        ...

    @property
    def bound(self) -> float:
        """The public M."""
        ...

    @property
    def spread(self) -> FloatArray | None:
        """The true spreads, for who is told them."""
        ...

    def draw(self, rng: Generator) -> Sample:
        """Draw, or read."""
        ...


def distance(estimate: FloatArray, mean: FloatArray, *, binary: bool) -> float:
    """The paper's errors: ℓ2, and for 0/1 data half the ℓ1 distance."""
    return float(np.abs(estimate - mean).sum()) / 2 if binary else float(np.linalg.norm(estimate - mean))


def seed_of(*parts: object) -> int:
    """A seed from names: the same on every machine, another for every name."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])


def sample_of(workload: Workload, run: int) -> Sample:
    """The table of a run, the same for all budgets and methods."""
    return workload.draw(default_rng(seed_of(workload.name, run)))


@dataclass(frozen=True, kw_only=True)
class CaseRows:
    """Numbers of the size, bounds and centre of one of the paper's Gaussian cases."""

    letter: str
    case: Case
    binary = False

    @property
    def n(self) -> int:
        """Rows."""
        return self.case.n

    @property
    def d(self) -> int:
        """Columns."""
        return self.case.d

    @property
    def bound(self) -> float:
        """As the published files have it: for A half of what the paper's table says."""
        return self.case.bound


@dataclass(frozen=True, kw_only=True)
class GaussianRows(CaseRows):
    """Gaussian A, B or C: independent columns."""

    @property
    def name(self) -> str:
        """As in the tables."""
        return f"{self.letter} n={self.case.n} d={self.case.d} alpha={self.case.skew:g}"

    @property
    def spread(self) -> FloatArray:
        """σ."""
        return self.case.spread

    def draw(self, rng: Generator) -> Sample:
        """Draw all rows."""
        return _sample(self.case.table(rng), np.full(self.d, self.case.center))


def case_a(d: int, n: int = 4000) -> GaussianRows:
    """Gaussian A: no skew."""
    return GaussianRows(letter="A", case=gaussian_a(d, n))


def case_b(alpha: float, d: int = 512, n: int = 10_000) -> GaussianRows:
    """Gaussian B: skew α."""
    return GaussianRows(letter="B", case=skewed("gaussian", d, alpha, n))


def case_c(d: int, n: int = 10_000) -> GaussianRows:
    """Gaussian C: α = 2."""
    return GaussianRows(letter="C", case=skewed("gaussian", d, 2.0, n))


@dataclass(frozen=True, kw_only=True)
class CorrelatedRows(CaseRows):
    """Gaussian A′ (Σ = ΛΛᵀ + I, Λ above the diagonal uniform up to 1/√d) or C′ (all correlations one half)."""

    letter: Literal["A'", "C'"]

    @property
    def name(self) -> str:
        """As in the tables."""
        return f"{self.letter} n={self.n} d={self.d}"

    @property
    def spread(self) -> FloatArray | None:
        """Of A′ drawn with the table, so that nobody is told."""
        return self.case.spread if self.letter == "C'" else None

    def draw(self, rng: Generator) -> Sample:
        """Draw Λ anew for every table."""
        own = rng.standard_normal((self.n, self.d))
        if self.letter == "C'":
            shared = rng.standard_normal((self.n, 1))
            rows = (own + shared) * np.sqrt(0.5) * self.case.spread
        else:
            loadings = np.triu(rng.uniform(0.0, self.d**-0.5, (self.d, self.d)), k=1)
            rows = own + rng.standard_normal((self.n, self.d)) @ loadings.T
        return _sample(rows + self.case.center, np.full(self.d, self.case.center))


def correlated_a(d: int) -> CorrelatedRows:
    """Gaussian A′."""
    return CorrelatedRows(letter="A'", case=gaussian_a(d))


def correlated_c(d: int) -> CorrelatedRows:
    """Gaussian C′."""
    return CorrelatedRows(letter="C'", case=skewed("gaussian", d, 2.0))


@dataclass(frozen=True, kw_only=True)
class OneColumn:
    """N(10, σ²), n = 10,000: what the paper's variance estimators are tried on."""

    variance: float
    n: int = 10_000
    d = 1
    binary = False
    bound = 100.0  # the paper does not say

    @property
    def name(self) -> str:
        """As in the tables."""
        return f"one column n={self.n} variance={self.variance:g}"

    @property
    def spread(self) -> FloatArray:
        """σ."""
        return np.array([self.variance**0.5])

    def draw(self, rng: Generator) -> Sample:
        """Draw all rows."""
        return _sample(10.0 + self.spread * rng.standard_normal((self.n, 1)), np.array([10.0]))


@dataclass(frozen=True, kw_only=True)
class BinaryRows:
    """Synthetic 0/1 rows: a share of the columns with chance ½, the others with 1/100."""

    like: TwoPopularities
    binary = True
    bound = 1.0
    spread = None

    @property
    def name(self) -> str:
        """As in the tables."""
        return f"Binary n={self.n} d={self.d} ratio={self.like.popular:g}"

    @property
    def n(self) -> int:
        """Rows."""
        return self.like.n

    @property
    def d(self) -> int:
        """Columns."""
        return self.like.d

    def draw(self, rng: Generator) -> Sample:
        """Draw all rows."""
        table = self.like.draw(rng)
        empirical = np.asarray(table.rows.sum(axis=0)).ravel() / self.n
        off = distance(empirical, table.mean, binary=True)
        return Sample(rows=table.rows, empirical=empirical, truth=table.mean, sampling=off)


def binary_rows(d: int, ratio: float, n: int = 4096) -> BinaryRows:
    """The paper's Binary at one ratio."""
    return BinaryRows(like=TwoPopularities(n=n, d=d, popular=ratio))


@dataclass(frozen=True, kw_only=True)
class StoredRows:
    """A data set in a file: the same rows in every run."""

    name: str
    n: int
    d: int
    entries: int
    path: Path = field(compare=False)
    binary = True
    bound = 1.0
    spread = None

    def draw(self, rng: Generator) -> Sample:
        """Read the file once per process; how far a sample of so many rows is off is told by a bootstrap."""
        table = _stored(self.path)
        again = np.bincount(rng.integers(0, self.n, self.n), minlength=self.n) / self.n
        off = distance(np.asarray(table.rows.T @ again), table.mean, binary=True)
        return Sample(rows=table.rows, empirical=table.mean, truth=None, sampling=off)


@lru_cache(maxsize=2)
def _stored(path: Path) -> ItemTable:
    return read_sets(path)


def _sample(rows: FloatArray, truth: FloatArray) -> Sample:
    empirical = rows.mean(axis=0)
    return Sample(rows=rows, empirical=empirical, truth=truth, sampling=distance(empirical, truth, binary=False))
