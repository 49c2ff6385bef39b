"""PLAN for rows that hold few items: baskets, clicks and counts (Algorithm 1 around zero, in two looks).

Values are never negative, so a row clipped to radius C moves a sum by √2·C and not by 2C; and since nothing is
recentred, an item that is not there costs nothing.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.data.sparse_rows import SparseRows
from plandp.mechanisms.item_rows import (
    ItemLattice,
    item_counts,
    largest_entry,
    norm_counts,
    norm_counts_held,
    private_filled_rows,
    private_group_sum,
    private_item_sum,
)
from plandp.mechanisms.tail_cell import NormCounts, private_tail_cell
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate
from plandp.steps.item_doubt import Look, clipping_doubt
from plandp.steps.item_radius import USUAL_INDEX, ItemRadius, private_item_radius
from plandp.steps.sparse_estimate import NoisyMeans, combined, hidden_by_noise, refined
from plandp.terms.sparse_design import SparseDesign
from plandp.theory.item_clipping import FIRST_BIAS, VALUES_LONG, left_bias, lost_share
from plandp.theory.item_doubts import Clipping
from plandp.theory.item_groups import corrections, groups_by_popularity
from plandp.theory.item_prior import shrunk
from plandp.theory.stretch import noise_error, norm
from plandp.theory.tail_search import Guess

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

POINTS = 2.0**16  # lattice points of a typical row; where items are there or not nothing is rounded but clipped rows
FIRST_POINTS = 2.0**10  # of the least item, in the first look
GROUP_POINTS = 2.0**20
FLOOR = 0.5  # of the noise: second moments below it cannot be told
LONGEST_GROUPED = 4.0  # rows with up to so many times the items of a clipped row count in full in their groups
CLIPPED_SHARE, CLIPPED_MOST = 0.02, 0.2  # of the rows that hold anything, in looks at values of unknown size
TOLD = 3.0  # standard deviations of noise: fewer rows are not aimed at
UNCLEAR_SHARE = 0.35  # of the coordinates of an unshaped look; the others shrink to nothing, and so does their noise
COUNTS = (Fraction(1, 10),) * 10
# of the first radius of values: how many rows hold any, and where they end, looked for twice, for bounds may be wide
FILLED, ZOOMS = Fraction(1, 5), (Fraction(2, 5), Fraction(2, 5))
ENOUGH_POINTS = 2.0**14  # of the first radius
REACH = 16.0
LONGER = 1.5  # times the radius: how large a value alone makes a row that is clipped
LOST_OF_FEW = 0.3  # of a row of two items that is clipped to one
LEAST = 1e-4  # of the noise: a mean that nobody could tell from none

# where the norms of stretched rows end: ln(norm / predicted root mean square) and its prior mass
KNOTS = np.array([-3.0, -1, 0, 0.5, 1, 1.5, 3, 5])
MASS = np.array([0.02, 0.1, 0.25, 0.25, 0.2, 0.13, 0.05])


def sparse_plan_mean(rows: SparseRows, design: SparseDesign, noise: MeteredNoise) -> Estimate:
    """Estimate the mean of sparse `rows`; each coordinate gets the noise that its second moment deserves.

    Guarantee: design.split.rho-zCDP when one row is replaced (n is public).  Proof: docs/proofs/sparse_plan_mean.md.
    """
    u, p, split = design.columns.error_scale, design.error_norm, design.split
    s = _stretch(design.columns.high**2, design)  # before anything is known, bounds are
    filled = float(design.n) if design.binary else _private_filled(rows, design, noise)
    counts = item_counts(rows) if design.binary else None  # stays inside: sums of whole rows follow from it
    C, first = _first_look(rows, s, filled, counts, design, noise)
    asked, design = design, _within_reach(design, C.value * s)
    learned = shrunk(first.mean / u, first.noise_std / u, error_norm=2.0)
    m = np.maximum(learned.mean * u, LEAST * first.noise_std)
    v, floor = (m, FLOOR * first.noise_std) if design.binary else _private_squares(rows, s, filled, design, noise)
    group = groups_by_popularity(m / u)
    typical = float(np.sqrt((v / s**2).sum()))
    items_of_clipped = (C.value / typical) ** 2 * (m / u).sum()
    totals = _private_groups(rows, m, group, LONGEST_GROUPED * float(items_of_clipped), counts, design, noise)
    # the groups follow the noise of the first look, what was learned from it does not
    lost = _lost(C, s, typical, design)
    given_back = corrections(m / u, learned.error_std, group, totals.mean, totals.noise_std, likely=lost)
    one = Look(clipped=first.per(u), corrected=first.times(given_back).per(u), clipping=_clipping(C, typical, design))
    s = _stretch(np.maximum(v, floor), design)  # line 3: Σ̂^(1/(p+2))
    typical = float(np.sqrt((v / s**2).sum()))
    V = POINTS / typical
    y = _lattice(V / s, design)  # line 5: x / s
    norms, held = (norm_counts(rows, y), None) if counts is None else norm_counts_held(rows, y, items=int(counts.sum()))
    told = np.minimum(1.0, m / (u * one.corrected.noise_std)) if "shrink" in design.refine else np.ones(design.d)
    radius = private_item_radius(  # line 6
        norms,
        noise,
        prior=Guess(knots=math.log(POINTS) + KNOTS, mass=MASS).over(norms.edges),
        start=1.5 * POINTS,
        worth=V * _worth(told * s, m, v / s**2, float(split.sum), design) / left_bias(design.d, binary=design.binary),
        most_lost=math.inf if design.binary else VALUES_LONG * POINTS,
        filled=filled,
        error_norm=p,
        rho=split.radius,
        step="radius",
    )
    if design.binary:
        # a row that holds one item, however rare, is not clipped: it would lose what is to be told
        y = _lattice(np.minimum(V / s, radius.value), design)
        s = V / y.weights
        radius = _clipping_worth_it(radius, y, float(split.sum), design)
    # lines 7–8
    total = private_item_sum(rows, y, radius.value, noise, rho=split.sum, step="sum", counts=counts, held=held)
    second = NoisyMeans(mean=total.total / design.n, noise_std=total.noise_std / design.n).per(u)
    radius = replace(radius, value=radius.value / V)
    lost = _lost(radius, s, typical, design)
    given_back = corrections(second.mean, second.noise_std, group, totals.mean, totals.noise_std, likely=lost)
    two = Look(clipped=second, corrected=second.times(given_back), clipping=_clipping(radius, typical, design))
    both = combined(one.corrected, two.corrected, design)
    doubt = clipping_doubt(
        one,
        two,
        group,
        totals,
        of_second=(both.noise_std / two.corrected.noise_std) ** 2,
        share=both.mean * u / np.minimum(design.columns.high, LONGER * radius.value * s),
        longest=LONGEST_GROUPED,
    )
    both = both.times(u)
    answer = hidden_by_noise(refined(both, doubt, asked), both, totals, asked)
    return Estimate(
        mean=answer.mean,
        noise_std=both.noise_std,
        center=np.zeros(design.d),
        spread=np.sqrt(v),
        radius=radius.value,
        unrefined=both.mean,
        error_std=answer.error_std,
        error=answer.error,
        warnings=answer.warnings,
    )


def _within_reach(design: SparseDesign, seen: FloatArray) -> SparseDesign:
    """The design with bounds no wider than `REACH` times what nearly all values were seen to be, for finer lattices."""
    if design.binary:
        return design
    high = np.minimum(design.columns.high, REACH * seen)
    return replace(design, columns=replace(design.columns, high=high))


def _clipping_worth_it(radius: ItemRadius, y: ItemLattice, rho: float, design: SparseDesign) -> ItemRadius:
    """The radius, or that of the longest row there can be, where its noise costs less than what clipping takes.

    With few items it is not much longer, and what clipping takes may all be one item's.
    """
    u, n = design.columns.error_scale, design.n
    longest = math.ceil(float(np.sqrt((y.weights**2).sum())))
    noise = noise_error(1.0 / y.weights / u, design.error_norm) / (math.sqrt(rho) * n)
    taken = radius.rows_above * max(radius.lost_of_rows, LOST_OF_FEW) / n / float(u.max())
    if noise * longest > math.hypot(noise * radius.value, taken):
        return radius
    return replace(radius, value=max(float(longest), radius.value), rows_above=0.0)


def _lost(radius: ItemRadius, s: FloatArray, typical: float, design: SparseDesign) -> float:
    """The share of all items that clipping is likely to take; none where no row can be longer than the radius."""
    longest = float(np.sqrt(((design.columns.high / s) ** 2).sum()))
    if radius.value >= longest:
        return 0.0
    return lost_share(radius.rows_above, radius.value / typical, radius.tail_index, n=design.n)


def _clipping(radius: ItemRadius, typical: float, design: SparseDesign) -> Clipping:
    return Clipping(
        rows_above=radius.rows_above / design.n, lost_of_rows=radius.lost_of_rows, longer=radius.value / typical
    )


def _lattice(weights: FloatArray, design: SparseDesign) -> ItemLattice:
    """The lattice of these weights; where items are there or not, no weight is below 1."""
    least = np.maximum(weights, 1.0) if design.binary else weights
    return ItemLattice.of(least, high=design.columns.high, n=design.n, values=not design.binary)


def _stretch(second_moment: FloatArray, design: SparseDesign) -> FloatArray:
    """s = (E[x²]·u^p)^(1/(p+2)): least p-th moment of noise/u under a given mean square of the norm (Appendix C)."""
    u = design.columns.error_scale
    return np.asarray(u * (second_moment / u**2) ** (1.0 / (design.error_norm + 2.0)))


def _worth(stretch: FloatArray, mean: FloatArray, share: FloatArray, rho: float, design: SparseDesign) -> float:
    """What a unit of radius costs in noise over what clipping costs in items per unit of norm, in the ℓp error.

    A row of norm N holds about N²·(items per squared norm) items; lost ones are as popular as others.
    """
    u, p = design.columns.error_scale, design.error_norm
    return noise_error(stretch / u, p) / math.sqrt(rho) * float(share.sum()) / norm(mean / u, p)


def _private_filled(rows: SparseRows, design: SparseDesign, noise: MeteredNoise) -> float:
    """About how many rows hold any value: where most are empty, few of all rows are many of them."""
    rho = FILLED * design.split.first_radius
    least = TOLD / math.sqrt(2.0 * float(rho))
    return min(max(private_filled_rows(rows, noise, rho=rho, step="first radius"), least), float(design.n))


def _first_look(
    rows: SparseRows,
    s: FloatArray,
    filled: float,
    counts: IntArray | None,
    design: SparseDesign,
    noise: MeteredNoise,
) -> tuple[ItemRadius, NoisyMeans]:
    """The radius, in stretched units, and the means of rows stretched by bounds alone."""
    found, y, V = (_first_items if design.binary else _first_values)(rows, s, filled, design, noise)
    rho = design.split.first_sum
    total = private_item_sum(rows, y, found.value, noise, rho=rho, step="first sum", counts=counts)
    means = NoisyMeans(mean=total.total / design.n, noise_std=total.noise_std / design.n)
    return replace(found, value=found.value / V), means


def _first_items(
    rows: SparseRows, s: FloatArray, filled: float, design: SparseDesign, noise: MeteredNoise
) -> tuple[ItemRadius, ItemLattice, float]:
    """The first radius of items that are there or not, their lattice and its points per stretched unit."""
    d, u, split = design.d, design.columns.error_scale, design.split
    V = min(FIRST_POINTS * float(s.max()), _fitting(s, design))
    y = _lattice(V / s, design)
    norms = norm_counts(rows, y)
    told = UNCLEAR_SHARE if "shrink" in design.refine and design.error_norm == 1.0 else 1.0
    # how popular items are is not known: between all alike and one that has it all
    alike = d ** (-0.5 * (1.0 + 1.0 / design.error_norm)) * float((1.0 / u).mean()) * u
    found = private_item_radius(
        norms,
        noise,
        prior=_anywhere(norms, y, design),
        start=2.0 * float(y.weights.mean()),
        worth=V * _worth(told * s, alike, 1.0 / s**2 / d, float(split.first_sum), design) / FIRST_BIAS,
        filled=filled,
        error_norm=design.error_norm,
        rho=split.first_radius,
        step="first radius",
    )
    return _clipping_worth_it(found, y, float(split.first_sum), design), y, V


def _first_values(
    rows: SparseRows, s: FloatArray, filled: float, design: SparseDesign, noise: MeteredNoise
) -> tuple[ItemRadius, ItemLattice, float]:
    """As `_first_items` for values: on a lattice over the bounds, then on one as fine as what was found there."""
    y, V, bound, above, zoom = _lattice(s, design), _fitting(s, design), 1.0, 1.0, 1.0
    for share in ZOOMS:
        V *= zoom
        y = _lattice(V / s, design)  # what is beyond its largest entry counts as that
        norms = norm_counts(rows, y)
        rho, prior = share * design.split.first_radius, _anywhere(norms, y, design)
        bound, above = _private_bound(norms, prior, filled, noise, rho=rho, step="first radius")
        zoom = max(1.0, ENOUGH_POINTS / bound)
    usual = ItemRadius(
        value=bound,
        rows_above=above,
        tail_index=USUAL_INDEX,
        lost_of_rows=1.0 / (USUAL_INDEX + 1.0),
    )
    return usual, y, V


def _fitting(s: FloatArray, design: SparseDesign) -> float:
    """The most points per stretched unit with which every value within the bounds fits the lattice."""
    return float((largest_entry(n=design.n, d=design.d) * s / design.columns.high).min())


def _anywhere(norms: NormCounts, y: ItemLattice, design: SparseDesign) -> FloatArray:
    """Nothing is known about norms but that they are within the bounds."""
    longest = min(float(np.sqrt(((y.weights * design.columns.high) ** 2).sum())) * 1.5, float(norms.edges[-1]))
    ends = np.array([float(norms.edges[0]) / 2.0, longest])
    return Guess(knots=np.log(ends), mass=np.ones(1)).over(norms.edges)


def _private_squares(
    rows: SparseRows, s: FloatArray, filled: float, design: SparseDesign, noise: MeteredNoise
) -> tuple[FloatArray, FloatArray]:
    """Second moments from their own query, and what of them cannot be told from noise."""
    n, d, high, u = design.n, design.d, design.columns.high, design.columns.error_scale
    V = float((largest_entry(n=n, d=d) * (s / high) ** 2).min())
    squares = ItemLattice.of(V / s**2, high=high, n=n, squared=True, values=True)
    norms = norm_counts(rows, squares)
    ends = np.log([float(norms.edges[0]) / 2.0, float(norms.edges[-1])])
    prior = Guess(knots=ends, mass=np.ones(1)).over(norms.edges)
    bound, _ = _private_bound(norms, prior, filled, noise, rho=design.split.squares_radius, step="squares radius")
    total = private_item_sum(rows, squares, bound, noise, rho=design.split.squares, step="squares")
    noisy, deviation = total.total / n, total.noise_std / n
    moment = shrunk(noisy / u**2, deviation / u**2, error_norm=2.0).mean * u**2
    return np.maximum(moment, LEAST * deviation), FLOOR * deviation


def _private_bound(
    norms: NormCounts, prior: FloatArray, filled: float, noise: MeteredNoise, *, rho: Fraction, step: str
) -> tuple[float, float]:
    """The norm that a small share of the rows that hold anything exceeds, and how many these are."""
    told = TOLD / math.sqrt(2.0 * float(rho))
    tail = max(CLIPPED_SHARE * filled, min(told, CLIPPED_MOST * filled), 1.0)
    found = private_tail_cell(norms, noise, prior=prior, tail=tail, shares=COUNTS, rho=rho, step=step)
    return float(norms.edges[found.cell]), tail


def _private_groups(
    rows: SparseRows,
    mean: FloatArray,
    group: IntArray,
    longest: float,
    counts: IntArray | None,
    design: SparseDesign,
    noise: MeteredNoise,
) -> NoisyMeans:
    """The mean number of items of every group, in units of error_scale, hardly clipped: few sums need little noise.

    `longest` is the number of items from which on a row is clipped, if its items are as popular as all are.
    """
    u = design.columns.error_scale
    expected = np.bincount(group, mean / u)
    radius = longest / math.sqrt(float(expected.sum()))  # of rows divided by the square root of what is expected
    most = float(largest_entry(n=design.n, d=design.d))
    usual = radius * np.sqrt(expected)
    if design.binary:
        np.maximum.at(usual, group, 1.0 / u)  # one item alone is not clipped
    # no weight of items is beyond what a lattice takes
    points = min(GROUP_POINTS, most * float(usual.min())) if design.binary else GROUP_POINTS
    weights = points / usual
    weights = np.where(weights >= 1.0, np.floor(weights), weights)
    lattice = _lattice(weights[group] / u, design)
    rho = design.split.groups
    total = private_group_sum(rows, lattice, group, weights, points, noise, rho=rho, step="groups", counts=counts)
    return NoisyMeans(mean=total.total / design.n, noise_std=total.noise_std / design.n)
