"""PLAN (Algorithm 1 of "PLAN: Variance-Aware Private Mean Estimation") for tables of real numbers."""

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.noise.meter import MeteredNoise
from plandp.steps.box_sum import Box, private_box_mean
from plandp.steps.center import Center, private_center
from plandp.steps.estimate import Estimate, unstretched
from plandp.steps.radius import (
    private_radius,
    private_wide_radius,
    stretched_norm_cells,
    typical_norm,
    unseen_reach,
    wide_norm_cells,
)
from plandp.steps.sample import public_sample
from plandp.steps.spread import Spread, private_spread
from plandp.terms.design import Design
from plandp.theory.box import no_wider_than_box
from plandp.theory.clipping import gaussian_radius, one_sided_rows
from plandp.theory.guards import (
    all_missing,
    clipping_bias,
    lost_centers,
    radius_at_the_edge,
    too_few_rows,
    untold_radius,
)
from plandp.theory.stretch import Stretch, effective_dimension, noise_error, optimal_stretch
from plandp.theory.unclipping import clipping_gain

FloatArray = NDArray[np.float64]


def plan_mean(rows: Rows, design: Design, noise: MeteredNoise, *, stretch: Stretch = optimal_stretch) -> Estimate:
    """Estimate the mean of `rows`; each coordinate gets the noise its spread deserves, or another `stretch`.

    Guarantee: design.split.rho-zCDP when one row is replaced (n is public).  Proof: docs/proofs/plan_mean.md.
    """
    columns, p, box = design.columns, design.error_norm, Box.of(design)
    if not design.split.center:
        return _mean_without_spread(rows, Center.unknown(box.view.center), box, design, noise)
    sample = public_sample(rows, design, noise)
    middle = private_center(sample, design, noise)  # line 4: μ̃
    if columns.spread_in_units is not None:
        found = Spread.known(columns.spread_in_units)
    elif design.split.spread:
        found = private_spread(sample, middle.value, design, noise)  # §6: σ̂
    else:
        return _mean_without_spread(rows, middle, box, design, noise)
    del sample  # of rows that are streamed it is held, and not needed for the sum
    empty = middle.halved & found.unseen
    μ, σ = no_wider_than_box(middle.value, found.value, columns)
    s = stretch(σ, p)  # line 3: Σ̂^(1/(p+2))
    y = stretched_norm_cells(rows, μ, σ, s, design)  # line 5: (x - μ̃) / s
    C = private_radius(y, σ, s, design, noise)  # line 6
    if noise_error(C.value * s, p) >= noise_error(box.radius * box.stretch, p):
        # bounds so tight that clipping to them alone needs no more noise: then it is better, having no bias
        estimate = private_box_mean(rows, box, design, noise, spread=σ)
        return estimate.warning(
            *too_few_rows(design),
            *all_missing(estimate.mean, estimate.center, estimate.noise_std, empty, columns.labels),
        )
    total = private_clipped_sum(y, C.cell, noise, rho=design.split.sum, step="sum")  # lines 7–8
    gain = clipping_gain(total.total / design.n, σ / s, radius=C.value, share_above=C.share_above)
    estimate = unstretched(total, μ, σ, s, C.value, design, gain=gain)
    wide = np.maximum(σ * columns.error_scale, columns.smallest_spread)  # centres are no finer than that
    return estimate.warning(
        *too_few_rows(design),
        *lost_centers(estimate.mean, μ, wide, estimate.noise_std, columns.labels),
        *all_missing(estimate.mean, estimate.center, estimate.noise_std, empty, columns.labels),
        *clipping_bias(
            C.value, gaussian_radius(σ / s, one_sided_rows(s, design) / design.n)[0], effective_dimension(s, p)
        ),
        *radius_at_the_edge(C.value, typical_norm(σ, s)),
    )


def _mean_without_spread(rows: Rows, middle: Center, box: Box, design: Design, noise: MeteredNoise) -> Estimate:
    """Too few rows to find spreads, or even centres: the noise is shaped by the bounds alone."""
    s = box.stretch
    y = wide_norm_cells(rows, middle.value, s, design)
    c = private_wide_radius(y, s, design, noise)
    C = float(y.cells.edges[c.cell])
    if box.radius <= C:
        return private_box_mean(rows, box, design, noise).warning(*too_few_rows(design), *untold_radius(design))
    total = private_clipped_sum(y, c.cell, noise, rho=design.split.sum, step="sum")
    estimate = unstretched(total, middle.value, None, s, C, design)
    empty = middle.halved & unseen_reach(C, s, design)
    return estimate.warning(
        *too_few_rows(design),
        *(
            untold_radius(design, c.open_factor)
            or all_missing(estimate.mean, estimate.center, estimate.noise_std, empty, design.columns.labels)
        ),
    )
