"""How the budget is divided and how many rows the rough steps read, from public numbers alone.

Budgets of d parallel counts are reckoned in cn = m·√(2ρ/d): how many noise standard deviations m rows are.
The constants were fitted to the lowest error of the whole; docs/decisions/0003-budget-split.md says how.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from plandp.terms.columns import Columns
from plandp.terms.design import Design, Split
from plandp.theory.wide_search import wide_radius_share

GRAIN = 2**30  # shares of ρ are whole multiples of ρ/2^30, so that they are exact and add up

TYPICAL_OVER_SMALLEST = 16.0  # the spread planned for, in smallest spreads that matter
LOST_CENTERS = 0.01  # expected number of lost centres planned for
# all rough steps together take at most a third of ρ, so that the noise stays below 1.25 times that of all of it
CENTER_SHARE, CENTER_SHARE_MOST, CENTER_ENOUGH = 0.015, 0.22, 36.0
CENTER_CHEAP = 0.01  # of ρ: rows that would save less than that are not worth the time of reading them
CENTER_HOPELESS = 0.6  # of the cn needed: below it the search finds nothing worth its price
SPREAD_SHARE, SPREAD_SHARE_MOST = 0.015, 0.065
SPREAD_SHARE_OF_SAMPLE = 0.0213  # at most, where reading more rows could be had instead
BOUND_SHARE, BOUND_SHARE_MOST = 0.003, 0.015
BOUND_HOPELESS = 1 / 230.0  # with fewer than 230/√ρ rows one count's noise is 15% of them: no bound is found
RADIUS_SHARE = 0.03
ROUNDS_PER_BIT = 1.6  # noisy counts for every halving of the range; more cost time and hardly sharpen a centre
SMALLEST_SAMPLE = 4096
HELD_VALUES = 3 * 2**24  # so many values of a file are held, and more are read again and again
SPREAD_VALUES = 2**25  # a sample of more, 256 MB, would be held for spreads that are known to a percent already
SAMPLE_WORTH_IT = 0.7  # a sample larger than this part of the rows saves nothing
MOST_LATTICE_POINTS = 2**30  # Σq² then stays below 2^61 (docs/proofs/clipped_sum.md)
FEWEST_LATTICE_POINTS = 2**20


def plan_design(*, n: int, columns: Columns, rho: Fraction, error_norm: float, sampled: bool = True) -> Design:
    """The design of PLAN: rough centre and spread first, nearly all of ρ for the noise of the sum.

    Where rows have no public numbers none can be `sampled`: centre and spread then read all of them.
    """
    m, stride = _rough_rows(n, columns, float(rho), sampled)
    unit, unit_all = columns.d / (2.0 * m * m), columns.d / (2.0 * n * n)
    center = _center_share(columns, float(rho), unit * stride**2)
    spread = bound = 0.0
    shaped = columns.d > 1  # one column has no shape to find
    if shaped and center and columns.spread is None and BOUND_HOPELESS * m * math.sqrt(rho) > 1.0:
        spread = max(SPREAD_SHARE, unit * math.sqrt(4.0 / (float(rho) * unit_all)))
        bound = max(BOUND_SHARE, 12.0 / ((0.03 * m) ** 2 * float(rho)))
    near = center and (spread or columns.spread is not None)  # spreads tell about where the radius lies
    return _design(
        n=n,
        columns=columns,
        error_norm=error_norm,
        sample_size=m,
        center_stride=stride,
        split=exact_split(
            rho,
            center=center,
            spread_bound=min(bound, BOUND_SHARE_MOST),
            spread=min(spread, SPREAD_SHARE_MOST if m == n else SPREAD_SHARE_OF_SAMPLE),
            radius=RADIUS_SHARE if near else wide_radius_share(n=n, d=columns.d, rho=float(rho)),
        ),
    )


def unscaled_design(*, n: int, columns: Columns, rho: Fraction, error_norm: float, sampled: bool = True) -> Design:
    """The design of the unscaled method: centre and radius, no spreads."""
    m, stride = _rough_rows(n, columns, float(rho), sampled)
    center = _center_share(columns, float(rho), columns.d * stride**2 / (2.0 * m * m))
    wide = wide_radius_share(n=n, d=columns.d, rho=float(rho))
    split = exact_split(rho, center=center, spread_bound=0.0, spread=0.0, radius=wide)
    return _design(n=n, columns=columns, error_norm=error_norm, sample_size=m, center_stride=stride, split=split)


def gaussian_design(*, n: int, columns: Columns, rho: Fraction, error_norm: float) -> Design:
    """The design of the Gaussian mechanism: all of ρ for the noise of the sum."""
    split = exact_split(rho, center=0.0, spread_bound=0.0, spread=0.0, radius=0.0)
    return _design(n=n, columns=columns, error_norm=error_norm, sample_size=n, center_stride=1, split=split)


def iome_design(
    *, n: int, columns: Columns, rho: Fraction, error_norm: float, steps: int, radius_share: Fraction
) -> Design:
    """The design of IOME: a quarter of ρ for the centre, `radius_share` of the rest for the radius."""
    center = rho / 4
    radius = (rho - center) * radius_share
    zero = Fraction(0)
    split = Split(center=center, spread_bound=zero, spread=zero, radius=radius, sum=rho - center - radius)
    whole = _design(n=n, columns=columns, error_norm=error_norm, sample_size=n, center_stride=1, split=split)
    return replace(whole, center_rounds=steps)


def coinpress_design(*, n: int, columns: Columns, rho: Fraction, error_norm: float, steps: int) -> Design:
    """The design of CoinPress: three quarters of ρ for the last step, the rest evenly for those before it."""
    early = steps - 1
    center = rho / 4 if early else Fraction(0)
    zero = Fraction(0)
    split = Split(center=center, spread_bound=zero, spread=zero, radius=zero, sum=rho - center)
    whole = _design(n=n, columns=columns, error_norm=error_norm, sample_size=n, center_stride=1, split=split)
    return replace(whole, center_rounds=early)


def center_need(columns: Columns) -> float:
    """The cn at which all centres are found but for LOST_CENTERS of them."""
    typical = TYPICAL_OVER_SMALLEST * columns.smallest_spread
    decades = float(np.log((columns.width / typical).max()))
    return 4.6 * math.sqrt(max(decades, 0.0) + math.log(columns.d / LOST_CENTERS))


def sample_size(n: int, columns: Columns, rho: float) -> int:
    """How many rows centre and spread read: enough that more would not make the result better.

    Or as many as can be held, where the usual share of ρ still finds all centres by them.  All rows, where that saves
    little: but for tables that cannot be held themselves, which are read again and again then.
    """
    d = columns.d
    rows_per_cn = math.sqrt(d / (2 * CENTER_SHARE * rho))
    for_spread = min((rho * n * n / (4.0 * d)) ** 0.25 * rows_per_cn, SPREAD_VALUES / d)
    m = int(max(CENTER_ENOUGH * rows_per_cn, for_spread, SMALLEST_SAMPLE))
    held = HELD_VALUES // d
    if max(center_need(columns) * rows_per_cn, SMALLEST_SAMPLE) <= held < n:
        return min(m, held)
    return m if m <= SAMPLE_WORTH_IT * n else n


def center_stride(m: int, d: int, rho: float) -> int:
    """Every how many rows of the sample the centre reads: all, unless fewer are enough at a small price."""
    enough = CENTER_ENOUGH * math.sqrt(d / (2 * CENTER_CHEAP * rho))
    return max(1, int(m / max(enough, SMALLEST_SAMPLE)))


def _rough_rows(n: int, columns: Columns, rho: float, sampled: bool) -> tuple[int, int]:
    """How many rows the rough steps read, and every how many of them the centre does."""
    if not sampled:
        return n, 1
    m = sample_size(n, columns, rho)
    return m, center_stride(m, columns.d, rho)


def exact_split(rho: Fraction, *, center: float, spread_bound: float, spread: float, radius: float) -> Split:
    """Exact shares of ρ, rounded up (a step that is planned is paid for); what is left goes to the noise of the sum."""
    parts = [rho * Fraction(math.ceil(share * GRAIN), GRAIN) for share in (center, spread_bound, spread, radius)]
    return Split(
        center=parts[0],
        spread_bound=parts[1],
        spread=parts[2],
        radius=parts[3],
        sum=rho - sum(parts, Fraction(0)),
    )


def lattice_points(n: int, rho: float) -> int:
    """Lattice points per norm that most rows stay below: rounding, were it all one way, stays below 1/64 of the noise.

    n rows rounded alike are off by n/2 steps; the noise is about 2·points/√(2ρ) steps, or 1/√2 of it (`MOST_UP_TO`).
    """
    wanted = 32.0 * n * math.sqrt(rho)
    power = math.ceil(math.log2(max(wanted, 1.0)))
    # the radius R of `mechanisms/clipped_sum.py` is up to 2^8 times as many steps, and 2R²/rho must stay below 2^96
    drawn = 1 << max(math.floor((94.0 + math.log2(rho)) / 2.0) - 8, 0)
    return max(min(1 << power, drawn, MOST_LATTICE_POINTS), FEWEST_LATTICE_POINTS)


def _center_share(columns: Columns, rho: float, unit: float) -> float:
    """The share of ρ for the centres; 0 when even the largest share would not find them."""
    needed = center_need(columns) ** 2 * unit / rho
    if CENTER_HOPELESS**2 * needed > CENTER_SHARE_MOST:
        return 0.0
    return min(max(needed, min(CENTER_SHARE, CENTER_ENOUGH**2 * unit / rho)), CENTER_SHARE_MOST)


def _design(
    *, n: int, columns: Columns, error_norm: float, sample_size: int, center_stride: int, split: Split
) -> Design:
    finest = float((columns.width / columns.smallest_spread).max())
    return Design(
        n=n,
        columns=columns,
        error_norm=error_norm,
        split=split,
        sample_size=sample_size,
        center_stride=center_stride,
        center_rounds=max(4, math.ceil(ROUNDS_PER_BIT * math.log2(finest))),
        lattice_points=lattice_points(n, float(split.sum)),
    )
