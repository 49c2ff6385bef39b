"""PLAN without its scaling (§5 of the paper): centre, radius, and the same noise for every coordinate."""

from fractions import Fraction

import numpy as np

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.tail_cell import private_tail_cell
from plandp.noise.meter import MeteredNoise
from plandp.steps.center import private_center
from plandp.steps.estimate import Estimate
from plandp.steps.radius import longest_norm, stretched_view
from plandp.steps.sample import public_sample
from plandp.terms.design import Design
from plandp.theory.box import box_center
from plandp.theory.clipping import one_sided_rows
from plandp.theory.guards import radius_at_the_edge, too_few_rows
from plandp.theory.tail_search import Guess

SHARES = tuple(Fraction(share, 60) for share in (1, 1, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16))


def unscaled_mean(rows: Rows, design: Design, noise: MeteredNoise) -> Estimate:
    """The mean with equal noise in all coordinates, in units of error_scale.

    Guarantee: design.split.rho-zCDP when one row is replaced (n is public).
    """
    columns = design.columns
    center = box_center(columns)
    if design.split.center:
        center = private_center(public_sample(rows, design, noise), design, noise)
    stretch = np.ones(design.d)
    view = stretched_view(center, stretch, design)
    longest = longest_norm(view)
    smallest = float((columns.smallest_spread / columns.error_scale).min()) / 4.0
    # no spread is known, so no norm is typical: the lattice starts at the finest
    cells = NormCells.around(smallest, lowest=smallest, highest=longest, d=design.d, points=design.lattice_points)
    totals = cell_totals(rows, view, cells)
    guess = Guess(knots=np.log([smallest, longest]), mass=np.ones(1))
    radius = private_tail_cell(
        totals,
        noise,
        prior=guess.over(cells.edges),
        tail=np.full(len(cells.edges), one_sided_rows(stretch, design)),
        shares=SHARES,
        rho=design.split.radius,
        step="radius",
    )
    total = private_clipped_sum(totals, radius, noise, rho=design.split.sum, step="sum")
    unit = columns.error_scale * stretch / design.n
    return Estimate(
        mean=center + total.total * unit,
        noise_std=total.noise_std * unit,
        center=center,
        spread=None,
        radius=float(cells.edges[radius]),
        warnings=(*too_few_rows(design), *radius_at_the_edge(radius, len(cells.edges))),
    )
