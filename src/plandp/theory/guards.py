"""Guard rails: what released numbers say about whether a release can be trusted.  Post-processing, costs nothing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import Label
from plandp.terms.design import Design
from plandp.theory.wide_search import radius_is_told

FloatArray = NDArray[np.float64]

# a mean lies within .71 of the spread around the median from it, and almost a whole spread, found to 5%, from a lost
# centre
LOST_SPREADS, LOST_NOISES = 0.9, 4.0
# radius over that of Gaussian rows; more is needed where few columns decide the norm
HEAVY, HEAVY_ALONE = 1.3, 0.45
# radius over predicted norm, and the other way round
FARTHEST = 50.0
# factor between the radii that the counts leave open
OPEN = 4.0
# least healthy share of ρ for the noise of the sum
STARVED = 0.75
# share of all items
HIDDEN = 0.5
SHOWN = 5


def lost_centers(
    mean: FloatArray, center: FloatArray, spread: FloatArray, noise_std: FloatArray, labels: Sequence[Label]
) -> tuple[str, ...]:
    """Columns whose estimate lies far from the centre that was found: the centre was probably lost."""
    lost = np.flatnonzero(np.abs(mean - center) > LOST_SPREADS * spread + LOST_NOISES * noise_std)
    if not len(lost):
        return ()
    return (
        f"the centre of {len(lost)} column(s) was probably lost ({_named(lost, labels)}): these estimates are off by "
        "more than the noise says; more rows, a larger rho or tighter bounds help",
    )


def all_missing(
    mean: FloatArray, center: FloatArray, noise_std: FloatArray, empty: NDArray[np.bool_], labels: Sequence[Label]
) -> tuple[str, ...]:
    """Columns in which neither a centre nor a spread was seen, and whose estimate is the centre all the same."""
    still = np.flatnonzero(empty & (np.abs(mean - center) <= LOST_NOISES * noise_std))
    if not len(still):
        return ()
    return (
        f"{len(still)} column(s) seem to hold nothing but missing values ({_named(still, labels)}): such an estimate "
        "means nothing, however narrow its interval.  In CSV files text is missing: write yes and no as 1 and 0",
    )


def clipping_bias(radius: float, gaussian_radius: float, effective_dimension: float) -> tuple[str, ...]:
    """Rows reach much further out than Gaussian rows of the same spread would: clipping bias is likely."""
    if radius <= (HEAVY + HEAVY_ALONE / np.sqrt(effective_dimension)) * gaussian_radius:
        return ()
    return (
        f"the rows have heavy tails (clipping radius {radius / gaussian_radius:.1f} times that of Gaussian rows): "
        "clipping may bias the estimate by as much as the noise, or more, and the noise does not show it",
    )


def radius_at_the_edge(radius: float, typical_norm: float) -> tuple[str, ...]:
    """The radius is about the smallest or largest that was looked at: the spreads do not describe the rows."""
    if typical_norm / FARTHEST < radius < FARTHEST * typical_norm:
        return ()
    return ("the clipping radius lies at the end of its range: the spreads do not describe the rows",)


def too_few_rows(design: Design, *, spreads_wanted: bool = True) -> tuple[str, ...]:
    """Public: known before any row is read.  Methods that never look for spreads do not miss them."""
    if not design.split.center:
        return (
            "too few rows to find the centres of the columns at this rho: the middle of the bounds was used, and the "
            "estimate leans towards it by more than the noise says; more rows, fewer columns or a larger rho help",
        )
    if spreads_wanted and design.d > 1 and not design.split.spread and design.columns.spread is None:
        return (
            "too few rows to find the spreads of the columns at this rho: the noise is shaped by the bounds alone; "
            "more rows, a larger rho or a publicly known spread help",
        )
    if design.split.sum < STARVED * design.split.rho:
        return (
            f"only {float(design.split.sum / design.split.rho):.0%} of rho is left for the final noise: n is small for "
            "this rho and this number of columns",
        )
    return ()


def untold_radius(design: Design, open_factor: float = 1.0) -> tuple[str, ...]:
    """Where no spreads are known: too few rows to tell a radius, which is public, or released counts that do not."""
    if not design.split.center:
        return ()  # told by `too_few_rows`, and worse
    if not radius_is_told(design):
        return (
            "too few rows to find the clipping radius at this rho: the noise may be far larger than the rows need, or "
            "most of them clipped; more rows, a larger rho, tighter bounds or a publicly known spread help",
        )
    if open_factor > OPEN:
        return (
            f"the clipping radius is uncertain by a factor of {open_factor:.3g}: the noise may be far larger than the "
            "rows need, or rare values clipped; more rows, a larger rho or tighter bounds help",
        )
    return ()


def items_untold(*, hidden: float, error: float, told: bool) -> tuple[str, ...]:
    """Noise hides all items (`told` is false), or most of them.

    `hidden` is the share of what rows hold that is certainly in no mean, `error` the error to expect over the size of
    all means.
    """
    if not told:
        return (
            "no mean can be told from 0.  If that is not what you expect: few rows or a small rho hide items; in an "
            "event table ids and items match by their exact text, upper and lower case and spaces included",
        )
    if hidden > HIDDEN:
        return (
            f"at least {hidden:.0%} of what rows hold is in items too rare to be told from noise: their means are "
            "close to 0, and together far too low; more rows, a larger rho or a list of fewer items help",
        )
    if error > HIDDEN:
        return (
            f"the error to expect is {error:.0%} of all means together: the most popular items are told from noise, "
            "and most others are not; more rows, a larger rho or a list of fewer items help",
        )
    return ()


def _named(columns: NDArray[np.intp], labels: Sequence[Label]) -> str:
    return ", ".join(str(labels[i]) or "the one without a name" for i in columns[:SHOWN]) + (
        ", …" if len(columns) > SHOWN else ""
    )
