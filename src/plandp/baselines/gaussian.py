"""The Gaussian mechanism: clip every value to its bounds, add noise for the whole box."""

import numpy as np

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate
from plandp.steps.radius import longest_norm, stretched_view
from plandp.terms.design import Design
from plandp.theory.box import box_center, box_spread
from plandp.theory.stretch import optimal_stretch


def gaussian_mean(rows: Rows, design: Design, noise: MeteredNoise) -> Estimate:
    """The mean with noise for the bounds alone: unbeatable for tight bounds, hopeless for generous ones.

    Guarantee: design.split.rho-zCDP when one row is replaced.  The stretch is the optimal one for the widths of
    the bounds (Appendix C); with equal widths there is none.
    """
    columns = design.columns
    center = box_center(columns)
    stretch = optimal_stretch(box_spread(columns), design.error_norm)
    view = stretched_view(center, stretch, design)
    longest = longest_norm(view)
    cells = NormCells.around(longest, lowest=longest / 2.0, highest=longest, d=design.d, points=design.lattice_points)
    radius = len(cells.edges) - 1
    total = private_clipped_sum(cell_totals(rows, view, cells), radius, noise, rho=design.split.sum, step="sum")
    unit = columns.error_scale * stretch / design.n
    return Estimate(
        mean=center + total.total * unit,
        noise_std=np.asarray(total.noise_std * unit),
        center=center,
        spread=None,
        radius=float(cells.edges[radius]),
        warnings=(),
    )
