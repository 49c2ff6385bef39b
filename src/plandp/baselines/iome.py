"""Instance-optimal mean estimation (Huang, Liang and Yi 2021): medians in a random basis, a radius, equal noise."""

import numpy as np
from numpy.typing import NDArray

from plandp.data.dense_view import DenseRows
from plandp.data.rows import Rows
from plandp.data.sparse_rows import SparseRows
from plandp.mechanisms.ball_sum import private_ball_sum
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.quantiles import BinarySearch
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.rotated import Rotated, Rotation
from plandp.mechanisms.row_norms import RowNorms
from plandp.mechanisms.viewed_keys import viewed_keys
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate, unstretched
from plandp.steps.radius import longest_norm, stretched_view
from plandp.terms.design import Design
from plandp.theory.box import box_center
from plandp.theory.iome import Reach, iome_warnings, rows_beyond

FloatArray = NDArray[np.float64]

SEARCH = BinarySearch(answer="midpoint")


def iome_mean(rows: Rows, design: Design, noise: MeteredNoise, *, offset: float, reach: Reach) -> Estimate:
    """The mean with equal noise in all coordinates, around a centre that was found in a random basis.

    Guarantee: design.split.rho-zCDP when one row is replaced (n is public).  Proof: docs/proofs/iome.md.

    A rotation keeps lengths, and noise that is alike in all directions: so only the medians are looked for in the
    random basis, and radius and sum are the same, and cheaper, in the basis of the data.
    """
    stretch = np.ones(design.d)
    center = private_rotated_center(rows, reach(design.columns), design, noise)
    view = stretched_view(center, stretch, design)
    radius = private_norm_radius(rows, view, rows_beyond(design, offset), design, noise)
    total = private_ball_sum(rows, view, radius, noise, points=design.lattice_points, rho=design.split.sum, step="sum")
    return unstretched(total, center, None, stretch, radius, design).warning(*iome_warnings(design, offset))


def iome_items(rows: SparseRows, design: Design, noise: MeteredNoise, *, offset: float, reach: Reach) -> Estimate:
    """The same for items that are there or not: rotated rows are dense, so that they are made so block by block.

    Guarantee: as `iome_mean`.
    """
    return iome_mean(DenseRows(rows), design, noise, offset=offset, reach=reach)


def private_rotated_center(rows: Rows, reach: float, design: Design, noise: MeteredNoise) -> FloatArray:
    """The point whose coordinates are the medians of all coordinates in a random basis, within the bounds.

    Guarantee: design.split.center-zCDP, whatever the `reach`: values beyond it count as its end.  What is missing
    counts as `missing`, or the middle of the bounds.
    """
    columns, middle = design.columns, box_center(design.columns)
    rotation = Rotation.drawn(design.d, noise)
    rotated = Rotated(view=stretched_view(middle, np.ones(design.d), design), rotation=rotation)
    ends = np.full(rotation.size, reach)
    ranked = viewed_keys(rows, _lattice(-ends, ends, design), view=rotated)
    medians = SEARCH(ranked, 0.5, noise, rho=design.split.center, step="center")
    return np.clip(middle + rotation.back(medians, design.d) * columns.error_scale, columns.low, columns.high)


def private_norm_radius(rows: Rows, view: Recentred, beyond: float, design: Design, noise: MeteredNoise) -> float:
    """A radius that about `beyond` rows exceed.

    Guarantee: design.split.radius-zCDP.
    """
    lattice = _lattice(np.zeros(1), np.array([longest_norm(view)]), design)
    ranked = viewed_keys(rows, lattice, view=RowNorms(view=view))
    return float(SEARCH(ranked, 1.0 - beyond / design.n, noise, rho=design.split.radius, step="radius")[0])


def _lattice(low: FloatArray, high: FloatArray, design: Design) -> Lattice:
    """As many cells as the search has halvings for."""
    cells = np.full(len(low), 2.0**design.center_rounds)
    return Lattice(low=low, high=high, step=(high - low) / cells, cells=cells)
