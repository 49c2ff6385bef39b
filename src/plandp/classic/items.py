"""Algorithm 1 for items that are there or not: sparse rows stay sparse, the centre is 0."""

from fractions import Fraction
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from plandp.classic.guards import radius_at_the_end, rows_to_clip
from plandp.classic.parts import Parts
from plandp.classic.row_norms import ranked_norms
from plandp.data.sparse_rows import SparseRows
from plandp.mechanisms.item_rows import ClippedSum, ItemLattice, squared_norms
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate
from plandp.terms.design import Design
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]

POINTS = 2.0**16  # lattice points of a typical row: items are there or not, so only weights are rounded


def plan_classic_items(rows: SparseRows, design: Design, noise: MeteredNoise, *, parts: Parts) -> Estimate:
    """Estimate the share of rows that hold each item by Algorithm 1, with the paper's parts for binary data.

    Line 4 is left out: the median of an item that fewer than half of the rows hold is 0, so the centre is 0, rows stay
    sparse, and ρ₁ is for variances alone.  Guarantee: design.split.rho-zCDP when one row is replaced.  Proof:
    docs/proofs/plan_classic.md.
    """
    n, p, split, u = design.n, design.error_norm, design.split, design.columns.error_scale
    σ = parts.item_spread(rows, design, noise)
    σr = parts.regulariser(σ / u)
    s = optimal_stretch(σr, p) * u  # line 3: Σ̂^(1/(p+2))
    typical = sqrt(float(((σ / s) ** 2).sum()))
    # line 5: x / s, in whole weights
    y = ItemLattice.of(np.maximum(POINTS / typical / s, 1.0), high=design.columns.high, n=n)
    s = POINTS / typical / y.weights
    longest = float(np.sqrt(((1.0 / s) ** 2).sum()))
    U = min(parts.item_universe(spread=σr, stretch=s / u, longest=longest, n=n, error_norm=p), longest)
    found = np.concatenate([squared_norms(block, y) for block in rows.blocks()])
    norms = ranked_norms(np.sqrt(found) * (typical / POINTS), universe=U, typical=typical)
    k = rows_to_clip(cells=float(norms.lattice.cells[0]), design=design, parts=parts)  # line 3: √n + rank error
    (C,) = parts.quantile(norms, (n - k) / n, noise, rho=split.radius, step="radius")  # line 6
    R = max(1, ceil(max(float(C), float(norms.lattice.step[0])) * POINTS / typical))
    (sums,) = rows.fold(ClippedSum(lattice=y, squared_radius=R**2))
    # line 7 as stated, for sensitivity 2C, though rows without a negative entry are only √2·C apart
    noisy = noise.release(sums, squared_sensitivity=4 * R**2, rho=split.sum, step="sum")
    noise_std = sqrt(float(Fraction(2 * R**2) / split.sum))
    radius = R * typical / POINTS
    return Estimate(  # line 8
        mean=noisy.astype(np.float64) / y.weights / n,
        noise_std=noise_std / y.weights / n,
        center=np.zeros(design.d),
        spread=σ,
        radius=radius,
        warnings=radius_at_the_end(radius, universe=U, longest=longest),
    )
