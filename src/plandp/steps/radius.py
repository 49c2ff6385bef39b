"""Lines 5–6: rows recentred and stretched, grouped by norm, and the clipping radius C among the norm cells."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.norm_cells import CellTotals, NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.tail_cell import (
    ALREADY_NEAR,
    FINER_AND_FINER,
    private_rows_above,
    private_tail_cell,
)
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design
from plandp.theory.clipping import one_sided_rows, rows_to_clip
from plandp.theory.tail_search import Guess, NoisyCount
from plandp.theory.wide_search import FAR_THEN_FINER, wide_rows_to_clip

FloatArray = NDArray[np.float64]

# where the norm's upper end lies: ln(norm / predicted root mean square norm) and its prior mass
KNOTS = np.array([-6.0, -4, -1.5, -0.5, -0.2, 0, 0.1, 0.2, 0.35, 0.6, 1, 2, 4.16])
MASS = np.array([0.005, 0.015, 0.03, 0.05, 0.15, 0.2, 0.2, 0.15, 0.1, 0.05, 0.03, 0.02])
MOST_UP_TO = 2.0**0.5  # times the predicted norm: rows up to here lie on one lattice, so that they are scaled alike
CAUTION = 0.7  # where no spread is known, a radius too large costs noise, one too small may clip everything
BEYOND = 0.01  # up to the end of the box: values so rare that they did not show in the spread
SURELY_MORE, SURELY = 2.0, 4.0  # rows above the radius beside those wanted, and standard deviations of their count
JUST_ABOVE = 2  # norm cells
HARDLY_BELOW = 0.9  # of what the counts leave open
BETWEEN = 0.1, 0.9  # four times in five
# of the budget: to see how heavy the tail is, to find the radius, and to count what it clips
TAIL, PLACE, COUNT = Fraction(35, 100), Fraction(40, 100), Fraction(25, 100)


@dataclass(frozen=True, kw_only=True)
class WideRadius:
    """A radius found without spreads: its norm cell, and by what factor its counts leave it open; all released."""

    cell: int
    open_factor: float


@dataclass(frozen=True, kw_only=True)
class Radius:
    """Line 6's C, the norm cell whose upper edge it is, and the share of the rows above it, all released."""

    value: float
    cell: int
    share_above: float


def stretched_view(center: FloatArray, stretch: FloatArray, design: Design) -> Recentred:
    """Line 5: y = (x - center) / stretch, in units of error_scale."""
    columns = design.columns
    return Recentred(
        low=columns.low,
        high=columns.high,
        missing=columns.missing,
        center=center,
        factor=1.0 / (columns.error_scale * stretch),
    )


def typical_norm(spread: FloatArray, stretch: FloatArray) -> float:
    """The root mean square norm that the spreads predict."""
    return float(np.sqrt(((spread / stretch) ** 2).sum()))


def longest_norm(view: Recentred) -> float:
    """No row of the box is longer than this, whatever it holds."""
    reach = np.maximum(view.center - view.low, view.high - view.center) * view.factor
    return float(np.sqrt((reach**2).sum())) * (1.0 + 2.0**-30)


def stretched_norm_cells(
    rows: Rows, center: FloatArray, spread: FloatArray, stretch: FloatArray, design: Design
) -> CellTotals:
    """Line 5 for every row, added up by norm cell.  Reads data, pays nothing, stays inside."""
    view = stretched_view(center, stretch, design)
    typical = typical_norm(spread, stretch)
    highest = longest_norm(view)
    lowest = min(typical * float(np.exp(KNOTS[0])), highest / 2.0)
    cells = NormCells.around(
        MOST_UP_TO * typical, lowest=lowest, highest=highest, d=design.d, points=design.lattice_points
    )
    return cell_totals(rows, view, cells)


def private_radius(
    totals: CellTotals, spread: FloatArray, stretch: FloatArray, design: Design, noise: MeteredNoise
) -> Radius:
    """The radius C: as many rows are clipped as their bias is worth in noise.

    Guarantee: design.split.radius-zCDP.
    """
    rho = design.split.radius
    edges = totals.cells.edges
    knots = np.log(typical_norm(spread, stretch)) + KNOTS
    farthest = max(float(np.log(edges[-1])), float(knots[-1])) + 1.0
    prior = Guess(knots=np.append(knots, farthest), mass=np.append(MASS, BEYOND)).over(edges)
    far_out = private_tail_cell(
        totals.norms,
        noise,
        prior=prior,
        tail=one_sided_rows(stretch, design),
        shares=FINER_AND_FINER,
        rho=rho * TAIL,
        step="radius",
    )
    wanted = rows_to_clip(float(edges[far_out.cell]), spread, stretch, design)
    found = private_tail_cell(
        totals.norms,
        noise,
        prior=prior,
        tail=wanted,
        shares=ALREADY_NEAR,
        rho=rho * PLACE,
        step="radius",
        known=far_out.counts,
    )
    above = private_rows_above(totals.norms, found.cell, noise, rho=rho * COUNT, step="radius")
    deviation = float(1.0 / np.sqrt(2.0 * float(rho * COUNT)))
    if above <= SURELY_MORE * wanted + SURELY * deviation:
        return Radius(value=float(edges[found.cell]), cell=found.cell, share_above=above / design.n)
    # many rows share a norm, as those do that hold the same value: further out none of them is clipped
    told = NoisyCount(cell=found.cell, count=design.n - above, noise_std=deviation)
    further = found.posterior.updated(told, rows=design.n).quantile_cell(HARDLY_BELOW)
    cell = min(max(found.cell + JUST_ABOVE, further), len(edges) - 1)
    return Radius(value=float(edges[cell]), cell=cell, share_above=wanted / design.n)


def unseen_reach(radius: float, stretch: FloatArray, design: Design) -> NDArray[np.bool_]:
    """Where a released radius reaches no further than the smallest spread that matters: no spread was seen."""
    columns = design.columns
    return np.asarray(radius * stretch * columns.error_scale <= columns.smallest_spread)


def wide_norm_cells(rows: Rows, center: FloatArray, stretch: FloatArray, design: Design) -> CellTotals:
    """As `stretched_norm_cells` when no spread is known: cells of all norms that could matter."""
    columns, view = design.columns, stretched_view(center, stretch, design)
    lowest = float((columns.smallest_spread * view.factor).min()) / 4.0
    cells = NormCells.around(
        lowest, lowest=lowest, highest=longest_norm(view), d=design.d, points=design.lattice_points
    )
    return cell_totals(rows, view, cells)


def private_wide_radius(totals: CellTotals, stretch: FloatArray, design: Design, noise: MeteredNoise) -> WideRadius:
    """As `private_radius` when no spread is known: any order of magnitude may be the right one.

    Guarantee: design.split.radius-zCDP.
    """
    edges = totals.cells.edges
    guess = Guess.up_to(float(edges[-1]), lowest=float(edges[0]), near=6.0)
    found = private_tail_cell(
        totals.norms,
        noise,
        prior=guess.over(edges),
        tail=wide_rows_to_clip(stretch, design),
        shares=FAR_THEN_FINER,
        rho=design.split.radius,
        step="radius",
        caution=CAUTION,
    )
    low, high = (found.posterior.quantile_cell(share) for share in BETWEEN)
    return WideRadius(cell=found.cell, open_factor=float(edges[high] / edges[low]))
