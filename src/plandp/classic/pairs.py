"""Variance from the median of (x - y)²/2 over pairs of rows (Listing 1) or groups of pairs (Algorithm 2)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plandp.classic.search_lattice import search_lattice
from plandp.classic.spread import SpreadSearch
from plandp.data.rows import Rows
from plandp.errors import ArgumentError
from plandp.kernels.compiler import compiled
from plandp.kernels.pair_differences import add_to_pairs
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.quantiles import Quantile
from plandp.mechanisms.ranked import HeldKeys
from plandp.terms.columns import Columns
from plandp.terms.design import Design
from plandp.theory.box import box_center, box_spread

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROWS = 16
"""Differences that are squared at a time."""

MedianFactor = Literal["exact", "wilson-hilferty", "as printed", "none"]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """σ̂² = PrivQuantile of Σ (x - y)²/2 over groups of k pairs, at ½, over the median of χ²_k.

    The paper's estimator: k = 1 in its evaluation ("Implementation"), k > 1 in Algorithm 2 of its variance appendix,
    whose pair (2j, 2j+1) is read as (2j-1, 2j): as printed, the last one overruns its group.  Each group's sum lies in
    [0, k·2M²], M half the width of the bounds (printed: M²), and that is the range of the search.

    Rows are paired by public coins and row number alone, the same for all columns, so a row is in one group and all
    ranks move by at most 1 when it is replaced.  `copies` repeats the pairing by other coins ("boost" in the appendix):
    ranks move by `copies`, and the same accuracy of a rank costs its square.  About n·d/2 float64 are held.

    `median` says by what the median of a sum is divided: "exact", the median of χ²_k; "wilson-hilferty", k·(1-2/(9k))³
    (appendix); "as printed" in "Implementation", which for k = 1 divides by (9/7)³ where (7/9)³ is meant; "none", k, as
    Algorithm 2 does for any distribution.
    """

    groups: int = 1  # k: pairs per group
    copies: int = 1
    median: MedianFactor = "exact"
    costs = True
    needs_center = False

    def __post_init__(self) -> None:
        for name in ("groups", "copies"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= 1000:
                raise ArgumentError(name, "must be a whole number from 1 to 1000")
        if self.median not in ("exact", "wilson-hilferty", "as printed", "none"):
            raise ArgumentError("median", "must be 'exact', 'wilson-hilferty', 'as printed' or 'none'")

    def rank_error(self, finest: FloatArray, quantile: Quantile, design: Design, *, failure: float) -> float:
        """Of n' = ⌊n/2k⌋ groups (Algorithm 2, line 3), once per copy."""
        cells, rho = float(self._lattice(finest, design).cells[0]), float(design.split.spread)
        error = quantile.rank_error(cells=cells, columns=design.d, rho=rho, failure=failure, copies=self.copies)
        return error / max(1, self.copies * (design.n // (2 * self.groups)))

    @property
    def median_of_sum(self) -> float:
        """What the median of a group's sum is taken for, in σ²."""
        k = self.groups
        if self.median == "exact":
            from scipy.special import gammaincinv  # here, since importing SciPy takes longer than importing plandp

            return 2.0 * float(gammaincinv(k / 2.0, 0.5))
        wilson_hilferty = (1.0 - 2.0 / (9.0 * k)) ** 3
        return k * {"wilson-hilferty": wilson_hilferty, "as printed": 1.0 / wilson_hilferty, "none": 1.0}[self.median]

    def __call__(self, rows: Rows, search: SpreadSearch) -> FloatArray:
        """The root of the estimated variances.

        Guarantee: design.split.spread-zCDP when one row is replaced.  Proof: docs/proofs/variance_estimators.md.
        """
        design = search.design
        orders = [search.noise.public_permutation(design.n) for _ in range(self.copies)]  # before a row is read
        sums = group_sums(rows, orders, self.groups, design.columns)
        ranked = HeldKeys.of_values(sums, self._lattice(search.finest, design), copies=self.copies)
        median = search.quantile(ranked, 0.5, search.noise, rho=design.split.spread, step="spread")
        return np.sqrt(median / self.median_of_sum)

    def _lattice(self, finest: FloatArray, design: Design) -> Lattice:
        """From 0 to k·2M², in steps of k times the least variance (appendix)."""
        k, unit = self.groups, finest / design.columns.error_scale
        return search_lattice(np.zeros(design.d), 2.0 * k * box_spread(design.columns) ** 2, k * unit**2)


def group_sums(rows: Rows, orders: list[IntArray], k: int, columns: Columns) -> FloatArray:
    """Σ (x - y)²/2 over the k pairs of every group, in squared units of error_scale; NaN where a value is missing.

    Place 2j of an order is paired with place 2j+1, and k pairs in a row are a group; what is left over is in none.
    Reads data, pays nothing, stays inside.
    """
    n, d = rows.n, rows.d
    used = n // (2 * k) * 2 * k
    place = np.stack(orders).argsort(axis=1)  # of every row in every order
    # of each pair one row adds its values and the other takes them off: the sum of two numbers is the same either way
    differences = np.zeros((len(orders), used // 2, d))
    seen = 0
    for block in rows.blocks():
        for differ, places in zip(differences, place[:, seen : seen + len(block)], strict=True):
            _add_to_pairs(np.ascontiguousarray(block), places, used, columns, differ)
        seen += len(block)
    squares = differences.reshape(-1, d)
    for first in range(0, len(squares), ROWS):  # they stay in cache
        few = squares[first : first + ROWS]
        few *= few
        few /= 2.0
    squares = squares.reshape(differences.shape)
    if k == 1:
        return squares.reshape(-1, d)
    sums = squares[:, 0::k]
    for pair in range(1, k):  # one after the other, in an order that coins decide
        sums = sums + squares[:, pair::k]
    return sums.reshape(-1, d)


def _add_to_pairs(block: FloatArray, places: IntArray, used: int, columns: Columns, differences: FloatArray) -> None:
    """Add the rows at odd places to the differences of their pairs, and take off those at even ones."""
    loop = compiled(add_to_pairs)
    if loop is not None:
        stand_in = np.full(block.shape[1], np.nan) if columns.missing is None else columns.missing
        public = columns.low, columns.high, stand_in, box_center(columns), columns.error_scale
        return loop(block, places, used, *public, differences)
    values = _in_units(block, columns)
    for sign in (1, 0):
        own = np.flatnonzero((places < used) & (places % 2 == sign))
        differences[places[own] // 2] += values[own] if sign else -values[own]


def _in_units(block: FloatArray, columns: Columns) -> FloatArray:
    """Distance from the middle of the bounds in units of error_scale, within ±M; NaN stays where nothing is known."""
    x = np.clip(block, columns.low, columns.high)
    if columns.missing is not None:
        x = np.where(np.isnan(x), columns.missing, x)
    return np.asarray((x - box_center(columns)) / columns.error_scale)
