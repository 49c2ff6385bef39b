"""§6: private spreads σ̂ around the centre, from clipped sums of squares."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.tail_cell import private_tail_cell
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design
from plandp.theory.moment_prior import posterior_moments
from plandp.theory.tail_search import Guess

FloatArray = NDArray[np.float64]

SHARES = (Fraction(3, 20), Fraction(1, 5), Fraction(13, 20))  # of the budget, per round
FLOOR_SHARE = 0.03  # of the mean spread: less would buy nothing
FLOOR_SMALLEST = 1.0 / 16.0  # of the smallest spread that matters
TAIL_SHARE = 0.03  # of the rows have their squares clipped
FIRST_COUNTS, LATER_COUNTS = 12, 8
POINTS = 2**20

# where the norm of the squares lies when the spreads are about right: ln(norm/√(3d)) and its prior mass
KNOTS = np.array([-8, -3, -1, -0.3, 0, 0.3, 0.6, 1, 2, 4, 8, 16])
MASS = np.array([0.02, 0.03, 0.1, 0.15, 0.2, 0.15, 0.15, 0.1, 0.06, 0.03, 0.01])


def private_spread(sample: Rows, center: FloatArray, design: Design, noise: MeteredNoise) -> FloatArray:
    """The root mean square distance to the centre, per column, in units of error_scale.

    Guarantee: (design.split.spread_bound + design.split.spread)-zCDP.  A wrong centre shows as a large spread:
    that column is then treated as noisy, and nothing blows up.
    """
    columns = design.columns
    smallest = columns.smallest_spread / columns.error_scale
    width = columns.width / columns.error_scale
    scale2 = np.ones(design.d)
    weight = np.zeros(design.d)
    weighted = np.zeros(design.d)
    for round_, share in enumerate(SHARES):
        view = Recentred(
            low=columns.low,
            high=columns.high,
            missing=columns.missing,
            center=center,
            factor=1.0 / (columns.error_scale * np.sqrt(scale2)),
        )
        if round_ == 0:
            ends = np.log([float(smallest.min()) ** 2 / 100.0, 1.01 * float(np.sqrt((width**4).sum()))])
            guess, counts = Guess(knots=ends, mass=np.ones(1)), FIRST_COUNTS
            typical = float(np.exp(ends[0]))
        else:
            typical = float(np.sqrt(3.0 * design.d)) + 3.0
            guess, counts = Guess(knots=np.log(typical) + KNOTS, mass=MASS), LATER_COUNTS
        cells = NormCells.around(
            typical,
            lowest=float(np.exp(guess.knots[0])),
            highest=float(np.exp(guess.knots[-1])),
            d=design.d,
            points=POINTS,
        )
        totals = cell_totals(sample, view, cells, squared=True)
        bound = private_tail_cell(
            totals,
            noise,
            prior=guess.over(cells.edges),
            tail=np.full(len(cells.edges), TAIL_SHARE * sample.n),
            shares=(Fraction(1, counts),) * counts,
            rho=design.split.spread_bound / len(SHARES),
            step="spread bound",
        )
        rho = design.split.spread * share
        moments = private_clipped_sum(totals, bound, noise, rho=rho, step="spread", nonnegative=True)
        noisy = moments.total / sample.n * scale2
        noise_std = moments.noise_std / sample.n * scale2
        weighted += noisy / noise_std**2
        weight += 1.0 / noise_std**2
        scale2 = posterior_moments(weighted / weight, 1.0 / np.sqrt(weight))
    spread = np.sqrt(scale2)
    return np.maximum(np.maximum(spread, FLOOR_SHARE * spread.mean()), FLOOR_SMALLEST * smallest)
