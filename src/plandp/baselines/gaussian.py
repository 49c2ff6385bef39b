"""The Gaussian mechanism: clip every value to its bounds, add noise for the whole box."""

from plandp.data.rows import Rows
from plandp.noise.meter import MeteredNoise
from plandp.steps.box_sum import Box, private_box_mean
from plandp.steps.estimate import Estimate
from plandp.terms.design import Design


def gaussian_mean(rows: Rows, design: Design, noise: MeteredNoise) -> Estimate:
    """The mean with noise for the bounds alone: unbeatable for tight bounds, hopeless for generous ones.

    Guarantee: design.split.rho-zCDP when one row is replaced.  The stretch is the optimal one for the widths of
    the bounds (Appendix C); with equal widths there is none.
    """
    return private_box_mean(rows, Box.of(design), design, noise)
