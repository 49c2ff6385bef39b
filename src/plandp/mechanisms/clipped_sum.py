"""Lines 7–8 of Algorithm 1: the sum of rows clipped to a radius, with noise.  Proof: docs/proofs/clipped_sum.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.mechanisms.norm_cells import CellTotals, NormCells
from plandp.noise.meter import MeteredNoise

FloatArray = NDArray[np.float64]

FRACTION_BITS = 7  # precision of the factor that shortens clipped rows: they come out at most 1/64 short
FINER_OCTAVES = 9  # rows up to 16 octaves below the radius count in full
LARGEST_VARIANCE_BITS = 96  # so far noise is drawn fast, and by OpenDP


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisySum:
    """A released clipped sum and the standard deviation of the noise in it."""

    total: FloatArray
    noise_std: float


def private_clipped_sum(
    totals: CellTotals,
    radius_cell: int,
    noise: MeteredNoise,
    *,
    rho: Fraction,
    step: str,
    nonnegative: bool = False,
) -> NoisySum:
    """Release the sum of all rows, those above the radius scaled down to it.

    Guarantee: rho-zCDP for replacing one row.  Every row adds an integer vector of norm ≤ R (`weights`), so the
    sum moves by at most 2R, by √2·R when all entries are non-negative.
    """
    finer = finer_bits(totals.cells, radius_cell, rho)
    weights, longest = cell_weights(totals.cells, radius_cell, finer)
    squared_sensitivity = (2 if nonnegative else 4) * longest**2
    noisy = noise.release(
        _weighted(totals, weights, longest), squared_sensitivity=squared_sensitivity, rho=rho, step=step
    )
    coarser = Fraction(1 << int(totals.cells.octave[radius_cell]), 1 << finer)
    unit = float(Fraction(totals.cells.step) * coarser)
    return NoisySum(
        total=noisy.astype(np.float64) * unit,
        noise_std=float(np.sqrt(float(Fraction(squared_sensitivity) / (2 * rho)))) * unit,
    )


def cell_weights(cells: NormCells, radius_cell: int, finer: int) -> tuple[NDArray[Any], int]:
    """Integer weights w_g and R with w_g · bound_g ≤ R for every cell: clipping, done on sums of integers."""
    longest = int(cells.bounds[radius_cell]) << finer
    integers = np.int64 if longest < 2**62 else np.object_
    shift = np.minimum(finer + cells.octave - cells.octave[radius_cell], 62)  # no weight reaches 2^62
    unclipped = np.where(shift >= 0, np.left_shift(1, np.maximum(shift, 0)), 0)
    return np.minimum(unclipped.astype(integers), longest // cells.bounds.astype(integers)), longest


def finer_bits(cells: NormCells, radius_cell: int, rho: Fraction) -> int:
    """By how many bits the lattice of the weighted sum is finer than that of the radius' cell."""
    most, at_radius = (int(bound).bit_length() for bound in (cells.bounds.max(), cells.bounds[radius_cell]))
    # R < 2^(most + FRACTION_BITS + octaves): from rho = 2^-32 on the noise's variance 2R²/rho stays within reach,
    # whatever the radius; below, OpenDP is refused beforehand
    room = (LARGEST_VARIANCE_BITS - 1 - (rho.denominator // rho.numerator).bit_length()) // 2 - most - FRACTION_BITS
    octaves = min(int(cells.octave[radius_cell]), FINER_OCTAVES, max(room, 0))
    return FRACTION_BITS + most - at_radius + octaves


def _weighted(totals: CellTotals, weights: NDArray[Any], longest: int) -> NDArray[np.int64] | NDArray[np.object_]:
    """Σ w_g · sums_g, in int64 where rows · R leaves room (a public bound), in Python integers beyond."""
    rows = int(totals.counts.sum())
    if rows * longest < 2**62 and totals.sums.dtype != np.object_:
        return np.asarray(np.einsum("g,gi->i", weights, totals.sums))  # integers, for which @ takes three times as long
    counted = weights > 0  # not which cells hold rows: how much work there is shall not tell
    return np.asarray(weights.astype(object)[counted] @ totals.sums[counted].astype(object))
