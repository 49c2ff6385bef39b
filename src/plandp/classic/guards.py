"""What public and released numbers say about whether a release by Algorithm 1 can be trusted.  Costs nothing."""

from math import sqrt

from plandp.classic.parts import Parts
from plandp.classic.search_lattice import search_lattice
from plandp.terms.design import Design

MOST_RANK_ERROR = 0.1  # of the numbers: the paper's advice ("Choosing valid settings")
MOST_CLIPPED = 0.5  # of the rows
USUAL_CELLS = 2.0**13  # of a search up to the norm of well-concentrated rows
AT_THE_END = 1.0 - 2.0**-8  # of the universe


def large_rank_errors(design: Design, parts: Parts) -> tuple[str, ...]:
    """Public: the rank errors to expect of centres and spreads, where they are above a tenth of the numbers ranked."""
    found = []
    for what, share in rank_error_shares(design, parts).items():
        if share > MOST_RANK_ERROR:
            found.append(
                f"the ranks of the {what} may be off by {min(share, 1.0):.0%} of their numbers, and Algorithm 1 needs "
                "10% or less: more rows, fewer columns or a larger rho help, and so does method='plan'"
            )
    return tuple(found)


def rank_error_shares(design: Design, parts: Parts) -> dict[str, float]:
    """Public: the rank error of each search for centres and spreads over the numbers that are ranked."""
    columns, third = design.columns, parts.failure_probability / 3.0
    finest = parts.small_spread.finest(None, design)
    cells = float(search_lattice(columns.low, columns.high, 2.0 * finest).cells[0])
    error = parts.quantile.rank_error(cells=cells, columns=design.d, rho=float(design.split.center), failure=third)
    shares = {"centres": error / design.n}
    if design.split.spread:
        shares["spreads"] = parts.spread.rank_error(finest, parts.quantile, design, failure=third)
    return shares


def rows_to_clip(*, cells: float, design: Design, parts: Parts) -> float:
    """Line 3: k = √n + rank error of the search for the radius, at most half of the rows, or no quantile were left."""
    rank_error = parts.quantile.rank_error(
        cells=cells, columns=1, rho=float(design.split.radius), failure=parts.failure_probability / 3.0
    )
    return min(sqrt(design.n) + rank_error, MOST_CLIPPED * design.n)


def usual_rows_to_clip(design: Design, parts: Parts) -> float:
    """Public: about the k of line 3 before the universe is known."""
    return rows_to_clip(cells=USUAL_CELLS, design=design, parts=parts)


def radius_at_the_end(radius: float, *, universe: float, longest: float) -> tuple[str, ...]:
    """The released radius is the largest that was looked at, though rows within the bounds may be longer."""
    if universe >= longest or radius < AT_THE_END * universe:
        return ()
    return ("the clipping radius lies at the end of its range: the spreads do not describe the rows",)
