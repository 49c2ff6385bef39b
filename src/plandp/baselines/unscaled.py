"""PLAN without its scaling (§5 of the paper): centre, radius, and the same noise for every coordinate."""

import numpy as np

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.noise.meter import MeteredNoise
from plandp.steps.center import Center, private_center
from plandp.steps.estimate import Estimate, unstretched
from plandp.steps.radius import private_wide_radius, unseen_reach, wide_norm_cells
from plandp.steps.sample import public_sample
from plandp.terms.design import Design
from plandp.theory.box import box_center
from plandp.theory.guards import all_missing, too_few_rows, untold_radius


def unscaled_mean(rows: Rows, design: Design, noise: MeteredNoise) -> Estimate:
    """The mean with equal noise in all coordinates, in units of error_scale.

    Guarantee: design.split.rho-zCDP when one row is replaced (n is public).
    """
    if design.split.center:
        center = private_center(public_sample(rows, design, noise), design, noise)
    else:
        center = Center.unknown(box_center(design.columns))
    stretch = np.ones(design.d)
    cells = wide_norm_cells(rows, center.value, stretch, design)
    radius = private_wide_radius(cells, stretch, design, noise)
    total = private_clipped_sum(cells, radius.cell, noise, rho=design.split.sum, step="sum")
    C = float(cells.cells.edges[radius.cell])
    estimate = unstretched(total, center.value, None, stretch, C, design)
    empty = center.halved & unseen_reach(C, stretch, design)
    return estimate.warning(
        *too_few_rows(design, spreads_wanted=False),
        *(
            untold_radius(design, radius.open_factor)
            or all_missing(estimate.mean, center.value, estimate.noise_std, empty, design.columns.labels)
        ),
    )
