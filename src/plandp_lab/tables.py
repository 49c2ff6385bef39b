"""Synthetic tables to measure accuracy on: the paper's Gaussian cases and awkward families.  Not private."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

AWKWARD = (
    "t3",
    "lognormal",
    "mixture",
    "zero-inflated 5%",
    "zero-inflated 20%",
    "zero-inflated 40%",
    "integers",
    "0/1 and Gaussian",
    "constant and Gaussian",
    "all together",
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One cell of the table: a family, its size, and the public bounds ±bound."""

    family: str
    n: int
    d: int
    skew: float  # σ_i² = (d/i)^skew
    center: float
    bound: float

    @property
    def spread(self) -> FloatArray:
        """The scale σ_i of each column."""
        return np.asarray((self.d / np.arange(1, self.d + 1)) ** (self.skew / 2))

    def table(self, rng: Generator) -> FloatArray:
        """Draw a table of this case."""
        return draw(self.family, rng, self.n, self.spread, self.center)


def gaussian_a(d: int, n: int = 4000) -> Case:
    """The paper's Gaussian A: no skew, centre 0."""
    return Case(family="gaussian", n=n, d=d, skew=0.0, center=0.0, bound=25.0 * d**0.5)


def skewed(family: str, d: int, skew: float, n: int = 10_000) -> Case:
    """The paper's Gaussian B and C (family "gaussian"), and the same scales for other families."""
    largest = d ** (skew / 2)
    return Case(family=family, n=n, d=d, skew=skew, center=10.0, bound=50.0 * d * largest**0.5)


def draw(family: str, rng: Generator, n: int, spread: FloatArray, center: float) -> FloatArray:
    """n rows of the family, column i with scale spread[i]."""
    d = len(spread)
    if family == "all together":
        parts = [draw(name, rng, n, spread, center) for name in AWKWARD[:-1]]
        return np.stack([parts[i % len(parts)][:, i] for i in range(d)], axis=1)
    if family.startswith("zero-inflated"):
        share = float(family.split()[1].rstrip("%")) / 100
        values = (rng.random((n, d)) < share) * (1 + rng.standard_normal((n, d)))
        return np.asarray(values * spread / np.sqrt(share * 2 - share * share))
    if family == "integers":
        return rng.poisson(50.0 * np.arange(1, d + 1) ** -1.4, (n, d)).astype(np.float64)
    if family == "t3":
        return np.asarray(rng.standard_t(3, (n, d)) / np.sqrt(3.0) * spread + center)
    if family == "lognormal":
        values = np.exp(rng.standard_normal((n, d))) - np.exp(0.5)
        return np.asarray(values / np.sqrt((np.e - 1) * np.e) * spread + center)
    if family == "mixture":
        values = rng.standard_normal((n, d)) * np.where(rng.random((n, d)) < 0.05, 10.0, 1.0)
        return np.asarray(values / np.sqrt(5.95) * spread + center)
    values = rng.standard_normal((n, d)) * spread + center
    odd = np.arange(d) % 2 == 1
    if family == "0/1 and Gaussian":
        chance = np.exp(np.linspace(np.log(0.005), np.log(0.5), d))
        values[:, odd] = rng.random((n, int(odd.sum()))) < chance[odd]
    elif family == "constant and Gaussian":
        values[:, odd] = 7.3
    elif family == "0/1":
        chance = np.exp(np.linspace(np.log(0.005), np.log(0.5), d))
        return (rng.random((n, d)) < chance).astype(np.float64)
    elif family != "gaussian":
        raise ValueError(f"unknown family {family!r}")
    return np.asarray(values)
