"""§6: private spreads σ̂ around the centre, from clipped sums of squares that are rescaled round by round."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import NoisySum, private_clipped_sum
from plandp.mechanisms.norm_cells import NormCells, cell_totals
from plandp.mechanisms.tail_cell import private_tail_cell
from plandp.noise.meter import MeteredNoise
from plandp.steps.radius import stretched_view
from plandp.terms.design import Design
from plandp.theory.moment_prior import posterior_moments
from plandp.theory.tail_search import Guess

FloatArray = NDArray[np.float64]

SHARES = (Fraction(3, 20), Fraction(1, 5), Fraction(13, 20))  # of the budget, per round
FLOOR_SHARE = 0.03  # of the mean spread: less would buy nothing
FLOOR_SMALLEST = 1.0 / 16.0  # of the smallest spread that matters
CLIPPED_SHARE = 0.03  # of the rows have their squares clipped
COUNTS = (9, 6, 6)  # noisy counts per round to find where squares are clipped: fewer lose norms that sit on two values
CAUTION = (0.9, 0.5, 0.5)  # clipped too late, squares cost noise; too early, a rare value would seem to have no spread
# a mean of squares below so many standard deviations of its noise, and far below the others, may as well be zero
UNSEEN_NOISES, UNSEEN_SHARE = 3.0, 0.1
POINTS = 2**16  # lattice points: spreads need a few percent only
PER_OCTAVE = 8  # cells per doubling: the bound of the squares may be off by a few percent

# where the norm of the squares lies when the spreads are about right: ln(norm / √(3d)) and its prior mass
KNOTS = np.array([-8, -3, -1, -0.3, 0, 0.3, 0.6, 1, 2, 4, 8, 16])
MASS = np.array([0.02, 0.03, 0.1, 0.15, 0.2, 0.15, 0.15, 0.1, 0.06, 0.03, 0.01])


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """§6's σ̂ in units of error_scale, and where it may as well be zero, as no spread was seen; all released."""

    value: FloatArray
    unseen: NDArray[np.bool_]

    @classmethod
    def known(cls, value: FloatArray) -> "Spread":
        """Publicly known spreads, which nobody looked for."""
        return cls(value=value, unseen=np.zeros(len(value), dtype=bool))


def private_spread(sample: Rows, center: FloatArray, design: Design, noise: MeteredNoise) -> Spread:
    """The root mean square distance to the centre, per column, in units of error_scale.

    Guarantee: (design.split.spread_bound + design.split.spread)-zCDP.  A lost centre shows as a large spread:
    that column is then treated as a noisy one, and nothing blows up.
    """
    columns = design.columns
    smallest = columns.smallest_spread / columns.error_scale
    scale = columns.width / columns.error_scale  # before anything is known, bounds make columns comparable
    guess = _anything(smallest / scale)
    weight, weighted = np.zeros(design.d), np.zeros(design.d)
    for share, counts, caution in zip(SHARES, COUNTS, CAUTION, strict=True):
        squares = _private_squares(sample, center, scale, guess, counts, caution, design, noise, share)
        noise_std = squares.noise_std / sample.n * scale**2
        weighted += squares.total / sample.n * scale**2 / noise_std**2
        weight += 1.0 / noise_std**2
        scale = np.sqrt(posterior_moments(weighted / weight, 1.0 / np.sqrt(weight)))
        guess = Guess(knots=np.log(np.sqrt(3.0 * design.d) + 3.0) + KNOTS, mass=MASS)
    return Spread(
        value=np.asarray(np.maximum(np.maximum(scale, FLOOR_SHARE * scale.mean()), FLOOR_SMALLEST * smallest)),
        unseen=np.asarray(
            (weighted < UNSEEN_NOISES * np.sqrt(weight)) & (scale < UNSEEN_SHARE * scale.mean()) | (scale <= smallest)
        ),
    )


def _private_squares(
    sample: Rows,
    center: FloatArray,
    scale: FloatArray,
    guess: Guess,
    counts: int,
    caution: float,
    design: Design,
    noise: MeteredNoise,
    share: Fraction,
) -> NoisySum:
    """Σ ((x - center)/scale)², the vectors of squares clipped where 3% of the rows exceed them."""
    lowest, highest = float(np.exp(guess.knots[0])), float(np.exp(guess.knots[-1]))
    cells = NormCells.around(lowest, lowest=lowest, highest=highest, d=design.d, points=POINTS, per_octave=PER_OCTAVE)
    totals = cell_totals(sample, stretched_view(center, scale, design), cells, squared=True)
    bound = private_tail_cell(
        totals.norms,
        noise,
        prior=guess.over(cells.edges),
        tail=CLIPPED_SHARE * sample.n,
        shares=(Fraction(1, counts),) * counts,
        rho=design.split.spread_bound / len(SHARES),
        step="spread bound",
        caution=caution,
    ).cell
    rho = design.split.spread * share
    return private_clipped_sum(totals, bound, noise, rho=rho, step="spread", nonnegative=True)


def _anything(smallest: FloatArray) -> Guess:
    """Squares in units of the widths, from far below the smallest spread to the whole box."""
    return Guess.up_to(1.01 * float(np.sqrt(len(smallest))), lowest=float(smallest.min()) ** 2 / 100.0, near=12.0)
