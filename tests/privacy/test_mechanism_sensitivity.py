"""The stated squared sensitivity of every query is kept by the machine's own arithmetic, and no larger than needed.

Queries are caught at the door, before noise, for two tables that differ in one row; both get the same answers.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbouring import AWKWARD, RecordingDoor, furthest, moved, rows_of, signed_view, worst_counts, worst_sum

from plandp.mechanisms.clipped_sum import cell_weights, finer_bits, private_clipped_sum
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import lattice_keys, private_counts_below
from plandp.mechanisms.norm_cells import CellSums, NormCells, cell_totals
from plandp.mechanisms.read_again import ReadAgain
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.tail_cell import FINER_AND_FINER, private_rows_above, private_tail_cell
from plandp.methods import NAMES, find_estimator
from plandp.terms.columns import read_columns
from plandp.theory.bisection import MedianPosterior
from plandp.theory.search_stage import Stage

NEAR = Fraction(95, 100)  # a stated bound that were 5% too small would be seen
METHODS = NAMES  # every method that there is passes the common battery

cell = st.one_of(st.sampled_from(AWKWARD), st.floats(-2, 2), st.floats(allow_nan=True, allow_infinity=True))


@st.composite
def neighbours(draw: st.DrawFn, most_rows: int = 6, most_columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """A small table of awkward values, and the same with one row replaced."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, most_columns))
    table = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    other = table.copy()
    other[draw(st.integers(0, n - 1))] = draw(st.lists(cell, min_size=d, max_size=d))
    return table, other


# --- the worst case is allowed for, and reached


def test_counts_move_by_exactly_what_is_stated() -> None:
    assert worst_counts() == 1


@pytest.mark.parametrize("nonnegative", [False, True])
def test_sums_move_by_what_is_stated_and_no_more(nonnegative: bool) -> None:
    assert NEAR < worst_sum(nonnegative=nonnegative) <= 1


def test_a_count_by_norm_moves_by_exactly_one() -> None:
    cells = NormCells.around(1.0, lowest=0.5, highest=8.0, d=1, points=2**20)
    n_cells = len(cells.edges)

    def run(table: object, door: RecordingDoor) -> None:
        totals = cell_totals(rows_of(table), signed_view(1), cells)
        prior = np.full(n_cells, 1.0)
        private_tail_cell(
            totals.norms, door, prior=prior, tail=1.0, shares=FINER_AND_FINER, rho=Fraction(1), step="tail"
        )
        private_rows_above(totals.norms, n_cells // 2, door, rho=Fraction(1), step="tail")

    short, long = np.full((40, 1), 0.1), np.full((40, 1), 0.1)
    long[7] = 100.0
    ratios = moved(run, short, long)
    assert len(ratios) == len(FINER_AND_FINER) + 1
    assert furthest(ratios) == {"tail": 1}


# --- no neighbours go further


@settings(max_examples=150, deadline=None, derandomize=True)
@given(pair=neighbours(), place=st.floats(0, 1), public_missing=st.booleans(), finest=st.sampled_from([5, 31, 44]))
def test_counts_of_awkward_rows(pair: tuple, place: float, public_missing: bool, finest: int) -> None:
    d = pair[0].shape[1]
    columns = read_columns(labels=range(d), bounds=(-1, 1), smallest_spread=2.0**-finest)
    lattice = Lattice.of(columns)
    # thresholds that no search asks for are in it too: the bound holds for any
    threshold = np.floor(lattice.cells * np.linspace(place, 1.2 * place, d))

    def run(table: object, door: RecordingDoor) -> None:
        keys = lattice_keys(rows_of(table), lattice, np.full(d, 0.25) if public_missing else None)
        private_counts_below(keys, threshold, door, rho=Fraction(1), step="counts")

    assert furthest(moved(run, *pair))["counts"] <= 1


@settings(max_examples=100, deadline=None, derandomize=True)
@given(pair=neighbours(), share=st.floats(0, 1), public_missing=st.booleans(), finest=st.sampled_from([5, 31, 44]))
def test_counts_between_points_of_awkward_rows(pair: tuple, share: float, public_missing: bool, finest: int) -> None:
    d = pair[0].shape[1]
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(-1, 1), smallest_spread=2.0**-finest))
    stage = Stage.of(MedianPosterior.uniform(lattice.cells), 9)
    threshold = stage.points()[:, round(share * 8)]

    def run(table: object, door: RecordingDoor) -> None:
        keys = ReadAgain(rows=rows_of(table), lattice=lattice, missing=np.full(d, 0.25) if public_missing else None)
        private_counts_below(keys.within(stage), threshold, door, rho=Fraction(1), step="counts")

    assert furthest(moved(run, *pair))["counts"] <= 1


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    pair=neighbours(),
    squared=st.booleans(),
    place=st.floats(0, 1),
    points=st.sampled_from([2**4, 2**20, 2**30]),
    factor=st.sampled_from([1.0, 1e-3, 2.0**-149, 2.0**100, 1e300, 1.7e308]),
    typical=st.sampled_from([1.0, 1e-12, 2.0**-149, 2.0**100]),
)
def test_sums_of_awkward_rows(
    pair: tuple, squared: bool, place: float, points: int, factor: float, typical: float
) -> None:
    # the norms in the cells and the lengths of the rows need not fit: longer rows are clipped, endless ones dropped
    d = pair[0].shape[1]
    view = Recentred(
        low=np.full(d, -1.0), high=np.ones(d), missing=None, center=np.full(d, 0.125), factor=np.full(d, factor)
    )
    cells = NormCells.around(typical, lowest=typical / 64, highest=typical * 64, d=d, points=points)
    radius_cell = round(place * (len(cells.edges) - 1))

    def run(table: object, door: RecordingDoor) -> None:
        totals = cell_totals(rows_of(table), view, cells, squared=squared)
        private_clipped_sum(totals, radius_cell, door, rho=Fraction(1), step="sum", nonnegative=squared)

    assert furthest(moved(run, *pair))["sum"] <= 1


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    pair=neighbours(most_rows=5, most_columns=3), method=st.sampled_from(METHODS), p=st.sampled_from([1.0, 2.0, 50.0])
)
def test_no_query_of_a_whole_run_goes_further(pair: tuple, method: str, p: float) -> None:
    n, d = pair[0].shape
    columns = read_columns(labels=range(d), bounds=(-1, 1), smallest_spread=2.0**-5)
    estimator = find_estimator(method)
    design = estimator.plan(n=n, columns=columns, rho=Fraction(10**6), error_norm=p)

    def run(table: object, door: RecordingDoor) -> None:
        estimator.run(rows_of(table), design, door)

    found = furthest(moved(run, *pair))
    if method == "plan":  # one column has no shape, so no spread is looked for
        shape = {"spread bound", "spread"} if d > 1 else set()
        assert set(found) == {"center", "radius", "sum"} | shape
    assert max(found.values()) <= 1


def test_the_worst_rows_of_a_whole_run_come_close_in_every_step() -> None:
    # A row that sits in one corner of the box, all others around zero, against the opposite corner.
    rng = np.random.default_rng(3)
    table = np.clip(rng.normal(0, 0.1, (400, 3)), -1, 1)
    other = table.copy()
    table[0], other[0] = -1.0, 1.0
    columns = read_columns(labels=range(3), bounds=(-1, 1), smallest_spread=2.0**-5)
    estimator = find_estimator("plan")
    design = estimator.plan(n=400, columns=columns, rho=Fraction(10), error_norm=2.0)

    def run(rows: object, door: RecordingDoor) -> None:
        estimator.run(rows_of(rows), design, door)

    opposite = furthest(moved(run, table, other))
    assert opposite["center"] == 1
    assert NEAR < opposite["sum"] <= 1
    # Squares forget the sign; their worst pair is two rows at a right angle.
    table[0], other[0] = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    right_angle = furthest(moved(run, table, other))
    assert Fraction(8, 10) < right_angle["spread"] <= 1  # the released centres are not quite zero
    # And counts by norm change when a row comes in from far out.
    table[0], other[0] = 0.0, 1.0
    inward = furthest(moved(run, table, other))
    assert inward["spread bound"] == inward["radius"] == 1


@pytest.mark.parametrize(("n", "rho"), [(400, 10), (400, Fraction(1, 100)), (30, 1)], ids=["box", "few", "fewer"])
def test_opposite_corners_of_tight_bounds_come_close_too(n: int, rho: Fraction) -> None:
    # 0/1 data fills its bounds, few rows leave nothing but the bounds: other branches of the algorithm, same promise.
    table = np.random.default_rng(5).integers(0, 2, (n, 3)).astype(float)
    other = table.copy()
    table[0], other[0] = 0.0, 1.0
    columns = read_columns(labels=range(3), bounds=(0, 1), smallest_spread=2.0**-5)
    estimator = find_estimator("plan")
    design = estimator.plan(n=n, columns=columns, rho=Fraction(rho), error_norm=2.0)

    def run(rows: object, door: RecordingDoor) -> None:
        estimator.run(rows_of(rows), design, door)

    found = furthest(moved(run, table, other))
    assert max(found.values()) <= 1
    assert found["sum"] > NEAR


@pytest.mark.parametrize("row", range(0, 6000, 1200))
def test_a_public_sample_keeps_the_sensitivity(row: int) -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(0, 0.1, (6000, 2))
    columns = read_columns(labels=range(2), bounds=(-1, 1), smallest_spread=2.0**-5)
    estimator = find_estimator("plan")
    design = estimator.plan(n=6000, columns=columns, rho=Fraction(50), error_norm=2.0)
    assert design.sample_size < 6000

    def run(rows: object, door: RecordingDoor) -> None:
        estimator.run(rows_of(rows), design, door)

    other = table.copy()
    table[row], other[row] = -1.0, 1.0
    found = furthest(moved(run, table, other))
    assert max(found.values()) <= 1
    assert found["center"] in (0, 1)  # in the sample once, or not at all


# --- the integer arithmetic behind the bound


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    octaves_below=st.integers(0, 60),
    octaves_above=st.integers(0, 60),
    d=st.sampled_from([1, 3, 1000, 10**6, 2**40]),
    points=st.sampled_from([2**4, 2**20, 2**30]),
    place=st.floats(0, 1),
    rho=st.sampled_from([Fraction(1, 10**7), Fraction(1), Fraction(1000)]),
)
def test_no_weight_lets_a_cell_exceed_the_radius(
    octaves_below: int, octaves_above: int, d: int, points: int, place: float, rho: Fraction
) -> None:
    cells = NormCells.around(1.0, lowest=2.0**-octaves_below, highest=2.0**octaves_above, d=d, points=points)
    radius_cell = round(place * (len(cells.edges) - 1))
    found, longest = cell_weights(cells, radius_cell, finer_bits(cells, radius_cell, rho))
    assert 2 * longest**2 < 2**96 * rho or int(cells.bounds.max()) ** 2 * 2**15 > 2**96 * rho
    weights, bounds = found.tolist(), cells.bounds.tolist()  # in Python integers, where nothing can wrap
    assert all(0 <= weight * bound <= longest for weight, bound in zip(weights, bounds, strict=True))
    assert max(bounds) ** 2 < 2**61  # Σq² of a row never wraps
    # Rows up to the radius keep their length exactly: their weight is the power of two of their lattice.
    octave, h = cells.octave.tolist(), radius_cell
    unit = weights[h].bit_length() - 1
    assert weights[h] == 1 << unit
    for g in range(h):
        shift = unit + octave[g] - octave[h]
        assert weights[g] == (1 << shift if shift >= 0 else 0)
    # Rows above it are cut to at least 63/64 of what the bound allows.
    assert all(64 * weights[g] * bounds[g] >= 63 * longest for g in range(h + 1, len(bounds)))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    rows=st.lists(st.lists(st.floats(-1, 1), min_size=5, max_size=5), min_size=1, max_size=6),
    points=st.sampled_from([2**4, 2**20, 2**30]),
)
def test_the_integer_check_never_drops_an_ordinary_row(rows: list, points: int) -> None:
    cells = NormCells.around(0.5, lowest=0.01, highest=2.0, d=5, points=points)
    table = np.array(rows)
    with np.errstate(all="ignore"):  # as in the fold
        cell, vectors = CellSums(view=signed_view(5), cells=cells, squared=False, wide=False).lattice_vectors(table)
        norms = np.sqrt((table**2).sum(axis=1))
    back = vectors * (cells.step * 2.0 ** cells.octave[cell])[:, None]
    shortened = table * np.minimum(1.0, cells.edges[-1] / np.maximum(norms, 1e-300))[:, None]
    half_step = 0.5 * cells.step * 2.0 ** cells.octave[cell]
    assert (np.abs(back - shortened) <= half_step[:, None] * (1 + 1e-6)).all()


def test_the_longest_lattice_vectors_stay_within_int64() -> None:
    # d = 300,000 equal entries at the longest norm: Σq² is as large as it gets.
    d = 300_000
    cells = NormCells.around(1.0, lowest=0.9, highest=1.0, d=d, points=2**30)
    row = np.full((1, d), 1.0 / np.sqrt(d))
    for scale in (1.0, 1.0 - 1e-12, 100.0):
        function = CellSums(view=signed_view(d), cells=cells, squared=False, wide=False)
        cell, vectors = function.lattice_vectors(row * scale)
        exact = sum(int(value) ** 2 for value in vectors[0].tolist())
        assert 0 < exact <= int(cells.bounds[cell[0]]) ** 2
        integers = vectors.astype(np.int64)
        assert exact == int(np.einsum("ij,ij->i", integers, integers)[0])
