"""Algorithm 1 of "PLAN: Variance-Aware Private Mean Estimation" as it is stated there, beside its Listing 1."""

import numpy as np
from numpy.typing import NDArray

from plandp.classic.guards import large_rank_errors, radius_at_the_end, rows_to_clip
from plandp.classic.parts import Parts
from plandp.classic.row_norms import ranked_norms, row_norms
from plandp.classic.search_lattice import search_lattice
from plandp.classic.spread import SpreadSearch
from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import NoisySum, private_clipped_sum
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.ranked import HeldKeys
from plandp.mechanisms.recentred import Recentred
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate, unstretched
from plandp.steps.radius import longest_norm, stretched_view, typical_norm
from plandp.terms.design import Design
from plandp.theory.box import box_spread
from plandp.theory.guards import lost_centers
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]


def plan_classic_mean(rows: Rows, asked: Design, noise: MeteredNoise, *, parts: Parts) -> Estimate:
    """Estimate the mean of `rows` by Algorithm 1: ρ₁, ρ₂, ρ₃ are split.center + split.spread, split.radius, split.sum.

    Guarantee: asked.split.rho-zCDP when one row is replaced (n is public).  Proof: docs/proofs/plan_classic.md.
    """
    rows, design = parts.small_spread.prepared(rows, asked, noise)
    n, p = design.n, design.error_norm
    if parts.small_spread.needs_spread:
        σ = private_spread(rows, None, design, noise, parts)
        μ = private_medians(rows, σ, design, noise, parts)
    else:
        μ = private_medians(rows, None, design, noise, parts)  # line 4: μ̃ ← PrivQuantile(x, 1/2)
        σ = private_spread(rows, μ, design, noise, parts)  # Listing 1, line 4: estimateStd
    σr = parts.regulariser(σ)
    s = optimal_stretch(σr, p)  # line 3: Σ̂^(1/(p+2))
    y = stretched_view(μ, s, design)  # line 5: (x - μ̃) Σ̂^(-1/(p+2))
    U = parts.universe(spread=σr, stretch=s, longest=longest_norm(y), n=n, error_norm=p)
    norms = ranked_norms(row_norms(rows, y), universe=U, typical=typical_norm(σr, s))
    k = rows_to_clip(cells=float(norms.lattice.cells[0]), design=design, parts=parts)  # line 3: √n + rank error
    (C,) = parts.quantile(norms, (n - k) / n, noise, rho=design.split.radius, step="radius")  # line 6
    radius = max(float(C), float(norms.lattice.step[0]))  # never 0, or nothing could be clipped to it
    total = private_sum_of_clipped(rows, y, radius, design, noise)  # lines 7–8
    estimate = unstretched(total, μ, σ, s, radius, design)  # line 8, back
    columns = design.columns
    wide = np.maximum(σ * columns.error_scale, columns.smallest_spread)
    return estimate.warning(
        *large_rank_errors(asked, parts),
        *lost_centers(estimate.mean, μ, wide, estimate.noise_std, columns.labels),
        *radius_at_the_end(radius, universe=U, longest=longest_norm(y)),
    )


def private_medians(
    rows: Rows, spread: FloatArray | None, design: Design, noise: MeteredNoise, parts: Parts
) -> FloatArray:
    """Line 4: the median of every column, within its bounds, on a grid of 2τ.

    Guarantee: design.split.center-zCDP: each of the d ranks moves by at most 1 when a row is replaced.
    """
    columns = design.columns
    lattice = search_lattice(columns.low, columns.high, 2.0 * parts.small_spread.finest(spread, design))
    ranked = HeldKeys.of_rows(rows, lattice, columns.missing)
    return parts.quantile(ranked, 0.5, noise, rho=design.split.center, step="center")


def private_spread(
    rows: Rows, center: FloatArray | None, design: Design, noise: MeteredNoise, parts: Parts
) -> FloatArray:
    """σ̂, given or estimated, in units of error_scale, from the finest spread that is told to half the bounds' width.

    Guarantee: design.split.spread-zCDP; nothing is read where spreads are given.
    """
    finest = parts.small_spread.finest(None, design)
    if design.columns.spread_in_units is not None:
        found = design.columns.spread_in_units
    else:
        search = SpreadSearch(center=center, finest=finest, quantile=parts.quantile, design=design, noise=noise)
        found = parts.spread(rows, search)
    least = np.minimum(finest / design.columns.error_scale, box_spread(design.columns))
    return np.clip(found, least, box_spread(design.columns))


def private_sum_of_clipped(rows: Rows, view: Recentred, radius: float, design: Design, noise: MeteredNoise) -> NoisySum:
    """Lines 7–8: Σ min{C/‖y‖, 1}·y and noise of variance 2C²/ρ₃, a row's lattice vector being no longer than C's.

    Guarantee: design.split.sum-zCDP when one row is replaced, which moves the sum by at most 2C.
    """
    # the last cell holds all rows above C, each shortened to C itself
    cells = NormCells.around(
        radius, lowest=radius / 2.0, highest=radius, d=design.d, points=design.lattice_points, per_octave=1
    )
    totals = cell_totals(rows, view, cells)
    return private_clipped_sum(totals, len(cells.edges) - 1, noise, rho=design.split.sum, step="sum")
