"""The clipped sum when the bounds alone are the radius: the Gaussian mechanism of the box."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.ball_sum import private_ball_sum
from plandp.mechanisms.recentred import Recentred
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate, unstretched
from plandp.steps.radius import longest_norm, stretched_view
from plandp.terms.design import Design
from plandp.theory.box import box_center, box_spread
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Box:
    """The box of the bounds around its middle, stretched as is best for its widths (Appendix C).  All public."""

    stretch: FloatArray
    view: Recentred
    radius: float

    @classmethod
    def of(cls, design: Design) -> "Box":
        """The box of this design."""
        stretch = optimal_stretch(box_spread(design.columns), design.error_norm)
        view = stretched_view(box_center(design.columns), stretch, design)
        return cls(stretch=stretch, view=view, radius=longest_norm(view))


def private_box_mean(
    rows: Rows, box: Box, design: Design, noise: MeteredNoise, *, spread: FloatArray | None = None
) -> Estimate:
    """The mean of all rows around the middle of the box; no row is clipped further.

    Guarantee: design.split.sum-zCDP when one row is replaced.
    """
    total = private_ball_sum(
        rows, box.view, box.radius, noise, points=design.lattice_points, rho=design.split.sum, step="sum"
    )
    estimate = unstretched(total, box.view.center, spread, box.stretch, box.radius, design)
    return replace(estimate, bounds_alone=True)
