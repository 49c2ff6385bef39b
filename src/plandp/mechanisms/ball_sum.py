"""The sum of rows clipped to a radius that is known beforehand, with noise.  Proof: docs/proofs/clipped_sum.md."""

from fractions import Fraction

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import NoisySum, private_clipped_sum
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.noise.meter import MeteredNoise


def private_ball_sum(
    rows: Rows, view: Recentred, radius: float, noise: MeteredNoise, *, points: int, rho: Fraction, step: str
) -> NoisySum:
    """Release the sum of all rows as `view` shows them, longer ones scaled down to `radius`.

    Guarantee: rho-zCDP for replacing one row, for a public or released radius: the sum moves by at most 2R, R a few
    lattice steps above the radius, of which there are `points`.
    """
    cells = NormCells.around(radius, lowest=radius / 2.0, highest=radius, d=len(view.center), points=points)
    totals = cell_totals(rows, view, cells)
    return private_clipped_sum(totals, len(cells.edges) - 1, noise, rho=rho, step=step)
